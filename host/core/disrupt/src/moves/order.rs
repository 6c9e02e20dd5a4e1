//! The order in which nodes are offered to pods that move: the fullest first, so that pods gather on nodes that stay anyway.

use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::snapshot::Snapshot;

/// A snapshot whose nodes stand in another order.
pub(super) struct Reordered {
    /// The snapshot; pods have the rows they had.
    pub(super) snapshot: Snapshot,
    /// By place: the row that the node had.
    pub(super) row_of: Vec<usize>,
    /// By row: its place now.
    pub(super) place_of: Vec<usize>,
}

/// Nodes that have initialised first, then by the mean share of cpu and memory that pods ask for, in permille.
pub(super) fn fullest_first(snapshot: &Snapshot) -> Reordered {
    let bound = snapshot.pods_by_node();
    let key = |row: &usize| {
        let node = &snapshot.nodes[*row];
        let mut used = Resources::new();
        let pods = bound[*row].iter().map(|pod| &snapshot.pods[*pod]);
        for pod in pods.filter(|pod| !pod.is_terminal()) {
            used.add(&pod.spec.requests);
        }
        let allocatable = node.allocatable();
        let share = |name: &ResourceName| {
            let most = i128::from(allocatable.get(name).max(1));
            i128::from(used.get(name)) * 1000 / most
        };
        let both = share(&ResourceName::Cpu) + share(&ResourceName::Memory);
        (!node.is_initialized(), std::cmp::Reverse(both), *row)
    };
    let mut row_of: Vec<usize> = (0..snapshot.nodes.len()).collect();
    row_of.sort_by_cached_key(key);
    let mut place_of = vec![0; row_of.len()];
    for (place, row) in row_of.iter().enumerate() {
        place_of[*row] = place;
    }
    let nodes = row_of.iter().map(|row| snapshot.nodes[*row].clone());
    let snapshot = Snapshot {
        nodes: nodes.collect(),
        ..snapshot.clone()
    };
    Reordered {
        snapshot,
        row_of,
        place_of,
    }
}
