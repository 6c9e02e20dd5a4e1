//! What a pool allows to be taken away, when and how much of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::time::Span;

/// Why a node is taken away on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DisruptionReason {
    /// It no longer matches its pool or class.
    Drifted,
    /// Nothing but daemons runs on it.
    Empty,
    /// Its pods fit elsewhere, or on something cheaper.
    Underutilized,
}

impl DisruptionReason {
    /// As budgets, conditions and events name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Drifted => "Drifted",
            Self::Empty => "Empty",
            Self::Underutilized => "Underutilized",
        }
    }

    /// As a column of a budget question names it.
    pub const fn code(self) -> u8 {
        match self {
            Self::Empty => 0,
            Self::Underutilized => 1,
            Self::Drifted => 2,
        }
    }
}

/// Nodes that consolidation may take.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum ConsolidationPolicy {
    /// Only empty ones.
    WhenEmpty,
    /// Empty ones and those whose pods could run for less.
    #[default]
    WhenEmptyOrUnderutilized,
    /// As the former, with saving weighed against disruption.
    Balanced,
}

/// How many nodes a budget lets go at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BudgetNodes {
    /// This many.
    Count(u32),
    /// This share of the pool's nodes, in percent, rounded up.
    Percent(u32),
}

/// One entry of `spec.disruption.budgets`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Budget {
    /// How many nodes.
    pub nodes: BudgetNodes,
    /// The reasons it speaks of; empty for all.
    pub reasons: Vec<DisruptionReason>,
    /// When it begins to hold: five cron fields, UTC; always when absent.
    pub schedule: Option<Arc<str>>,
    /// How long it holds after each begin; required with a schedule.
    pub duration: Option<Span>,
}

impl Budget {
    /// A budget that always holds, for every reason.
    pub fn always(nodes: BudgetNodes) -> Self {
        Self {
            nodes,
            reasons: Vec::new(),
            schedule: None,
            duration: None,
        }
    }
}

/// `spec.disruption` of a pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolDisruption {
    /// Nodes that consolidation may take.
    pub policy: ConsolidationPolicy,
    /// How long a node must have been quiet; `None` for never.
    pub consolidate_after: Option<Span>,
    /// The budgets; the smallest that holds wins.
    pub budgets: Vec<Budget>,
}

impl Default for PoolDisruption {
    /// As the API defaults it: `WhenEmptyOrUnderutilized`, at once, one tenth of the nodes at a time.
    fn default() -> Self {
        let tenth = Budget::always(BudgetNodes::Percent(10));
        Self {
            policy: ConsolidationPolicy::default(),
            consolidate_after: Some(Span::ZERO),
            budgets: vec![tenth],
        }
    }
}
