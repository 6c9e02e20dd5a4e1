//! Pods: what they need, where they are, and who owns them.
//!
//! [`PodSpec`] is what pods of one template share; readers intern it, so that thousands of replicas hold one.

use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName, Uid};
use plimsoll_base::labels::{LabelKey, Labels};
use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::selector::LabelSelector;
use super::spread::SpreadConstraint;
use super::taint::Toleration;

/// One pod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pod {
    /// The object's uid.
    pub uid: Uid,
    /// Namespace and name.
    pub name: ObjectName,
    /// When it was created.
    pub created: Timestamp,
    /// Its labels; shared between pods that carry the same.
    pub labels: Arc<Labels>,
    /// Requests and constraints; shared between pods of one template.
    pub spec: Arc<PodSpec>,
    /// Its controller, if it has one.
    pub owner: Option<Owner>,
    /// The node it is bound to.
    pub node: Option<NodeName>,
    /// The node promised to it in `status.nominatedNodeName`.
    pub nominated: Option<NodeName>,
    /// Where it is in its life.
    pub phase: PodPhase,
    /// `true` if the scheduler has marked it unschedulable.
    pub unschedulable: bool,
    /// `true` if the scheduler has said nothing of it yet: it waits for its first attempt, and no gate holds it back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untried: bool,
    /// The scheduler's reason for marking it unschedulable, as its condition `PodScheduled` says; `None` where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler_message: Option<Arc<str>>,
    /// Its `Ready` condition; `None` when it has none.
    pub ready: Option<bool>,
    /// When it was asked to go.
    pub deleting: Option<Timestamp>,
    /// How long it has to end once it is asked to go; `None` for the 30 seconds that Kubernetes gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<Span>,
    /// When it started to run.
    pub started: Option<Timestamp>,
    /// The pod's wish not to be disrupted, and for how long.
    pub do_not_disrupt: DoNotDisrupt,
    /// `controller.kubernetes.io/pod-deletion-cost`; 0 when absent.
    pub deletion_cost: i32,
}

/// Time to end of a pod that names none, as the API server fills it in.
const DEFAULT_GRACE: Span = Span::from_secs(30);

/// Phase of a pod's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PodPhase {
    /// Not running yet.
    Pending,
    /// At least one container runs.
    Running,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
    /// The kubelet does not answer.
    Unknown,
}

/// The annotation `karpenter.sh/do-not-disrupt`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DoNotDisrupt {
    /// Not asked for.
    No,
    /// For as long as it lives.
    Always,
    /// For this long after its start.
    For(Span),
    /// A value that means nothing; counts as not asked for and is reported.
    Malformed(Arc<str>),
}

/// The object that controls a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// Kind of the owner.
    pub kind: OwnerKind,
    /// Its name, in the pod's namespace.
    pub name: Arc<str>,
    /// Uid of the owner.
    pub uid: Uid,
}

/// Kinds of owner that matter to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OwnerKind {
    /// `apps/v1 ReplicaSet`.
    ReplicaSet,
    /// `v1 ReplicationController`.
    ReplicationController,
    /// `apps/v1 StatefulSet`.
    StatefulSet,
    /// `apps/v1 DaemonSet`.
    DaemonSet,
    /// `batch/v1 Job`.
    Job,
    /// `v1 Node`: a mirror of a static pod.
    Node,
    /// Any other.
    Other,
    /// A CapacityBuffer: the pod exists nowhere, it stands for room that is kept.
    CapacityBuffer,
}

/// Requests and constraints that pods of one template share.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PodSpec {
    /// Effective requests: containers, init steps, sidecars and overhead, plus `pods: 1`.
    pub requests: Resources,
    /// `spec.nodeSelector`, as requirements.
    pub node_selector: Requirements,
    /// Required node affinity: alternatives, of which one must hold. Empty when there is none.
    pub node_required: Vec<NodeTerm>,
    /// Preferred node affinity, in the order written.
    pub node_preferred: Vec<Preferred<NodeTerm>>,
    /// Tolerations of taints.
    pub tolerations: Vec<Toleration>,
    /// Topology spread constraints, in the order written.
    pub spread: Vec<SpreadConstraint>,
    /// Required pod affinity.
    pub affinity: Vec<AffinityTerm>,
    /// Preferred pod affinity.
    pub affinity_preferred: Vec<Preferred<AffinityTerm>>,
    /// Required pod anti-affinity.
    pub anti_affinity: Vec<AffinityTerm>,
    /// Preferred pod anti-affinity.
    pub anti_affinity_preferred: Vec<Preferred<AffinityTerm>>,
    /// Ports it takes on its host.
    pub host_ports: Vec<HostPort>,
    /// `true` if it is on its host's network, and so takes no address of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_network: bool,
    /// Volumes that resolve to a claim.
    pub volumes: Vec<PodVolume>,
    /// Features of the kubelet that its node must declare, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Arc<str>>,
    /// `true` if it asks for devices through dynamic resource allocation.
    pub dynamic_resources: bool,
    /// `spec.priority`; 0 when absent.
    pub priority: i32,
    /// The part of the object that could not be understood, in words for its owner; such a pod is never planned.
    pub problem: Option<Arc<str>>,
}

/// One alternative of a node affinity: all of its requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeTerm {
    /// The requirements.
    pub requirements: Requirements,
}

/// Something wished for, with the weight of the wish.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Preferred<T> {
    /// 1 to 100; heavier wishes are given up first.
    pub weight: u32,
    /// The term that is preferred.
    pub term: T,
}

/// One term of pod affinity or anti-affinity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AffinityTerm {
    /// The node label whose values are the domains.
    pub topology_key: LabelKey,
    /// The pods meant; values of `matchLabelKeys` and `mismatchLabelKeys` are merged per pod.
    pub selector: LabelSelector,
    /// The namespaces meant.
    pub namespaces: NamespaceScope,
    /// Label keys whose values on the pod itself narrow the selector.
    pub match_label_keys: Vec<Arc<str>>,
    /// Label keys whose values on the pod itself are excluded.
    pub mismatch_label_keys: Vec<Arc<str>>,
}

/// Namespaces that an affinity term speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NamespaceScope {
    /// The pod's own.
    Own,
    /// Those listed, and those whose labels the selector matches.
    Named {
        /// Namespaces by name, sorted.
        names: Vec<Arc<str>>,
        /// Namespaces by label; [`LabelSelector::Nothing`] when absent.
        selector: LabelSelector,
    },
}

/// Transport protocol of a host port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
}

/// A port that a pod takes on its host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostPort {
    /// The address; `0.0.0.0` means every address, those of IPv6 too, and `::` one like any other.
    pub address: Arc<str>,
    /// The port, 1 to 65,535.
    pub port: u16,
    /// The protocol.
    pub protocol: Protocol,
}

impl HostPort {
    /// `true` if two pods on one host cannot both have these, by the scheduler's rule: text decides what is the same address.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let every = |address: &str| address == "0.0.0.0";
        self.port == other.port
            && self.protocol == other.protocol
            && (self.address == other.address || every(&self.address) || every(&other.address))
    }
}

/// A volume of a pod that a persistent volume claim stands behind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PodVolume {
    /// A claim named in the pod.
    Claim(Arc<str>),
    /// A claim made for the pod, called `<pod>-<volume>`.
    Ephemeral(Arc<str>),
}

impl PodVolume {
    /// Name of the claim, for a pod of the name given.
    pub fn claim_name(&self, pod: &str) -> Arc<str> {
        match self {
            Self::Claim(name) => Arc::clone(name),
            Self::Ephemeral(volume) => Arc::from(format!("{pod}-{volume}")),
        }
    }
}

impl PodSpec {
    /// Addresses that one pod takes of a subnet.
    pub fn addresses(&self) -> i64 {
        i64::from(!self.host_network)
    }
}

impl Pod {
    /// A pod that nothing has happened to yet: pending, marked unschedulable, without labels, requests, owner or node.
    pub fn pending(uid: Uid, name: ObjectName, created: Timestamp) -> Self {
        Self {
            uid,
            name,
            created,
            labels: Arc::default(),
            spec: Arc::default(),
            owner: None,
            node: None,
            nominated: None,
            phase: PodPhase::Pending,
            unschedulable: true,
            untried: false,
            scheduler_message: None,
            ready: None,
            deleting: None,
            grace: None,
            started: None,
            do_not_disrupt: DoNotDisrupt::No,
            deletion_cost: 0,
        }
    }

    /// `true` if it has ended.
    pub fn is_terminal(&self) -> bool {
        matches!(self.phase, PodPhase::Succeeded | PodPhase::Failed)
    }

    /// `true` if it runs or will run: neither ended nor asked to go.
    pub fn is_active(&self) -> bool {
        !self.is_terminal() && self.deleting.is_none()
    }

    /// How long it has to end once it is asked to go.
    pub fn termination_grace(&self) -> Span {
        self.grace.unwrap_or(DEFAULT_GRACE)
    }

    /// `true` if it asks to be left alone now. One that has ended or was asked to go never does; one that has not started
    /// is protected whatever the span it names.
    pub fn is_protected(&self, now: Timestamp) -> bool {
        self.is_active()
            && match &self.do_not_disrupt {
                DoNotDisrupt::No | DoNotDisrupt::Malformed(_) => false,
                DoNotDisrupt::Always => true,
                DoNotDisrupt::For(_) => self.protected_until().is_none_or(|until| now < until),
            }
    }

    /// When the time for which it asks to be left alone is over, where it names one and has started.
    pub fn protected_until(&self) -> Option<Timestamp> {
        match &self.do_not_disrupt {
            DoNotDisrupt::For(span) => self.started.map(|started| started + *span),
            _ => None,
        }
    }

    /// `true` if it stands for room kept by a capacity buffer, and exists nowhere.
    pub fn is_spare(&self) -> bool {
        self.is_owned_by(OwnerKind::CapacityBuffer)
    }

    /// `true` if its controller is of this kind.
    pub fn is_owned_by(&self, kind: OwnerKind) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.kind == kind)
    }
}
