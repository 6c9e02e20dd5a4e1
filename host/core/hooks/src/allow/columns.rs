//! The columns of the hook's questions, and rows as they enter them.
//!
//! Generated from the lists of `host/columns`; `make columns` makes it anew.

use plimsoll_model::DisruptionReason;
use serde::{Deserialize, Serialize};

use crate::hook::{ExtColumn, Sym, SymbolsBuilder};

/// Names of the signals that the host sends in questions of this hook.
pub const SIGNALS: &[&str] = &[];

/// Columns of pools and reasons.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BudgetRows {
    /// Name of the NodePool.
    pub name: Vec<Sym>,
    /// Code of the [`DisruptionReason`] that nodes would go for.
    pub reason: Vec<u8>,
    /// Nodes that count: managed, initialized, not ended.
    pub nodes: Vec<u32>,
    /// Those of its nodes that are not ready.
    pub not_ready: Vec<u32>,
    /// Those of its nodes that are ready and deleting.
    pub disrupting: Vec<u32>,
    /// Nodes that the NodePool's own budgets let be down at once for this reason; `u32::MAX` for no limit.
    pub ceiling: Vec<u32>,
    /// Pods that wait for a node of the pool.
    pub pending_pods: Vec<u32>,
    /// Evictions from its nodes in the last hour.
    pub recent_evictions: Vec<u32>,
    /// Launches for it that failed in the last hour.
    pub recent_failures: Vec<u32>,
    /// Optional signals per pool.
    pub ext: Vec<ExtColumn>,
}

/// One pool and reason, as they enter a question.
#[derive(Debug, Clone, Copy)]
pub struct BudgetRow<'a> {
    /// Name of the NodePool.
    pub name: &'a str,
    /// [`DisruptionReason`] that nodes would go for.
    pub reason: DisruptionReason,
    /// Nodes that count: managed, initialized, not ended.
    pub nodes: u32,
    /// Those of its nodes that are not ready.
    pub not_ready: u32,
    /// Those of its nodes that are ready and deleting.
    pub disrupting: u32,
    /// Nodes that the NodePool's own budgets let be down at once for this reason; `u32::MAX` for no limit.
    pub ceiling: u32,
    /// Pods that wait for a node of the pool.
    pub pending_pods: u32,
    /// Evictions from its nodes in the last hour.
    pub recent_evictions: u32,
    /// Launches for it that failed in the last hour.
    pub recent_failures: u32,
}

impl BudgetRows {
    /// Adds a row to every column but those that are joined out of parts.
    pub(super) fn push_pool(&mut self, symbols: &mut SymbolsBuilder, row: &BudgetRow<'_>) {
        self.name.push(symbols.intern(row.name));
        self.reason.push(row.reason.code());
        self.nodes.push(row.nodes);
        self.not_ready.push(row.not_ready);
        self.disrupting.push(row.disrupting);
        self.ceiling.push(row.ceiling);
        self.pending_pods.push(row.pending_pods);
        self.recent_evictions.push(row.recent_evictions);
        self.recent_failures.push(row.recent_failures);
    }
}
