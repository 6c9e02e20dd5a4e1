//! Conditions that say whether a claim may be disrupted, for people and other programs: decisions are made from the same facts, not from
//! what is written.
//!
//! `Drifted` and `DisruptionReason` bear their cause as reason; all three are absent where they do not hold. Rules and words are
//! Karpenter's.

use std::sync::Arc;

use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{ClaimChange, Purpose};
use plimsoll_model::{
    ClaimPhase, ConditionType, DesiredCondition, DisruptionReason, Node, Version, is_disrupted,
};

use super::{ClaimView, Step};

/// Facts about the disruption of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct DisruptionFacts {
    /// How it differs from its pool or class.
    pub drift: DriftFinding,
    /// When it may be consolidated if nothing happens there; `None` for never, or as long as that is not known.
    pub consolidatable_from: Option<Timestamp>,
    /// Why a command disrupts it; `None` where none does.
    pub reason: Option<DisruptionReason>,
}

/// How a claim differs from what its pool and class say, as far as anybody has looked.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DriftFinding {
    /// It is not known; what was said before stands.
    #[default]
    Unknown,
    /// In nothing.
    Same,
    /// In what the reason names.
    Drifted(Arc<str>),
}

/// Asks for what is to be said, unless it is said already, or a change of the claim is on its way.
pub(super) fn tell(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) {
    let claim = view.claim;
    let Some(facts) = view
        .disruption
        .as_ref()
        .filter(|_| claim.deleting.is_none())
    else {
        return;
    };
    let mut change = ClaimChange::default();
    let mut say = |kind: ConditionType, reason: Option<&str>| match reason {
        Some(reason) => {
            let desired = DesiredCondition::holds_since(kind, reason, reason);
            if !claim.conditions.says(&desired) {
                change.conditions.push(desired);
            }
        }
        None if claim.conditions.get(kind).is_some() => change.cleared.push(kind),
        None => {}
    };
    match &facts.drift {
        _ if claim.phase() < ClaimPhase::Launched => say(ConditionType::Drifted, None),
        DriftFinding::Unknown => {}
        DriftFinding::Same => say(ConditionType::Drifted, None),
        DriftFinding::Drifted(reason) => say(ConditionType::Drifted, Some(reason)),
    }
    let from = facts.consolidatable_from;
    let is_consolidatable = from.is_some_and(|from| from <= now);
    let kind = ConditionType::Consolidatable;
    say(kind, is_consolidatable.then_some(kind.as_str()));
    // All that replaces it has been asked for before its node is tainted.
    let is_tainted = |(node, _): (&Node, Version)| node.taints.iter().any(is_disrupted);
    let reason = facts.reason.filter(|_| view.node.is_some_and(is_tainted));
    let reason = reason.map(DisruptionReason::as_str);
    say(ConditionType::DisruptionReason, reason);
    if let Some(from) = from.filter(|from| *from > now) {
        step.wake_at(from);
    }
    let differs = !(change.conditions.is_empty() && change.cleared.is_empty());
    if differs && !step.changes_claim() {
        step.change_claim(view, Purpose::MarkDisruption, change);
    }
}
