//! Features that a kubelet declares: a node has those that pods on it need, and one to buy is like the last that its pool got.

use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Node, Pod};

/// The first feature that a pod needs and a node there is does not declare.
pub(super) fn missing<'p>(node: &Node, pod: &'p Pod) -> Option<&'p Arc<str>> {
    let mut needed = pod.spec.features.iter();
    needed.find(|feature| !node.features.contains(feature))
}

/// The same for new nodes of a pool, by the youngest of its nodes that has come up; nothing is missing where there is none.
pub(super) fn missing_in_pool<'p>(
    snapshot: &Snapshot,
    pool: &PoolName,
    pod: &'p Pod,
) -> Option<&'p Arc<str>> {
    let mut youngest: Option<&Arc<Node>> = None;
    for row in &snapshot.nodes {
        let is_own = row.claim.as_ref().is_some_and(|claim| claim.pool == *pool);
        if let Some(node) = row.node.as_ref().filter(|_| is_own && row.is_initialized())
            && youngest
                .is_none_or(|so_far| (so_far.created, &so_far.name) < (node.created, &node.name))
        {
            youngest = Some(node);
        }
    }
    missing(youngest?, pod)
}
