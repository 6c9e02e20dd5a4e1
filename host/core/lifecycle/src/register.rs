//! Letting a node join: its claim's labels, annotations and taints, and then pods.
//!
//! Nominations come first. The scheduler keeps room for nominated pods, so they must stand before the node becomes usable;
//! otherwise whatever waits takes the room of what was planned.

use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::labels;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::{ClaimChange, Finalizer, NodeChange, Purpose};
use plimsoll_model::{ClaimPhase, ConditionStatus, ConditionType, Node, NodeClaim, Taint};

use super::initialize::{Lack, lack};
use super::standing::standing;
use super::view::is_marked;
use super::{ClaimView, Step, UNREGISTERED_TAINT};

/// How long after its creation a node may take to be ready before it joins as it is. One that comes up at once changes several times a
/// second until then, and a write to it in the meantime is refused as a conflict.
const PATIENCE: Span = Span::from_secs(4);

pub(super) fn register(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) {
    let claim = view.claim;
    // Whose instance several nodes have shown stays as it is until its time to register is over.
    if claim.conditions.status(ConditionType::Registered) == ConditionStatus::False {
        return;
    }
    let Some((node, version)) = view.only_node() else {
        return;
    };
    if is_marked(node, labels::REGISTERED) {
        let (purpose, phase) = if is_marked(node, labels::INITIALIZED) {
            (Purpose::MarkInitialized, ClaimPhase::Initialized)
        } else {
            (Purpose::MarkRegistered, ClaimPhase::Registered)
        };
        let change = ClaimChange {
            node: Some(node.name.clone()),
            ..ClaimChange::saying(standing(view, phase))
        };
        step.change_claim(view, purpose, change);
        return;
    }
    if is_coming_up(claim, node, now) {
        step.wake_at(node.created + PATIENCE);
        return;
    }
    if !view.nominated {
        step.wants_nominations = true;
        return;
    }
    let is_unregistered = |taint: &Taint| taint.key.as_ref() == UNREGISTERED_TAINT;
    if !node.taints.iter().any(is_unregistered) {
        let words = format!(
            "node {} has come without the taint {UNREGISTERED_TAINT}: pods may have been bound to it before it was ready for them",
            node.name
        );
        let reason = EventReason::UnregisteredTaintMissing;
        step.report(view.key(), Purpose::Register, reason, words);
    }
    let change = joined(claim, node);
    step.change_node(node, Purpose::Register, Some(version), change);
}

/// `true` if a node is waited for before it joins: a moment ago it was made, and it is not ready yet or still carries what passes by
/// itself.
pub fn is_coming_up(claim: &NodeClaim, node: &Node, now: Timestamp) -> bool {
    if now >= node.created + PATIENCE {
        return false;
    }
    let taints = merged_taints(claim, node);
    let lack = lack(claim, node, &taints);
    matches!(lack, Some(Lack::Readiness | Lack::EphemeralTaint(_)))
}

/// A node that has joined before and does not say so: it was deleted and its kubelet has made it anew, or somebody took its label
/// off. It joins once more; whether it has to.
pub(super) fn rejoin(view: &ClaimView<'_>, step: &mut Step) -> bool {
    if view.claim.phase() < ClaimPhase::Registered {
        return false;
    }
    let node = view.only_node();
    let Some((node, version)) = node.filter(|(node, _)| !is_marked(node, labels::REGISTERED))
    else {
        return false;
    };
    let change = joined(view.claim, node);
    step.change_node(node, Purpose::Register, Some(version), change);
    true
}

/// A node that has joined: our finalizer, its claim as owner, and what the claim says of labels, annotations and taints. One that lacks
/// nothing then is complete as well.
fn joined(claim: &NodeClaim, node: &Node) -> NodeChange {
    let taints = merged_taints(claim, node);
    let mut own = claim.labels.clone();
    // Claims that others made may lack it, and by it a node is known as ours.
    let class = own.entry(Arc::from(claim.class.label_key()));
    class.or_insert_with(|| Arc::clone(&claim.class.name));
    let mut mark = |label| own.insert(Arc::from(label), Arc::from("true"));
    mark(labels::REGISTERED);
    if lack(claim, node, &taints).is_none() {
        mark(labels::INITIALIZED);
    }
    NodeChange {
        owner: Some((claim.name.clone(), claim.uid.clone())),
        labels: own,
        annotations: claim.annotations.clone(),
        taints: Some(taints),
        finalizer: Finalizer::Set,
    }
}

/// The node's taints without that of unregistered ones, and the claim's that it does not have by key and effect, unless the program
/// that started it says that it is complete.
fn merged_taints(claim: &NodeClaim, node: &Node) -> Vec<Taint> {
    let mut taints: Vec<Taint> = node
        .taints
        .iter()
        .filter(|taint| taint.key.as_ref() != UNREGISTERED_TAINT)
        .cloned()
        .collect();
    if is_marked(node, labels::DO_NOT_SYNC_TAINTS) {
        return taints;
    }
    for taint in claim.taints.iter().chain(&claim.startup_taints) {
        let there = |have: &Taint| have.key == taint.key && have.effect == taint.effect;
        if !taints.iter().any(there) {
            taints.push(taint.clone());
        }
    }
    taints
}
