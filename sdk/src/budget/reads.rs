//! Columns of a call as views read them.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use super::view::{Disruption, Pool};

impl Pool {
    /// Name of the NodePool.
    pub fn name(&self) -> &str {
        self.columns.texts.get(self.columns.pools.name[self.row])
    }

    /// Why nodes would be taken.
    pub fn disruption(&self) -> Disruption {
        Disruption::of(self.columns.pools.reason[self.row])
    }

    /// Nodes that count: managed, initialized, not ended.
    pub fn nodes(&self) -> u32 {
        self.columns.pools.nodes[self.row]
    }

    /// Those of its nodes that are not ready.
    pub fn not_ready(&self) -> u32 {
        self.columns.pools.not_ready[self.row]
    }

    /// Those of its nodes that are ready and deleting.
    pub fn disrupting(&self) -> u32 {
        self.columns.pools.disrupting[self.row]
    }

    /// Nodes that the NodePool's own budgets let be down at once for this reason; `u32::MAX` for no limit.
    pub fn declared(&self) -> u32 {
        self.columns.pools.ceiling[self.row]
    }

    /// Pods that wait for a node of the pool.
    pub fn pending_pods(&self) -> u32 {
        self.columns.pools.pending_pods[self.row]
    }

    /// Evictions from its nodes in the last hour.
    pub fn recent_evictions(&self) -> u32 {
        self.columns.pools.recent_evictions[self.row]
    }

    /// Launches for it that failed in the last hour.
    pub fn recent_failures(&self) -> u32 {
        self.columns.pools.recent_failures[self.row]
    }
}
