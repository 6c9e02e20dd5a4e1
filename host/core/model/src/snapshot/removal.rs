//! The assumption of a simulation: nodes that are taken to be gone, and nodes that take no pods.
//!
//! The snapshot stays as it is. A decision that reads its nodes asks here whether one stays: a node that leaves counts
//! like one that is deleting. Its pods look for another place; limits are reckoned without it.

use super::StateNode;

/// Nodes of a snapshot that are taken to be gone, and nodes that take no pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeRemoval {
    /// Rows, ascending.
    leaving: Vec<usize>,
    /// Rows, ascending.
    closed: Vec<usize>,
}

impl NodeRemoval {
    /// The snapshot as it is: no node leaves, each takes what it can.
    pub fn none() -> Self {
        Self::default()
    }

    /// The nodes at `leaving` go, and pods are put on none of those at `closed`.
    pub fn of(
        leaving: impl IntoIterator<Item = usize>,
        closed: impl IntoIterator<Item = usize>,
    ) -> Self {
        Self {
            leaving: ascending(leaving),
            closed: ascending(closed),
        }
    }

    /// Rows of the nodes that are taken to be gone, ascending.
    pub fn leaving(&self) -> &[usize] {
        &self.leaving
    }

    /// Rows of the nodes that take no pods, ascending.
    pub fn closed(&self) -> &[usize] {
        &self.closed
    }

    /// `true` if a node, given with its row, stays: it is not deleting, nor taken to be gone.
    pub fn stays(&self, row: usize, node: &StateNode) -> bool {
        !node.is_deleting() && self.leaving.binary_search(&row).is_err()
    }

    /// `true` if pods may be put on a node: it stays, and is not closed to them.
    pub fn opens(&self, row: usize, node: &StateNode) -> bool {
        self.stays(row, node) && self.closed.binary_search(&row).is_err()
    }
}

fn ascending(rows: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut rows: Vec<usize> = rows.into_iter().collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}
