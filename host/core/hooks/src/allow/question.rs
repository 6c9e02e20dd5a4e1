//! The question to a budget policy: a row per pool and disruption reason, with what the pool itself declares.
//!
//! Rows come in order of pools by name, then emptiness, consolidation, drift. The time of the question is cut to the minute,
//! so that two questions of one minute about an unchanged cluster are the same.

use serde::{Deserialize, Serialize};

use super::columns::{BudgetRow, BudgetRows};
use crate::hook::{Context, Symbols, SymbolsBuilder};

/// Seconds to which the time of a question is cut.
const MINUTE: u64 = 60;

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
    /// Time, cut to the minute, and seed.
    pub context: Context,
    /// Every text the columns refer to.
    pub symbols: Symbols,
    /// The rows.
    pub pools: BudgetRows,
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
        self.pools.push_pool(&mut self.symbols, row);
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
