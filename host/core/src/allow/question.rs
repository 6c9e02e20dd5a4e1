//! What a budget policy is asked: a row per pool and reason to take nodes away, with what the pool itself declares.
//!
//! Rows come in order of pools by name, then emptiness, consolidation, drift. The time of the question is cut to the minute,
//! so that two questions of one minute about an unchanged cluster are the same.

use serde::{Deserialize, Serialize};

use crate::hook::{Context, ExtColumn, Sym, Symbols, SymbolsBuilder};
use crate::model::DisruptionReason;

/// Seconds to which the time of a question is cut.
const MINUTE: u64 = 60;

/// Columns of pools and reasons.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BudgetRows {
    /// Name of the NodePool.
    pub name: Vec<Sym>,
    /// [`reason_code`] of why nodes would go.
    pub reason: Vec<u8>,
    /// Nodes that count: managed, initialized, not ended.
    pub nodes: Vec<u32>,
    /// Those of them that are not ready.
    pub not_ready: Vec<u32>,
    /// Those of them that are ready and on their way out.
    pub disrupting: Vec<u32>,
    /// Nodes that the pool's own budgets let be down at once for this reason; `u32::MAX` for no limit.
    pub ceiling: Vec<u32>,
    /// Pods that wait for a node of this pool.
    pub pending_pods: Vec<u32>,
    /// Evictions from its nodes in the last hour.
    pub recent_evictions: Vec<u32>,
    /// Launches for it that failed in the last hour.
    pub recent_failures: Vec<u32>,
    /// Optional signals per row.
    pub ext: Vec<ExtColumn>,
}

impl BudgetRows {
    /// Rows to be answered.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// `true` if nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }
}

/// How many nodes may be down at once, per pool and reason?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AllowQuestion {
    /// Time, cut to the minute; seed, generation.
    pub context: Context,
    /// Every text the columns refer to.
    pub symbols: Symbols,
    /// The rows.
    pub pools: BudgetRows,
}

/// One pool and reason, as they enter a question. Fields mean what the column of [`BudgetRows`] of the same name means.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the columns of `Pools` say what each one is")]
pub struct BudgetRow<'a> {
    pub name: &'a str,
    pub reason: DisruptionReason,
    pub nodes: u32,
    pub not_ready: u32,
    pub disrupting: u32,
    pub ceiling: u32,
    pub pending_pods: u32,
    pub recent_evictions: u32,
    pub recent_failures: u32,
}

/// The code of a reason in the column `reason`.
pub const fn reason_code(reason: DisruptionReason) -> u8 {
    match reason {
        DisruptionReason::Empty => 0,
        DisruptionReason::Underutilized => 1,
        DisruptionReason::Drifted => 2,
    }
}

/// Builds an [`AllowQuestion`] row by row.
#[derive(Debug, Clone)]
pub struct AllowQuestionBuilder {
    context: Context,
    symbols: SymbolsBuilder,
    pools: BudgetRows,
}

impl AllowQuestionBuilder {
    /// A question without rows, at the minute that `context` lies in.
    pub fn new(context: Context) -> Self {
        let now_unix_s = context.now_unix_s - context.now_unix_s % MINUTE;
        Self {
            context: Context {
                now_unix_s,
                ..context
            },
            symbols: SymbolsBuilder::default(),
            pools: BudgetRows::default(),
        }
    }

    /// Adds a pool and reason.
    pub fn pool(&mut self, row: &BudgetRow<'_>) {
        let columns = &mut self.pools;
        columns.name.push(self.symbols.intern(row.name));
        columns.reason.push(reason_code(row.reason));
        columns.nodes.push(row.nodes);
        columns.not_ready.push(row.not_ready);
        columns.disrupting.push(row.disrupting);
        columns.ceiling.push(row.ceiling);
        columns.pending_pods.push(row.pending_pods);
        columns.recent_evictions.push(row.recent_evictions);
        columns.recent_failures.push(row.recent_failures);
    }

    /// The finished question.
    pub fn finish(self) -> AllowQuestion {
        AllowQuestion {
            context: self.context,
            symbols: self.symbols.finish(),
            pools: self.pools,
        }
    }
}
