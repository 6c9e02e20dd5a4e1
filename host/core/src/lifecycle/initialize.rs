//! Initialisation: a node is complete once ready, free of start-up and passing taints, and reporting every resource its claim counts on.

use super::view::is_marked;
use super::{ClaimView, Step};
use crate::action::{ClaimMark, Purpose, Write};
use crate::labels;
use crate::model::{Node, NodeClaim, Readiness};
use crate::snapshot::is_ephemeral;

pub(super) fn initialize(view: &ClaimView<'_>, step: &mut Step) {
    let claim = view.claim;
    let Some((node, version)) = view.only_node() else {
        return;
    };
    if is_marked(node, labels::INITIALIZED) {
        let write = Write::MarkClaim(claim.name.clone(), ClaimMark::Initialized);
        let purpose = Purpose::MarkInitialized;
        step.write_claim(&claim.name, purpose, Some(view.version), write);
    } else if is_complete(claim, node) {
        let write = Write::InitializeNode(node.name.clone());
        step.write_node(&node.name, Purpose::Initialize, Some(version), write);
    }
}

fn is_complete(claim: &NodeClaim, node: &Node) -> bool {
    let starting = node.taints.iter().any(|taint| {
        is_ephemeral(taint)
            || claim
                .startup_taints
                .iter()
                .any(|start| start.key == taint.key && start.effect == taint.effect)
    });
    let counted = claim
        .requests
        .iter()
        .all(|(name, amount)| amount == 0 || node.allocatable.get(name) > 0);
    node.ready == Readiness::Ready && !starting && counted
}
