//! Conditions of a claim as it stands: how far it has come, and what it waits for.
//!
//! Reasons and messages are Karpenter's. What is said follows from the objects and from what the cloud last answered; of
//! what nothing is known nothing is said, and what was said before stands.

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{ClaimChange, ObjectKey, Purpose};
use plimsoll_model::{
    ClaimPhase, ConditionStatus, ConditionType, DesiredCondition, Node, NodeClaim,
};

use super::initialize::lack;
use super::view::is_marked;
use super::{ClaimView, FailedLaunch, Step, consistency, terminate};

const NOT_FOUND: &str = "Node not registered with cluster";
const SEVERAL: &str = "Invariant violated, matched multiple nodes";

/// Conditions of a claim that has come so far.
pub(super) fn standing(view: &ClaimView<'_>, phase: ClaimPhase) -> Vec<DesiredCondition> {
    let own = [
        (ClaimPhase::Launched, ConditionType::Launched),
        (ClaimPhase::Registered, ConditionType::Registered),
        (ClaimPhase::Initialized, ConditionType::Initialized),
    ];
    let reached = own.into_iter().filter(|(step, _)| *step <= phase);
    let reached = reached.map(|(_, kind)| DesiredCondition::holds(kind));
    let consistency = consistency::found(view, phase);
    reached
        .chain(waiting(view, phase))
        .chain(consistency)
        .collect()
}

/// The condition that the claim has to reach next, and why it has not.
fn waiting(view: &ClaimView<'_>, phase: ClaimPhase) -> Option<DesiredCondition> {
    if let Some(problem) = &view.claim.unread.problem {
        return not_understood(phase, problem);
    }
    match phase {
        ClaimPhase::Created => {
            let failure = view.failure?;
            let kind = ConditionType::Launched;
            let FailedLaunch { reason, words } = failure;
            Some(DesiredCondition::unknown(kind, reason, words))
        }
        ClaimPhase::Launched => unregistered(view),
        ClaimPhase::Registered => uninitialized(view),
        ClaimPhase::Initialized => None,
    }
}

/// The next condition of a claim of which a part could not be read.
fn not_understood(phase: ClaimPhase, problem: &str) -> Option<DesiredCondition> {
    let next = match phase {
        ClaimPhase::Created => ConditionType::Launched,
        ClaimPhase::Launched => ConditionType::Registered,
        ClaimPhase::Registered => ConditionType::Initialized,
        ClaimPhase::Initialized => return None,
    };
    Some(DesiredCondition::unknown(next, "FailedValidation", problem))
}

fn unregistered(view: &ClaimView<'_>) -> Option<DesiredCondition> {
    let kind = ConditionType::Registered;
    if view.claim.conditions.status(kind) == ConditionStatus::False {
        return None;
    }
    if view.ambiguous {
        return Some(DesiredCondition::fails(kind, "MultipleNodesFound", SEVERAL));
    }
    // A node that is there joins in a moment, or waits for nominations for a few: nothing that anybody could act upon.
    let absent = DesiredCondition::unknown(kind, "NodeNotFound", NOT_FOUND);
    view.node.is_none().then_some(absent)
}

fn uninitialized(view: &ClaimView<'_>) -> Option<DesiredCondition> {
    let kind = ConditionType::Initialized;
    let Some((node, _)) = view.only_node() else {
        return Some(DesiredCondition::unknown(kind, "NodeNotFound", NOT_FOUND));
    };
    let lack =
        lack(view.claim, node, &node.taints).filter(|_| !is_marked(node, labels::INITIALIZED))?;
    let words = lack.to_string();
    Some(DesiredCondition::unknown(kind, lack.reason(), &words))
}

/// The condition that a claim has to reach next and why it has not, as its objects tell; `None` once it has reached all. What
/// the cloud last answered stands in the claim's own condition.
pub fn next_condition(claim: &NodeClaim, node: Option<&Node>) -> Option<DesiredCondition> {
    let absent = |kind| DesiredCondition::unknown(kind, "NodeNotFound", NOT_FOUND);
    let (kind, known) = match claim.phase() {
        ClaimPhase::Created => (ConditionType::Launched, None),
        ClaimPhase::Launched => {
            let kind = ConditionType::Registered;
            (kind, node.is_none().then(|| absent(kind)))
        }
        ClaimPhase::Registered => {
            let kind = ConditionType::Initialized;
            let lacking = |node: &Node| {
                let lack = lack(claim, node, &node.taints)?;
                Some(DesiredCondition::unknown(
                    kind,
                    lack.reason(),
                    &lack.to_string(),
                ))
            };
            (kind, node.map_or_else(|| Some(absent(kind)), lacking))
        }
        ClaimPhase::Initialized => return None,
    };
    let said = claim.conditions.get(kind);
    let said = said.map(|said| DesiredCondition::repeated(kind, said));
    Some(
        known
            .or(said)
            .unwrap_or_else(|| DesiredCondition::awaited(kind)),
    )
}

/// Asks for what is to be said of a claim as it stands, unless it is said already, or a change of the claim is on its way.
pub(super) fn tell(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) {
    let claim = view.claim;
    let mut said = if claim.deleting.is_some() {
        terminate::told(view, now)
    } else {
        let phase = claim.phase();
        let consistency = consistency::found(view, phase);
        // That all is well is said with other things, or where the contrary was.
        let known = claim.conditions.get(ConditionType::ConsistentStateFound);
        let consistency = consistency.filter(|own| known.is_some() || !own.is_true());
        waiting(view, phase)
            .into_iter()
            .chain(consistency)
            .collect()
    };
    said.retain(|said| !claim.conditions.says(said));
    if said.is_empty() || step.changes_claim() {
        return;
    }
    for own in &said {
        report(view, own, now, step);
    }
    let change = ClaimChange::saying(said);
    step.change_claim(view, Purpose::MarkWaiting, change);
}

/// Tells people of a condition by which they may have to do something.
fn report(view: &ClaimView<'_>, said: &DesiredCondition, now: Timestamp, step: &mut Step) {
    let node = view
        .node
        .map(|(node, _)| ObjectKey::Node(node.name.clone()));
    let with = Purpose::MarkWaiting;
    match (said.kind, said.status) {
        (ConditionType::Drained, ConditionStatus::Unknown) => {
            let words = terminate::protected_pods(view, now);
            if let Some((node, words)) = node.zip(words) {
                step.report(node, with, EventReason::FailedDraining, words);
            }
        }
        (ConditionType::ConsistentStateFound, ConditionStatus::False) => {
            for issue in consistency::issues(view) {
                step.report(view.key(), with, EventReason::FailedConsistencyCheck, issue);
            }
        }
        (ConditionType::VolumesDetached, ConditionStatus::Unknown) => {
            let words = terminate::awaited_volumes(view, now);
            if let Some((node, words)) = node.zip(words) {
                step.report(node, with, EventReason::AwaitingVolumeDetachment, words);
            }
        }
        _ => {}
    }
}
