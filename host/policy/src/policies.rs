//! The policies that decide together: at most one that ranks, at most one that consolidates, any number of budgets.

use std::sync::Arc;

use crate::module::{BudgetModule, ConsolidationModule, Module};
use crate::observer::Observer;

/// One set of policies; a [`Generation`](crate::Generation) decides with it. Where a hook has none, the core decides by itself:
/// list prices, moves worth what they save, declared budgets.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// Ranks the nodes to buy; list prices decide where `None`.
    pub rank: Option<Module>,
    /// Values consolidation moves; their savings decide where `None`.
    pub consolidate: Option<ConsolidationModule>,
    /// How many nodes may be removed now; the least counts.
    pub budget: Vec<BudgetModule>,
    /// Who is told of every call and decision.
    pub observers: Vec<Arc<dyn Observer>>,
}
