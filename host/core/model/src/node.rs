//! Nodes as the API server shows them.

use std::sync::Arc;

use plimsoll_base::ids::{NodeName, PoolName, ProviderId, Uid};
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::node_condition::NodeConditions;
use super::taint::Taint;

/// A node's `Ready` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Readiness {
    /// `True`.
    Ready,
    /// `False`.
    NotReady,
    /// `Unknown`, or no condition at all.
    Unknown,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Name of the Node, unique in the cluster.
    pub name: NodeName,
    /// Uid of the Node.
    #[serde(default)]
    pub uid: Uid,
    /// The instance behind it.
    pub provider_id: Option<ProviderId>,
    /// Labels of the Node.
    pub labels: Labels,
    /// Its annotations, as far as decisions read them.
    pub annotations: Labels,
    /// Its taints. A cordon acts through its taint; `spec.unschedulable` is not read.
    pub taints: Vec<Taint>,
    /// All it has.
    pub capacity: Resources,
    /// Resources for pods and daemons.
    pub allocatable: Resources,
    /// Features that its kubelet declares, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Arc<str>>,
    /// Its health, in the words of its kubelet and of what else watches it.
    #[serde(default)]
    pub conditions: NodeConditions,
    /// When it was created.
    pub created: Timestamp,
    /// When it was asked to go.
    pub deleting: Option<Timestamp>,
    /// `true` if it carries our finalizer: it does not go without us.
    #[serde(default)]
    pub held: bool,
}

impl Node {
    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&Arc<str>> {
        self.labels.get(key)
    }

    /// Its readiness as its kubelet reports it; `Unknown` where nothing is said of it.
    pub fn readiness(&self) -> Readiness {
        self.conditions.readiness()
    }

    /// `true` if decisions cannot tell the two apart: they differ at most in conditions, and not in whether the node is ready.
    pub fn is_alike(&self, other: &Self) -> bool {
        let silent = |node: &Self| Self {
            conditions: NodeConditions::of(node.readiness(), node.created),
            ..node.clone()
        };
        self == other || (self.conditions != other.conditions && silent(self) == silent(other))
    }

    /// The pool it belongs to, by its label.
    pub fn pool(&self) -> Option<PoolName> {
        self.label(labels::NODEPOOL)
            .map(|name| PoolName::from(Arc::clone(name)))
    }

    /// Host name: its label, else its name.
    pub fn hostname(&self) -> &str {
        self.label(labels::HOSTNAME)
            .map_or(self.name.as_str(), AsRef::as_ref)
    }
}
