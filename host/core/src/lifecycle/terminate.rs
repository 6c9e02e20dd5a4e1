//! Termination of a claim: its node drained, its instance ended, and only then the objects let go.
//!
//! An instance is never leaked: the claim's object stays until the cloud says that the instance is no more. Order of
//! events: node asked to go -> taint -> drain -> end the instance -> release node -> release claim.

use super::drain;
use crate::action::{ClaimMark, CloudCall, Purpose, Write};
use crate::catalogue::LAUNCH_ORDER_ANNOTATION;
use crate::ids::ProviderId;
use crate::labels;
use crate::lifecycle::{ClaimView, Instance, Step};
use crate::model::{ClaimPhase, Node, Readiness, Version};
use crate::time::{Span, Timestamp};

/// Shortest drain: catches pods that were bound before the scheduler saw the taint.
const SETTLE: Span = Span::from_secs(5);

/// The orders that are due for a claim that was asked to go.
pub(crate) fn finalize(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) {
    let claim = view.claim;
    if let Some((node, version)) = view.node.filter(|(node, _)| has_joined(view, node)) {
        if node.deleting.is_none() {
            let write = Write::DeleteNode(node.name.clone());
            step.write_node(&node.name, Purpose::DeleteNode, None, write);
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
    match claim.provider_id.as_ref().or(known) {
        Some(id) => end_instance(view, id, step),
        // It says nothing of an instance but may have one: the launch may have been answered to one who crashed.
        None => step.find_instance(claim),
    }
}

/// `true` if pods may be on a claim's node: the node says so a moment before the claim does.
fn has_joined(view: &ClaimView<'_>, node: &Node) -> bool {
    let labelled = node.label(labels::REGISTERED);
    view.claim.phase >= ClaimPhase::Registered
        || labelled.is_some_and(|value| value.as_ref() == "true")
}

/// The node is deleting: keep pods off, move them away, then end the instance.
fn end_node(view: &ClaimView<'_>, node: &Node, version: Version, now: Timestamp, step: &mut Step) {
    if !step.taint(node, version) {
        return;
    }
    let begun = node.deleting.unwrap_or(now);
    let deadline = view
        .claim
        .deleting
        .zip(view.claim.termination_grace)
        .map(|(asked, grace)| asked + grace);
    // A node that is not ready and whose instance is gone has nothing left to move. Only launches of our own can be found by
    // their claim: of others it would be said that there is none.
    let silent = node.ready != Readiness::Ready;
    let ours = view.claim.annotations.contains_key(LAUNCH_ORDER_ANNOTATION);
    if silent && ours && view.instance == Instance::Unasked {
        step.find_instance(view.claim);
    }
    let lost = silent && view.instance == Instance::Gone;
    if !lost && !drain::evict(&view.pods, deadline, now, step) {
        return;
    }
    if now < begun + SETTLE && !view.claim.instance_terminating {
        step.wake_at(begun + SETTLE);
        return;
    }
    if let Some(id) = &view.claim.provider_id {
        end_instance(view, id, step);
    }
}

fn end_instance(view: &ClaimView<'_>, instance: &ProviderId, step: &mut Step) {
    let claim = view.claim;
    if view.instance == Instance::Gone {
        release(view, step);
        return;
    }
    if view.instance == Instance::Ending && !claim.instance_terminating {
        let write = Write::MarkClaim(claim.name.clone(), ClaimMark::Terminating);
        let purpose = Purpose::MarkTerminating;
        step.write_claim(&claim.name, purpose, Some(view.version), write);
    }
    let call = CloudCall::Terminate {
        instance: instance.clone(),
    };
    step.call_cloud(&claim.name, Purpose::Terminate, call);
}

/// The instance is no more: let the objects go, the node first.
fn release(view: &ClaimView<'_>, step: &mut Step) {
    if let Some((node, _)) = view.node.filter(|(node, _)| node.deleting.is_some()) {
        let write = Write::ReleaseNode(node.name.clone());
        step.write_node(&node.name, Purpose::ReleaseNode, None, write);
    } else {
        let name = &view.claim.name;
        let write = Write::ReleaseClaim(name.clone());
        step.write_claim(name, Purpose::ReleaseClaim, None, write);
    }
}
