//! Nodes that are not well: after a while their claims go, and nothing holds their pods up.
//!
//! What is not well, and for how long that is tolerated, is the provider's to say ([`RepairRule`]). The deadline of the drain is written
//! first, as past: then nothing that the node says meanwhile keeps the claim, and neither budgets of disruption nor pods do.

use super::{ClaimView, Step};
use crate::action::{ClaimChange, Purpose};
use crate::ids::NodeName;
use crate::model::Node;
use crate::provider::RepairRule;
use crate::time::{Span, Timestamp};

/// How long a repair that is held back waits before it is looked at again.
const AGAIN: Span = Span::from_secs(300);

/// A node that is not well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ailment {
    /// The node.
    pub node: NodeName,
    /// Since when it has been tolerated long enough.
    pub due: Timestamp,
    /// The condition in words, such as `Ready=False since 12m`.
    pub words: String,
    /// `true` if too many others are not well, either: then it is more likely that something else is wrong.
    pub is_widespread: bool,
}

/// The rule that a node meets which is due first, with that time.
pub fn first_due<'r>(node: &Node, rules: &'r [RepairRule]) -> Option<(Timestamp, &'r RepairRule)> {
    let met = rules.iter().filter_map(|rule| {
        let said = node.conditions.get(&rule.condition)?;
        (said.status == rule.status).then_some((said.since + rule.toleration, rule))
    });
    met.min_by_key(|(due, _)| *due)
}

/// The most nodes that may be unwell, of so many, for any of them to be repaired: a fifth, rounded up.
pub const fn most_unwell(nodes: usize) -> usize {
    nodes.div_ceil(5)
}

/// Asks a claim to go whose node is not well; whether it is to go.
pub(super) fn check(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) -> bool {
    let claim = view.claim;
    if claim.drained_by.is_some_and(|deadline| deadline <= now) {
        step.delete_claim(view, "its node is not well");
        return true;
    }
    let Some(ailment) = &view.ailment else {
        return false;
    };
    if now < ailment.due {
        step.wake_at(ailment.due);
        return false;
    }
    if ailment.is_widespread {
        step.wake_at(now + AGAIN);
        return false;
    }
    let change = ClaimChange {
        drained_by: Some(now),
        ..ClaimChange::default()
    };
    step.change_claim(view, Purpose::MarkDeadline, change);
    let words = format!("{}: it is replaced", ailment.words);
    step.reports.push(("Unhealthy", words));
    true
}
