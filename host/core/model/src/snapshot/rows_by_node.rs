//! Nodes found by name, for the many look-ups of one decision.

use plimsoll_base::fixed_hash::hash_of;

use super::StateNode;

/// Rows of nodes by the name of their Node object. Names are not copied: their hashes are sorted, and a name is compared
/// where its hash is met.
#[derive(Clone, Debug)]
pub struct RowsByNode<'s> {
    nodes: &'s [StateNode],
    /// Hash of a name and row of its node, ascending.
    rows: Vec<(u64, usize)>,
}

impl<'s> RowsByNode<'s> {
    pub(super) fn of(nodes: &'s [StateNode]) -> Self {
        let named = |(row, node): (usize, &StateNode)| {
            let name = node.node.as_ref()?.name.as_str();
            Some((hash_of(name), row))
        };
        let mut rows: Vec<(u64, usize)> = nodes.iter().enumerate().filter_map(named).collect();
        rows.sort_unstable();
        Self { nodes, rows }
    }

    /// Row of the node of this name; of several the last.
    pub fn get(&self, name: &str) -> Option<usize> {
        let hash = hash_of(name);
        let first = self.rows.partition_point(|(other, _)| *other < hash);
        let rows = self.rows[first..].iter();
        let same = rows.take_while(|(other, _)| *other == hash);
        let is_named = |row: &usize| {
            let node = self.nodes[*row].node.as_ref();
            node.is_some_and(|node| node.name.as_str() == name)
        };
        same.map(|(_, row)| *row).filter(is_named).last()
    }
}
