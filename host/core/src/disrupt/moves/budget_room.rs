//! Room that budgets leave for one move: a move of more nodes of a NodePool than may go now is never made, so none is looked for.

use std::collections::BTreeMap;

use crate::ids::PoolName;

/// Nodes that may go at once, by NodePool; any number of those that it does not know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetRoom {
    /// The place of its pool in `left`, by row in the snapshot.
    pool_of: BTreeMap<usize, usize>,
    left: Vec<u32>,
}

impl BudgetRoom {
    /// The room for candidates, each with its row in the snapshot, its NodePool, and the nodes of that pool that may go.
    pub fn of<'p>(candidates: impl IntoIterator<Item = (usize, &'p PoolName, u32)>) -> Self {
        let mut result = Self::default();
        let mut places: BTreeMap<&PoolName, usize> = BTreeMap::new();
        for (row, pool, left) in candidates {
            let place = *places.entry(pool).or_insert_with(|| {
                result.left.push(left);
                result.left.len() - 1
            });
            result.pool_of.insert(row, place);
        }
        result
    }

    /// `true` if one more node of a node's pool may go.
    pub(super) fn admits(&self, row: usize) -> bool {
        self.pool_of
            .get(&row)
            .is_none_or(|place| self.left[*place] > 0)
    }

    /// Counts a node, if it may go; whether it may.
    pub(super) fn take(&mut self, row: usize) -> bool {
        let admits = self.admits(row);
        if let Some(place) = self.pool_of.get(&row) {
            self.left[*place] = self.left[*place].saturating_sub(1);
        }
        admits
    }
}
