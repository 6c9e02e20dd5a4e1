//! What a pod needs of a node that no label tells: CSI drivers that must run there (`preventPodSchedulingIfMissing`).
//!
//! A driver comes to a node some time after the node has, by a daemon. So a node of which there is no Node yet, and one that has
//! not initialised or is younger than [`STARTING`], counts as having it: the pods that wait for it need no other.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::volumes;
use crate::model::{Pod, Volumes};
use crate::snapshot::{Snapshot, StateNode};
use crate::time::Span;

/// Time that drivers have to come to a node.
const STARTING: Span = Span::from_secs(300);

/// Needs of a pod beside room, labels and taints.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeNeeds {
    /// CSI drivers that must run on its node.
    drivers: BTreeSet<Arc<str>>,
}

impl NodeNeeds {
    /// Needs of a pod.
    pub(crate) fn of(pod: &Pod, volumes: &Volumes) -> Self {
        let must_run = |driver: &Arc<str>| volumes.drivers.get(driver).is_some_and(|own| own.must_run);
        if pod.spec.volumes.is_empty() || !volumes.drivers.values().any(|own| own.must_run) {
            return Self::default();
        }
        let drivers = volumes::attached(pod, volumes).into_keys();
        Self {
            drivers: drivers.filter(must_run).collect(),
        }
    }

    /// `true` if a node has all of it.
    pub(crate) fn are_met_by(&self, node: &StateNode, snapshot: &Snapshot) -> bool {
        let Some(seen) = node.node.as_ref().filter(|_| !self.drivers.is_empty()) else {
            return true;
        };
        let is_starting = !node.is_initialized() || snapshot.now.since(seen.created) < STARTING;
        let own = snapshot.volumes.nodes.get(&seen.name);
        let has = |driver: &Arc<str>| own.is_some_and(|own| own.has(driver));
        is_starting || self.drivers.iter().all(has)
    }
}
