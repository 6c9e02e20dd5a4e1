//! Objects as they come in, and the version that orders them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{
    CapacityBuffer, DaemonSet, Namespace, Node, NodeClaim, NodeOverlay, NodePool, Pod,
    PodDisruptionBudget, PodTemplate, Replicated, Service, Volumes,
};

/// The API server's resource version: greater is later, over all objects of a kind.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Version(pub u64);

/// One object of any kind that decisions read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Object {
    /// A NodePool.
    Pool(Arc<NodePool>),
    /// A NodeOverlay.
    Overlay(Arc<NodeOverlay>),
    /// A CapacityBuffer.
    Buffer(Arc<CapacityBuffer>),
    /// A PodTemplate.
    Template(Arc<PodTemplate>),
    /// A Node.
    Node(Arc<Node>),
    /// A NodeClaim.
    Claim(Arc<NodeClaim>),
    /// A pod.
    Pod(Arc<Pod>),
    /// A DaemonSet.
    DaemonSet(Arc<DaemonSet>),
    /// A workload that keeps replicas.
    Workload(Arc<Replicated>),
    /// A Service.
    Service(Arc<Service>),
    /// A Namespace.
    Namespace(Arc<Namespace>),
    /// A PodDisruptionBudget.
    DisruptionBudget(Arc<PodDisruptionBudget>),
    /// All volumes, volume claims, classes and limits at once.
    Volumes(Arc<Volumes>),
}

impl Object {
    /// `true` if what capacity buffers ask for may depend on it.
    pub fn is_of_buffers(&self) -> bool {
        matches!(
            self,
            Self::Buffer(_) | Self::Template(_) | Self::Workload(_)
        )
    }
}
