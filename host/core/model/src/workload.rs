//! Objects behind pods: daemon sets, replicated workloads, services, namespaces, disruption budgets.

use std::sync::Arc;

use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_base::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::buffer::PodShape;
use super::pod::{Pod, PodSpec};
use super::selector::LabelSelector;

/// A DaemonSet, with the pod it would put on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DaemonSet {
    /// Namespace and name.
    pub name: ObjectName,
    /// Uid of the object.
    pub uid: Uid,
    /// Requests and constraints of its pods: read from its newest live pod where there is one, since admission may have changed it, with
    /// the template's own required node affinity.
    pub pod: Arc<PodSpec>,
    /// Labels of its pods.
    pub labels: Arc<Labels>,
    /// When it was created.
    pub created: Timestamp,
}

/// Kinds of workload that keep replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WorkloadKind {
    /// `apps/v1 Deployment`.
    Deployment,
    /// `apps/v1 ReplicaSet`.
    ReplicaSet,
    /// `v1 ReplicationController`.
    ReplicationController,
    /// `apps/v1 StatefulSet`.
    StatefulSet,
}

/// A workload that keeps replicas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replicated {
    /// Kind of the workload.
    pub kind: WorkloadKind,
    /// Namespace and name.
    pub name: ObjectName,
    /// Uid of the object.
    pub uid: Uid,
    /// The pods it owns.
    pub selector: LabelSelector,
    /// How many it wants.
    pub replicas: u32,
    /// Labels and needs of its pods; `None` where its template does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<PodShape>,
}

/// A Service, whose selector tells which pods belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Namespace and name.
    pub name: ObjectName,
    /// Its selector; `None` selects nothing.
    pub selector: Option<Labels>,
}

/// A Namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    /// Name of the Namespace.
    pub name: Arc<str>,
    /// Labels of the Namespace.
    pub labels: Labels,
}

/// Limit of a PodDisruptionBudget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DisruptionLimit {
    /// At most this many pods down at once.
    MaxUnavailable(u32),
    /// At most this share of pods down at once, in percent.
    MaxUnavailablePercent(u32),
    /// At least this many pods up.
    MinAvailable(u32),
    /// At least this share of pods up, in percent.
    MinAvailablePercent(u32),
    /// Neither is written. Its controller then wants no pod to be up and allows no pod to go.
    Unset,
}

/// A PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodDisruptionBudget {
    /// Namespace and name.
    pub name: ObjectName,
    /// The pods it protects, within its namespace.
    pub selector: LabelSelector,
    /// Limit on pods that are down at once.
    pub limit: DisruptionLimit,
    /// `true` if pods that are not ready may be evicted regardless.
    pub always_allow_unhealthy: bool,
    /// Evictions allowed now, as its controller computed it.
    pub disruptions_allowed: u32,
    /// `true` if as many pods are healthy as it wants, and it wants any, as its controller counted them. Then pods that are not ready
    /// go without being counted.
    #[serde(default)]
    pub is_met: bool,
}

impl PodDisruptionBudget {
    /// `true` if it never allows any eviction: nothing may be unavailable, everything must be available, or it says neither.
    pub fn blocks_all(&self) -> bool {
        matches!(
            self.limit,
            DisruptionLimit::MaxUnavailable(0)
                | DisruptionLimit::MaxUnavailablePercent(0)
                | DisruptionLimit::MinAvailablePercent(100)
                | DisruptionLimit::Unset
        )
    }

    /// `true` if a pod is evicted whatever the budget allows, as the API server has it: one that is not ready, by the policy
    /// `AlwaysAllow`, or by the default one while the budget is met.
    pub fn lets_go(&self, pod: &Pod) -> bool {
        pod.ready == Some(false) && (self.always_allow_unhealthy || self.is_met)
    }
}
