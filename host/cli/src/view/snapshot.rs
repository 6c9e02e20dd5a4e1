//! The contents of a snapshot file as a document: objects counted by kind.

use plimsoll_snapshot::Loaded;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Document, Instant, instant};

/// Output of `plimsoll snapshot show`: numbers of objects in a file.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SnapshotSummary {
    /// The instant at which decisions are made.
    pub(crate) time: Instant,
    /// NodePools.
    pub(crate) node_pools: usize,
    /// Nodes.
    pub(crate) nodes: usize,
    /// NodeClaims whose node does not exist yet.
    pub(crate) node_claims_without_node: usize,
    /// Pods.
    pub(crate) pods: usize,
    /// Those of them that are bound to a node.
    pub(crate) bound_pods: usize,
    /// Those of them that the scheduler found no node for.
    pub(crate) unschedulable_pods: usize,
    /// DaemonSets.
    pub(crate) daemon_sets: usize,
    /// Instance types of the catalogue.
    pub(crate) instance_types: usize,
    /// Recorded changes after the snapshot.
    pub(crate) recorded_changes: usize,
}

impl Document for SnapshotSummary {}

impl SnapshotSummary {
    /// The contents of a file.
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let snapshot = &loaded.snapshot;
        let (nodes, pods) = (snapshot.nodes.iter(), snapshot.pods.iter());
        let nodes = nodes.filter(|row| row.node.is_some()).count();
        let unbound = pods.clone().filter(|pod| pod.node.is_none());
        let unschedulable = unbound.clone().filter(|pod| pod.unschedulable);
        Self {
            time: instant(snapshot.now),
            node_pools: snapshot.pools.len(),
            nodes,
            node_claims_without_node: snapshot.nodes.len() - nodes,
            pods: snapshot.pods.len(),
            bound_pods: snapshot.pods.len() - unbound.count(),
            unschedulable_pods: unschedulable.count(),
            daemon_sets: snapshot.daemon_sets.len(),
            instance_types: snapshot.catalogues.of_others().types().len(),
            recorded_changes: loaded.changes.len(),
        }
    }
}
