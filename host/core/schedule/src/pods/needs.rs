//! Needs of a pod that no label of a node tells: CSI drivers that must run there (`preventPodSchedulingIfMissing`), and features
//! that its kubelet declares.
//!
//! A new node declares what the youngest complete node of its pool does; one of a pool that has none is taken to declare
//! everything.
//!
//! A driver comes to a node some time after the node has, by a daemon. So a node of which there is no Node yet, and one that has
//! not initialised or is younger than [`STARTING`], counts as having it: the pods that wait for it need no other.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Span;
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{Node, Pod, Volumes};

use super::volumes;

/// Time that drivers have to come to a node.
const STARTING: Span = Span::from_secs(300);

/// Features that the next node of a pool is taken to declare: those of its youngest complete node, else whatever pods need.
pub fn features_of_new(pool: &PoolName, snapshot: &Snapshot) -> Vec<Arc<str>> {
    if let Some(youngest) = youngest_of(pool, snapshot) {
        return youngest.features.clone();
    }
    let pods = snapshot.pods.iter();
    let needed: BTreeSet<Arc<str>> = pods
        .flat_map(|pod| pod.spec.features.iter().cloned())
        .collect();
    needed.into_iter().collect()
}

/// The youngest complete node of a pool.
fn youngest_of<'s>(pool: &PoolName, snapshot: &'s Snapshot) -> Option<&'s Arc<Node>> {
    let of_pool = snapshot.nodes.iter().filter(|node| {
        node.is_managed() && node.is_initialized() && node.pool().as_ref() == Some(pool)
    });
    let seen = of_pool.filter_map(|node| node.node.as_ref());
    seen.max_by_key(|node| (node.created, &node.name))
}

/// Needs of a pod beside room, labels and taints.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeNeeds {
    /// CSI drivers that must run on its node.
    drivers: BTreeSet<Arc<str>>,
    /// Features that its node must declare.
    features: Vec<Arc<str>>,
}

impl NodeNeeds {
    /// Needs of a pod.
    pub(crate) fn of(pod: &Pod, volumes: &Volumes) -> Self {
        let must_run =
            |driver: &Arc<str>| volumes.drivers.get(driver).is_some_and(|own| own.must_run);
        let mut result = Self {
            drivers: BTreeSet::new(),
            features: pod.spec.features.clone(),
        };
        if !pod.spec.volumes.is_empty() && volumes.drivers.values().any(|own| own.must_run) {
            let drivers = volumes::attached(pod, volumes).into_keys();
            result.drivers = drivers.filter(must_run).collect();
        }
        result
    }

    /// `true` if a node there is, or one on its way, has all of it.
    pub(crate) fn are_met_by(&self, node: &StateNode, snapshot: &Snapshot) -> bool {
        let declares = match &node.node {
            Some(seen) if node.is_initialized() => self.undeclared(&seen.features).is_none(),
            _ => node
                .pool()
                .is_none_or(|pool| self.refused_by(&pool, snapshot).is_none()),
        };
        declares && self.drivers_run_on(node, snapshot)
    }

    fn drivers_run_on(&self, node: &StateNode, snapshot: &Snapshot) -> bool {
        let Some(seen) = node.node.as_ref().filter(|_| !self.drivers.is_empty()) else {
            return true;
        };
        let is_starting = !node.is_initialized() || snapshot.now.since(seen.created) < STARTING;
        let own = snapshot.volumes.nodes.get(&seen.name);
        let has = |driver: &Arc<str>| own.is_some_and(|own| own.has(driver));
        is_starting || self.drivers.iter().all(has)
    }

    /// The first feature that is not among these.
    fn undeclared(&self, declared: &[Arc<str>]) -> Option<&Arc<str>> {
        let is_missing = |feature: &&Arc<str>| !declared.contains(*feature);
        self.features.iter().find(is_missing)
    }

    /// Why new nodes of a pool do not do, in words.
    pub(crate) fn refused_by(&self, pool: &PoolName, snapshot: &Snapshot) -> Option<String> {
        if self.features.is_empty() {
            return None;
        }
        let youngest = youngest_of(pool, snapshot)?;
        let feature = self.undeclared(&youngest.features)?;
        Some(format!(
            "its youngest node, {}, does not declare the feature {feature}",
            youngest.name
        ))
    }
}
