//! Room that budgets leave for one move: a move of more nodes of a NodePool than may go now is not made at once.

use std::collections::BTreeMap;

use plimsoll_base::ids::PoolName;

/// Nodes of one NodePool that may go at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolRoom {
    /// How many.
    pub left: u32,
    /// `true` if moves are looked for within the room, or in stages. Under Karpenter's rules a replacement of too many nodes is found, and
    /// waits.
    pub limits_search: bool,
}

/// Nodes that may be removed at once, by NodePool; any number of those that it does not know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetRoom {
    /// The place of its pool in `pools`, by row in the snapshot.
    pool_of: BTreeMap<usize, usize>,
    pools: Vec<PoolRoom>,
}

impl BudgetRoom {
    /// The room for candidates, each with its row in the snapshot, its NodePool, and that pool's room.
    pub fn of<'p>(candidates: impl IntoIterator<Item = (usize, &'p PoolName, PoolRoom)>) -> Self {
        let mut result = Self::default();
        let mut places: BTreeMap<&PoolName, usize> = BTreeMap::new();
        for (row, pool, room) in candidates {
            let place = *places.entry(pool).or_insert_with(|| {
                result.pools.push(room);
                result.pools.len() - 1
            });
            result.pool_of.insert(row, place);
        }
        result
    }

    /// The room for replacements that are made at once.
    pub(super) fn at_once(&self) -> Self {
        self.without_limit(|pool| !pool.limits_search)
    }

    /// The room for replacements that are made in stages: any number of nodes of pools that let some go now; `None` where it equals the room
    /// for those that are made at once.
    pub(super) fn in_stages(&self) -> Option<Self> {
        let result = self.without_limit(|pool| !pool.limits_search || pool.left > 0);
        (result != self.at_once()).then_some(result)
    }

    fn without_limit(&self, of: impl Fn(&PoolRoom) -> bool) -> Self {
        let mut result = self.clone();
        for pool in result.pools.iter_mut().filter(|pool| of(pool)) {
            pool.left = u32::MAX;
        }
        result
    }

    /// `true` if one more node of a node's pool may go.
    pub(super) fn admits(&self, row: usize) -> bool {
        self.pool_of
            .get(&row)
            .is_none_or(|place| self.pools[*place].left > 0)
    }

    /// Counts a node, if it may go; whether it may.
    pub(super) fn take(&mut self, row: usize) -> bool {
        let admits = self.admits(row);
        if let Some(place) = self.pool_of.get(&row) {
            let left = &mut self.pools[*place].left;
            *left = left.saturating_sub(1);
        }
        admits
    }
}
