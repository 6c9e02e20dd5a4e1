//! Unhealthy nodes: after a while their claims go, and nothing holds their pods up.
//!
//! The conditions of an unhealthy node, and for how long each is tolerated, are the provider's to say ([`RepairRule`]). The deadline of the drain is written
//! first, as past: then nothing that the node says meanwhile keeps the claim, and neither disruption budgets of workloads nor pods do. Of the pool's budgets those that name the reason `Unhealthy` limit how many are
//! repaired at once; others do not.

use std::fmt;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::NodeName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::{ClaimChange, Purpose};
use plimsoll_model::provider::RepairRule;
use plimsoll_model::{BudgetReason, Node};

use super::{ClaimView, Step};

/// How long a repair that is held back waits before it is looked at again.
const AGAIN: Span = Span::from_secs(300);

/// An unhealthy node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnhealthyNode {
    /// The node.
    pub node: NodeName,
    /// Since when it has been tolerated long enough.
    pub due: Timestamp,
    /// The condition in words, such as `Ready=False since 12m`.
    pub words: String,
    /// The rule that holds its repair back; `None` when nothing does.
    pub held: Option<HeldRepair>,
}

/// Why an unhealthy node is not repaired now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldRepair {
    /// Too many others are unhealthy, too: then it is more likely that something else is wrong.
    Widespread,
    /// As many nodes of its pool as a budget for `Unhealthy` allows are going already; it allows so many.
    OverBudget(u32),
}

impl fmt::Display for HeldRepair {
    /// In words, to follow the condition of the node.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Widespread => f.write_str(
                "more than a fifth of the nodes beside it are unhealthy: none is replaced",
            ),
            Self::OverBudget(most) => write!(
                f,
                "a budget of its pool for {} allows {most} nodes to go at once: it waits",
                BudgetReason::UNHEALTHY
            ),
        }
    }
}

/// The rule that a node meets which is due first, with that time.
pub fn first_due<'r>(node: &Node, rules: &'r [RepairRule]) -> Option<(Timestamp, &'r RepairRule)> {
    let met = rules.iter().filter_map(|rule| {
        let said = node.conditions.get(&rule.condition)?;
        (said.status == rule.status).then_some((said.since + rule.toleration, rule))
    });
    met.min_by_key(|(due, _)| *due)
}

/// The most unhealthy nodes, of so many, for any of them to be repaired: a fifth, rounded up.
pub const fn most_unhealthy(nodes: usize) -> usize {
    nodes.div_ceil(5)
}

/// Writes the deadline of the drain on a claim whose node is unhealthy for too long; `true` where it does. Once it has passed the claim goes.
pub(super) fn check(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) -> bool {
    let Some(unhealthy) = &view.unhealthy else {
        return false;
    };
    if now < unhealthy.due {
        step.wake_at(unhealthy.due);
        return false;
    }
    if unhealthy.held.is_some() {
        step.wake_at(now + AGAIN);
        return false;
    }
    let change = ClaimChange {
        drained_by: Some(now),
        ..ClaimChange::default()
    };
    step.change_claim(view, Purpose::MarkDeadline, change);
    let words = format!("{}: it is replaced", unhealthy.words);
    step.report(
        view.key(),
        Purpose::MarkDeadline,
        EventReason::Unhealthy,
        words,
    );
    true
}
