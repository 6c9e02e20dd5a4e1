//! Shares of pools' limits that nodes free when they go.

use std::collections::BTreeMap;

use plimsoll_model::snapshot::Snapshot;

use crate::offers::templates::Template;

/// Shares of limits that nodes free when they go: template and amounts by limited resource, by row of the node.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreedLimits(BTreeMap<usize, (usize, Vec<i64>)>);

impl FreedLimits {
    /// Shares of these nodes, which the templates' limits have from now on: what can be bought once all of them are gone.
    pub(crate) fn take(snapshot: &Snapshot, nodes: &[usize], templates: &mut [Template]) -> Self {
        let mut shares = BTreeMap::new();
        for row in nodes {
            let node = &snapshot.nodes[*row];
            let Some(pool) = node.pool().filter(|_| !node.is_deleting()) else {
                continue;
            };
            let mut own = templates.iter_mut().enumerate();
            let Some((number, template)) = own.find(|(_, own)| own.pool.name == pool) else {
                continue;
            };
            if let Some(left) = &mut template.remaining {
                let capacity = node.capacity();
                let share = left.iter().map(|(name, _)| capacity.get(name)).collect();
                *left = left.map(|name, left| left.saturating_add(capacity.get(name)));
                shares.insert(*row, (number, share));
            }
        }
        Self(shares)
    }

    /// Template and amounts of every node that may be removed.
    pub(crate) fn shares(&self) -> impl Iterator<Item = &(usize, Vec<i64>)> {
        self.0.values()
    }

    /// Template and amounts of one node; `None` where it takes none of any limit.
    pub(crate) fn of(&self, node: usize) -> Option<&(usize, Vec<i64>)> {
        self.0.get(&node)
    }
}
