//! Letting a node join: its claim's labels, annotations and taints, and then pods.
//!
//! Nominations come first. The scheduler keeps room for nominated pods, so they must stand before the node becomes usable;
//! otherwise whatever waits takes the room of what was planned.

use std::sync::Arc;

use super::view::is_marked;
use super::{ClaimView, Step, UNREGISTERED_TAINT};
use crate::action::{ClaimMark, NodeIdentity, Purpose, Write};
use crate::labels;
use crate::model::{Node, NodeClaim, Taint};

pub(super) fn register(view: &ClaimView<'_>, step: &mut Step) {
    let claim = view.claim;
    let Some((node, version)) = view.only_node() else {
        return;
    };
    if is_marked(node, labels::REGISTERED) {
        let mark = ClaimMark::Registered(node.name.clone());
        let write = Write::MarkClaim(claim.name.clone(), mark);
        let purpose = Purpose::MarkRegistered;
        step.write_claim(&claim.name, purpose, Some(view.version), write);
        return;
    }
    if !view.nominated {
        return;
    }
    let write = Write::RegisterNode(Box::new(identity(claim, node)));
    step.write_node(&node.name, Purpose::Register, Some(version), write);
}

fn identity(claim: &NodeClaim, node: &Node) -> NodeIdentity {
    let mut own = claim.labels.clone();
    own.insert(Arc::from(labels::REGISTERED), Arc::from("true"));
    NodeIdentity {
        node: node.name.clone(),
        claim: claim.name.clone(),
        claim_uid: claim.uid.clone(),
        labels: own,
        annotations: claim.annotations.clone(),
        taints: merged_taints(claim, node),
    }
}

/// The node's taints without that of unregistered ones, and the claim's that it does not have by key and effect.
fn merged_taints(claim: &NodeClaim, node: &Node) -> Vec<Taint> {
    let mut taints: Vec<Taint> = node
        .taints
        .iter()
        .filter(|taint| taint.key.as_ref() != UNREGISTERED_TAINT)
        .cloned()
        .collect();
    for taint in claim.taints.iter().chain(&claim.startup_taints) {
        let there = |have: &Taint| have.key == taint.key && have.effect == taint.effect;
        if !taints.iter().any(there) {
            taints.push(taint.clone());
        }
    }
    taints
}
