//! Typed view of one row: a pool, and why nodes would be taken from it.

use std::rc::Rc;

use super::table::Columns;
use crate::columns::Signal;
use crate::time::{LocalTime, TimeZone};

/// Why nodes are taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disruption {
    /// Nothing but daemons runs on them.
    Emptiness,
    /// Their pods fit elsewhere, or on something cheaper.
    Consolidation,
    /// They no longer match their pool or class.
    Drift,
}

/// A NodePool, and why nodes would be taken from it.
#[derive(Debug, Clone)]
pub struct Pool {
    columns: Rc<Columns>,
    pub(super) row: usize,
}

impl Pool {
    pub(super) fn new(columns: &Rc<Columns>, row: usize) -> Self {
        Self {
            columns: Rc::clone(columns),
            row,
        }
    }

    /// Name of the NodePool.
    pub fn name(&self) -> &str {
        self.columns.texts.get(self.columns.pools.name[self.row])
    }

    /// Why nodes would be taken.
    pub fn disruption(&self) -> Disruption {
        match self.columns.pools.reason[self.row] {
            0 => Disruption::Emptiness,
            1 => Disruption::Consolidation,
            _ => Disruption::Drift,
        }
    }

    /// Nodes that count: managed, initialized, not ended.
    pub fn nodes(&self) -> u32 {
        self.columns.pools.nodes[self.row]
    }

    /// Those of them that are not ready.
    pub fn not_ready(&self) -> u32 {
        self.columns.pools.not_ready[self.row]
    }

    /// Those of them that are ready and on their way out.
    pub fn disrupting(&self) -> u32 {
        self.columns.pools.disrupting[self.row]
    }

    /// Nodes that the NodePool's own budgets let be down at once; `u32::MAX` for no limit.
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

    /// Date and time of day in a time zone that is a setting of the policy.
    pub fn local(&self, zone: &TimeZone) -> LocalTime {
        LocalTime::of(&self.columns.context, zone)
    }

    /// Value of an optional signal of the row.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        let Columns { texts, pools, .. } = &*self.columns;
        texts.signal(&pools.ext, name, self.row)
    }
}
