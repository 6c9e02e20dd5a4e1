//! Nodes of ours that are left without a claim: somebody took its finalizer off by hand, or made the node's.
//!
//! One that was asked to go is drained like any other, its volumes are waited for, its instance is ended, and then it is let go. Nothing bounds the drain:
//! the time allowed for it went with the claim. One that is not deleting is left alone: its claim is its owner, so that the
//! cluster's garbage collection asks it to go once the claim is certain to be gone.

use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{CloudCall, Purpose};
use plimsoll_model::{Node, Pod, Readiness, Version};

use super::{Attached, Instance, Step, drain};

use super::terminate::SETTLE;

/// A node without a claim, the pods bound to it, and what the cloud last said of its instance.
#[derive(Clone, Debug)]
pub struct OrphanView<'a> {
    /// The node.
    pub node: &'a Node,
    /// Version of the node at the API server.
    pub version: Version,
    /// Pods bound to it.
    pub pods: Vec<&'a Pod>,
    /// Volumes attached to it.
    pub attached: Attached<'a>,
    /// The cloud's last word about its instance.
    pub instance: Instance,
}

/// The orders that are due for a node without a claim that was asked to go, and the instant to look at it again.
pub fn step_orphan(view: &OrphanView<'_>, now: Timestamp) -> Step {
    let mut step = Step::default();
    let node = view.node;
    let Some(begun) = node.deleting else {
        return step;
    };
    if !step.begin_drain(node, view.version) {
        return step;
    }
    let silent = node.readiness() != Readiness::Ready;
    if let Some(instance) = node.provider_id.clone()
        && silent
        && view.instance == Instance::Unasked
    {
        step.call_cloud_for(node, Purpose::Find, CloudCall::Get { instance });
    }
    let lost = silent && view.instance == Instance::Gone;
    if !lost && !drain::evict(&view.pods, None, now, &mut step) {
        return step;
    }
    if now < begun + SETTLE && view.instance == Instance::Unasked {
        step.wake_at(begun + SETTLE);
        return step;
    }
    let is_ending = matches!(view.instance, Instance::Ending | Instance::Gone);
    if !is_ending && !view.attached.waited_for(&view.pods, now).is_empty() {
        return step;
    }
    match &node.provider_id {
        Some(instance) if view.instance != Instance::Gone => {
            let instance = instance.clone();
            let call = CloudCall::Terminate { instance };
            step.call_cloud_for(node, Purpose::Terminate, call);
        }
        _ => step.release_node(node),
    }
    step
}
