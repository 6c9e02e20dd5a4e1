//! Termination of a claim: its node drained, its instance ended, and only then the objects let go.
//!
//! An instance is never leaked: the claim's object stays until the cloud says that the instance is no more. Order of
//! events: node asked to go -> taint -> drain -> volumes detached -> end the instance -> release node -> release claim.

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::ProviderId;
use plimsoll_base::labels;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::words::shortened;
use plimsoll_model::action::{ClaimChange, CloudCall, ObjectKey, Purpose};
use plimsoll_model::{
    ClaimPhase, ConditionType, DesiredCondition, Node, Readiness, Version, is_disrupted,
    is_waited_for,
};

use super::detach::Detachment;
use super::drain;
use crate::{ClaimView, Instance, LaunchWish, Step};

/// Shortest drain: catches pods that were bound before the scheduler saw the taint.
pub(super) const SETTLE: Span = Span::from_secs(5);

/// The orders that are due for a claim that was asked to go.
pub(crate) fn finalize(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) {
    let claim = view.claim;
    if let Some((node, version)) = view.node.filter(|(node, _)| has_joined(view, node)) {
        set_deadline(view, step);
        if node.deleting.is_none() {
            step.delete_node(node);
        } else {
            end_node(view, node, version, now, step);
        }
        return;
    }
    if view.instance == Instance::Gone {
        release(view, step);
        return;
    }
    let known = view.machine.map(|machine| &machine.provider_id);
    match (claim.provider_id.as_ref().or(known), view.open_launch()) {
        (Some(id), _) => end_instance(view, id, step),
        // It says nothing of an instance but may have one: the launch may have been answered to one who crashed.
        (None, Some(token)) => step.launch = Some(LaunchWish::Ask(token)),
        (None, None) => release(view, step),
    }
}

/// Writes down when the drain must be over, once: it stays, whatever becomes of the time that drains may take.
fn set_deadline(view: &ClaimView<'_>, step: &mut Step) {
    let claim = view.claim;
    let deadline = claim.drain_deadline();
    let deadline = deadline.filter(|_| claim.drained_by.is_none());
    let Some((deadline, grace)) = deadline.zip(claim.termination_grace) else {
        return;
    };
    let change = ClaimChange {
        drained_by: Some(deadline),
        ..ClaimChange::default()
    };
    step.change_claim(view, Purpose::MarkDeadline, change);
    let words = format!(
        "its drain takes {grace} at most: pods are deleted in time, whatever protects them"
    );
    let node = view
        .node
        .map(|(node, _)| ObjectKey::Node(node.name.clone()));
    for object in node.into_iter().chain([view.key()]) {
        let reason = EventReason::TerminationGracePeriodExpiring;
        step.report(object, Purpose::MarkDeadline, reason, words.clone());
    }
}

/// `true` if pods may be on a claim's node: the node says so a moment before the claim does.
fn has_joined(view: &ClaimView<'_>, node: &Node) -> bool {
    let labelled = node.label(labels::REGISTERED);
    view.claim.phase() >= ClaimPhase::Registered
        || labelled.is_some_and(|value| value.as_ref() == "true")
}

/// The node is deleting: keep pods off, move them away, then end the instance.
fn end_node(view: &ClaimView<'_>, node: &Node, version: Version, now: Timestamp, step: &mut Step) {
    if !step.begin_drain(node, version) {
        return;
    }
    let begun = node.deleting.unwrap_or(now);
    let deadline = view.claim.drain_deadline();
    // A node that is not ready and whose instance is gone has nothing left to move.
    let silent = node.readiness() != Readiness::Ready;
    if let Some(instance) = view.claim.provider_id.clone()
        && silent
        && view.instance == Instance::Unasked
    {
        step.call_cloud(view.claim, Purpose::Find, CloudCall::Get { instance });
    }
    let lost = silent && view.instance == Instance::Gone;
    if !lost && !drain::evict(&view.pods, deadline, now, step) {
        return;
    }
    if !is_settled(view, begun, now) {
        step.wake_at(begun + SETTLE);
        return;
    }
    if !lost && !is_detached(view, now, step) {
        return;
    }
    if let Some(id) = &view.claim.provider_id {
        end_instance(view, id, step);
    }
}

/// `true` if pods that were bound before the scheduler saw the taint would have shown by now.
fn is_settled(view: &ClaimView<'_>, begun: Timestamp, now: Timestamp) -> bool {
    now >= begun + SETTLE || view.claim.is_instance_terminating()
}

/// `true` if no volume of a drained node is waited for any more: none is left, the time for the drain is over, or the instance is
/// being ended already.
fn is_detached(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) -> bool {
    if view.claim.is_instance_terminating() {
        return true;
    }
    match Detachment::of(view, now) {
        Detachment::Done | Detachment::Elapsed => true,
        Detachment::Waits(_) => {
            if let Some(deadline) = view.claim.drain_deadline() {
                step.wake_at(deadline);
            }
            false
        }
    }
}

/// Conditions of a claim that was asked to go: how far the drain of its node is, and once that is over, its volumes. None while it has
/// not begun, and once the instance is being ended.
pub(super) fn told(view: &ClaimView<'_>, now: Timestamp) -> Vec<DesiredCondition> {
    let conditions = &view.claim.conditions;
    let node = view.node.map(|(node, _)| node);
    let node = node.filter(|node| has_joined(view, node) && node.taints.iter().any(is_disrupted));
    let Some(begun) = node.and_then(|node| node.deleting) else {
        return Vec::new();
    };
    let kind = ConditionType::Drained;
    let waits = view.pods.iter().any(|pod| is_waited_for(pod, now));
    let is_drained = conditions.is_true(kind) || (!waits && is_settled(view, begun, now));
    if !is_drained {
        return vec![DesiredCondition::unknown(kind, "Draining", "Draining")];
    }
    let drained = (!conditions.is_true(kind)).then(|| DesiredCondition::holds(kind));
    let detached =
        (!view.claim.is_instance_terminating()).then(|| Detachment::of(view, now).condition());
    drained.into_iter().chain(detached).collect()
}

/// Words on the pods that a drain waits for and does not evict, since they ask to be left alone; `None` where there are none.
pub(super) fn protected_pods(view: &ClaimView<'_>, now: Timestamp) -> Option<String> {
    let pods = view.pods.iter();
    let protected = pods.filter(|pod| is_waited_for(pod, now) && pod.is_protected(now));
    let names: Vec<String> = protected.map(|pod| pod.name.to_string()).collect();
    let words = || {
        format!(
            "Failed to drain node, pods ask not to be disrupted and are waited for: {}",
            shortened(&names)
        )
    };
    (!names.is_empty()).then(words)
}

/// Words on the volumes that a drained node waits for; `None` where it waits for none.
pub(super) fn awaited_volumes(view: &ClaimView<'_>, now: Timestamp) -> Option<String> {
    match Detachment::of(view, now) {
        Detachment::Waits(left) => {
            let names = shortened(left.iter().map(|own| &own.name));
            Some(format!(
                "Awaiting deletion of bound volumeattachments ({names})"
            ))
        }
        Detachment::Done | Detachment::Elapsed => None,
    }
}

fn end_instance(view: &ClaimView<'_>, instance: &ProviderId, step: &mut Step) {
    let claim = view.claim;
    if view.instance == Instance::Gone {
        release(view, step);
        return;
    }
    if view.instance == Instance::Ending {
        mark_terminating(view, step);
    }
    let call = CloudCall::Terminate {
        instance: instance.clone(),
    };
    step.call_cloud(claim, Purpose::Terminate, call);
}

fn mark_terminating(view: &ClaimView<'_>, step: &mut Step) {
    if view.claim.is_instance_terminating() {
        return;
    }
    let ending = DesiredCondition::holds(ConditionType::InstanceTerminating);
    let change = ClaimChange::saying(vec![ending]);
    step.change_claim(view, Purpose::MarkTerminating, change);
}

/// The instance is no more: let the objects go, the node first. While others hold on to a node that had joined
/// its claim stays, and counts as terminating.
fn release(view: &ClaimView<'_>, step: &mut Step) {
    let node = view.node.map(|(node, _)| node);
    match node.filter(|node| node.deleting.is_some()) {
        Some(node) if node.held => step.release_node(node),
        Some(node) if has_joined(view, node) => mark_terminating(view, step),
        _ if view.claim.held => step.release_claim(view),
        _ => {}
    }
}
