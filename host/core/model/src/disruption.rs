//! Disruption as a pool allows it: reasons, budgets, times.
//!
//! Facts about a reason are one row of a table ([`DisruptionReason::facts`]): its name, code and words, and whether its commands move
//! pods, save money, wait and outlast a failed policy. Budgets, queue, events, suites, metrics, score cards and reports read the row.

use std::sync::Arc;

use plimsoll_base::time::Span;
use serde::{Deserialize, Serialize};

/// Why a node is taken away on purpose. What other places need to know of a reason is in [`DisruptionReason::facts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DisruptionReason {
    /// It no longer matches its pool or class.
    Drifted,
    /// Nothing but daemons runs on it.
    Empty,
    /// Its pods fit elsewhere, or on something cheaper.
    Underutilized,
}

/// A row of the table of reasons.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a row of a table: each answers a question of its own"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReasonFacts {
    /// The name in budgets, conditions and events.
    pub name: &'static str,
    /// The name in suites of policies.
    pub label: &'static str,
    /// The code in columns of budget questions, which the policy interface fixes.
    pub code: u8,
    /// The words after "because" in events of a node that is removed.
    pub because: &'static str,
    /// `true` if its commands move pods and may launch nodes for them; if not, a node that pods have come to meanwhile stays.
    pub moves_pods: bool,
    /// `true` if its commands are made for what they save, and are not carried out where they no longer save it.
    pub saves: bool,
    /// `true` if a command must still hold after a wait before it is carried out.
    pub waits: bool,
    /// `true` if the budgets of the NodePool alone count where a budget policy fails; if not, no node goes then.
    pub outlasts_policies: bool,
}

impl DisruptionReason {
    /// Every reason, in the order of codes, in which a budget policy is asked about them.
    pub const ALL: [Self; 3] = [Self::Empty, Self::Underutilized, Self::Drifted];

    /// Every reason, in the order in which the API's schema lists them and tables and reports count their commands.
    pub const LISTED: [Self; 3] = [Self::Underutilized, Self::Empty, Self::Drifted];

    /// Name of the counts of commands in tables and reports, in the order of [`DisruptionReason::LISTED`].
    pub const COUNTS: &str = "consolidations / empty / drifted";

    /// Its row in the table of reasons.
    pub const fn facts(self) -> &'static ReasonFacts {
        match self {
            Self::Empty => &ReasonFacts {
                name: "Empty",
                label: "empty",
                code: 0,
                because: "it is empty",
                moves_pods: false,
                saves: false,
                waits: true,
                outlasts_policies: false,
            },
            Self::Underutilized => &ReasonFacts {
                name: "Underutilized",
                label: "underutilized",
                code: 1,
                because: "its pods run elsewhere for less",
                moves_pods: true,
                saves: true,
                waits: true,
                outlasts_policies: false,
            },
            // Drift is not undone by waiting, and a node must not stay unpatched since a policy is broken.
            Self::Drifted => &ReasonFacts {
                name: "Drifted",
                label: "drifted",
                code: 2,
                because: "it has drifted",
                moves_pods: true,
                saves: false,
                waits: false,
                outlasts_policies: true,
            },
        }
    }

    /// As budgets, conditions and events name it.
    pub const fn as_str(self) -> &'static str {
        self.facts().name
    }

    /// As a column of a budget question names it.
    pub const fn code(self) -> u8 {
        self.facts().code
    }

    /// The reason of that name; `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }

    /// The reason of that code; `None` for codes that no reason has.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
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

/// A reason that a budget lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BudgetReason {
    /// Voluntary disruption as it is decided here.
    Disruption(DisruptionReason),
    /// Replacement of unhealthy nodes, `Unhealthy`.
    Unhealthy,
    /// A name that this version does not know.
    Unknown(Arc<str>),
}

impl BudgetReason {
    /// Name of the reason for which unhealthy nodes are replaced.
    pub const UNHEALTHY: &str = "Unhealthy";

    /// The reason of that name.
    pub fn of(name: &str) -> Self {
        match DisruptionReason::parse(name) {
            Some(reason) => Self::Disruption(reason),
            None if name == Self::UNHEALTHY => Self::Unhealthy,
            None => Self::Unknown(Arc::from(name)),
        }
    }

    /// As budgets name it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Disruption(reason) => reason.as_str(),
            Self::Unhealthy => Self::UNHEALTHY,
            Self::Unknown(name) => name,
        }
    }
}

/// The reasons that a budget speaks of.
///
/// Karpenter tells a list that is absent from one that is empty: the former stands for every reason, the latter for none, and such a
/// budget limits nothing. A name that is not known here may stand for anything, so a budget that lists nothing else counts for every
/// reason: less is disrupted than its author wanted, never more. Beside names that are known it adds nothing, since these mean what
/// they always did, and the author told them apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BudgetReasons {
    /// No list: every reason.
    All,
    /// Those of a list.
    Listed(Vec<BudgetReason>),
}

impl BudgetReasons {
    /// The list with one reason.
    pub fn only(reason: DisruptionReason) -> Self {
        Self::Listed(vec![BudgetReason::Disruption(reason)])
    }

    /// `true` if disruption for that reason is limited.
    pub fn limit(&self, reason: DisruptionReason) -> bool {
        match self {
            Self::All => true,
            Self::Listed(list) => {
                list.contains(&BudgetReason::Disruption(reason)) || self.may_mean_any()
            }
        }
    }

    /// `true` if the replacement of unhealthy nodes is limited: only by budgets that name it. The default budget of one tenth would
    /// otherwise stop repairs that have never asked budgets.
    pub fn limit_repair(&self) -> bool {
        match self {
            Self::All => false,
            Self::Listed(list) => list.contains(&BudgetReason::Unhealthy) || self.may_mean_any(),
        }
    }

    /// `true` for a list without entries: it limits nothing.
    pub fn limit_nothing(&self) -> bool {
        matches!(self, Self::Listed(list) if list.is_empty())
    }

    /// `true` for a list of names of which none is known.
    fn may_mean_any(&self) -> bool {
        let Self::Listed(list) = self else {
            return false;
        };
        let is_unknown = |reason: &BudgetReason| matches!(reason, BudgetReason::Unknown(_));
        !list.is_empty() && list.iter().all(is_unknown)
    }
}

/// One entry of `spec.disruption.budgets`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Budget {
    /// How many nodes.
    pub nodes: BudgetNodes,
    /// The reasons it speaks of.
    pub reasons: BudgetReasons,
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
            reasons: BudgetReasons::All,
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
    /// Span without pod events after which a node is consolidatable; `None` for never.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_found_by_their_codes_and_names() {
        for (code, reason) in (0_u8..).zip(DisruptionReason::ALL) {
            assert_eq!(reason.code(), code);
            assert_eq!(DisruptionReason::of_code(code), Some(reason));
            assert_eq!(DisruptionReason::parse(reason.as_str()), Some(reason));
        }
        assert_eq!(DisruptionReason::of_code(3), None);
        assert_eq!(DisruptionReason::parse("empty"), None);
    }

    #[test]
    fn a_budget_limits_the_reasons_it_names_and_all_where_it_names_none_that_are_known() {
        let listed = |names: &[&str]| {
            BudgetReasons::Listed(names.iter().map(|name| BudgetReason::of(name)).collect())
        };
        let drifted = DisruptionReason::Drifted;
        let empty = DisruptionReason::Empty;
        for (reasons, limits) in [
            (BudgetReasons::All, (true, true, false)),
            (listed(&[]), (false, false, false)),
            (listed(&["Drifted"]), (true, false, false)),
            (listed(&["Drifted", "Repacked"]), (true, false, false)),
            (listed(&["Unhealthy"]), (false, false, true)),
            (listed(&["Unhealthy", "Empty"]), (false, true, true)),
            (listed(&["Unhealthy", "Repacked"]), (false, false, true)),
            (listed(&["Repacked", "Moved"]), (true, true, true)),
        ] {
            let found = (
                reasons.limit(drifted),
                reasons.limit(empty),
                reasons.limit_repair(),
            );
            assert_eq!(found, limits, "{reasons:?}");
        }
    }

    #[test]
    fn every_reason_is_listed_and_counted() {
        let mut sorted = DisruptionReason::ALL;
        sorted.sort_unstable();
        let mut listed = DisruptionReason::LISTED;
        listed.sort_unstable();
        assert_eq!(listed, sorted);
        assert_eq!(DisruptionReason::COUNTS.split(" / ").count(), sorted.len());
    }
}
