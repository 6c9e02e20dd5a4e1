//! Cost of each pool and the disruption possible in it, and the part of a move that falls to each pool.

use plimsoll_sdk::consolidation::{Move, MoveTable, Node};

/// Disturbance of a node by itself, whatever runs on it.
const OF_A_NODE: f64 = 1.0;

/// Sums over all nodes of each pool, by number of the pool.
#[derive(Default)]
pub(crate) struct Totals {
    pools: Vec<Sum>,
}

/// Dollars per hour and disturbance of some nodes.
#[derive(Clone, Copy, Default)]
struct Sum {
    cost: f64,
    disturbance: f64,
}

impl Sum {
    fn add(&mut self, node: &Node) {
        self.cost += node.price();
        self.disturbance += OF_A_NODE + node.eviction_cost();
    }
}

/// Share of a move that falls to one pool, and the pool as a whole.
pub(crate) struct Part {
    pool: u32,
    saving: f64,
    moved: Sum,
    whole: Sum,
}

impl Part {
    /// Share saved over share disturbed.
    pub(crate) fn score(&self) -> f64 {
        if self.saving <= 0.0 || self.whole.cost <= 0.0 {
            return 0.0;
        }
        let saved = self.saving / self.whole.cost;
        saved / (self.moved.disturbance / self.whole.disturbance)
    }

    /// Dollars per hour of the share of the pool that is disturbed.
    pub(crate) fn charge(&self) -> f64 {
        self.whole.cost * (self.moved.disturbance / self.whole.disturbance)
    }
}

impl Totals {
    pub(crate) fn count(table: &MoveTable) -> Self {
        let mut totals = Self::default();
        table.each_node(|node| totals.add(node));
        totals
    }

    pub(crate) fn add(&mut self, node: &Node) {
        let pool = node.pool_key() as usize;
        if self.pools.len() <= pool {
            self.pools.resize(pool + 1, Sum::default());
        }
        self.pools[pool].add(node);
    }

    /// The parts of a move, one per pool that nodes are taken from. The saving falls to pools by what their nodes cost; where
    /// it is not known what they cost, each pool is credited with all of it.
    pub(crate) fn parts(&self, mv: &Move) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for node in mv.nodes() {
            let pool = node.pool_key();
            let place = parts.iter().position(|part| part.pool == pool);
            let place = place.unwrap_or_else(|| {
                parts.push(self.part(pool));
                parts.len() - 1
            });
            parts[place].moved.add(&node);
        }
        let (saving, removed) = (mv.saving(), mv.removed());
        let several = parts.len() > 1 && removed > 0.0;
        for part in &mut parts {
            let share = if several {
                part.moved.cost / removed
            } else {
                1.0
            };
            part.saving = saving * share;
        }
        parts
    }

    fn part(&self, pool: u32) -> Part {
        Part {
            pool,
            saving: 0.0,
            moved: Sum::default(),
            whole: self.pools.get(pool as usize).copied().unwrap_or_default(),
        }
    }
}
