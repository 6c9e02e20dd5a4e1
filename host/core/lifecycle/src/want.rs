//! The wishes of a step, before they become orders.

use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, LaunchToken, Uid};
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{
    ClaimChange, CloudCall, Finalizer, NodeChange, ObjectKey, Purpose, Request, Write,
};
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::{Node, NodeClaim, Taint, Version};

use super::{ClaimView, DeletionCause};

/// Value of the label by which load balancers are kept off a node: who has set it.
const OURS: &str = "karpenter";

/// One thing asked for. It becomes an order unless one for the same object and purpose is under way or held back.
#[derive(Clone, Debug, PartialEq)]
pub struct Want {
    /// The object that the order is about.
    pub object: ObjectKey,
    /// Uid of the claim or node, once it is seen.
    pub uid: Option<Uid>,
    /// Purpose of the order.
    pub purpose: Purpose,
    /// The version that the object must still have.
    pub version: Option<Version>,
    /// The call that carries the order out.
    pub request: Request,
}

/// Orders of a step, and the instant to look again if nothing happens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Asked for, in order.
    pub wants: Vec<Want>,
    /// Need of its launch, which it shares with other claims.
    pub launch: Option<LaunchWish>,
    /// When to look again.
    pub wake: Option<Timestamp>,
    /// `true` if the node could join now, but for pods that are to be nominated to it.
    pub wants_nominations: bool,
    /// `true` if the claim has reached its age and stays only because the view is stale.
    pub is_expired: bool,
    /// `true` if the claim goes since its node has not come in time.
    pub is_late: bool,
    /// The cause for which the claim is asked to go; `None` where it is not.
    pub deletes: Option<DeletionCause>,
    /// Reports to people.
    pub reports: Vec<StepReport>,
}

/// A report that goes out with an order, and only when that is given: so it is told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// The object that it is about.
    pub object: ObjectKey,
    /// Purpose of the order.
    pub with: Purpose,
    /// Reason, as events name it.
    pub reason: EventReason,
    /// In words.
    pub words: String,
}

/// Need that a claim has of a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum LaunchWish {
    /// A place in one, with these ways to buy.
    Join(Vec<LaunchOption>),
    /// The answer of the one that is written on it.
    Ask(LaunchToken),
}

impl Step {
    /// Asks to look again at a time, unless an earlier one is asked for.
    pub fn wake_at(&mut self, at: Timestamp) {
        self.wake = Some(self.wake.map_or(at, |have| have.min(at)));
    }

    /// Tells of an object when the order of a purpose is given.
    pub fn report(&mut self, object: ObjectKey, with: Purpose, reason: EventReason, words: String) {
        self.reports.push(StepReport {
            object,
            with,
            reason,
            words,
        });
    }

    /// Asks for a claim to be made or read that was not seen yet, so that it has no uid.
    pub fn write_unseen(&mut self, claim: &ClaimName, purpose: Purpose, write: Write) {
        self.wants.push(Want {
            object: ObjectKey::Claim(claim.clone()),
            uid: None,
            purpose,
            version: None,
            request: Request::Write(write),
        });
    }

    fn want_of_claim(
        &mut self,
        claim: &NodeClaim,
        purpose: Purpose,
        version: Option<Version>,
        request: Request,
    ) {
        self.wants.push(Want {
            object: ObjectKey::Claim(claim.name.clone()),
            uid: Some(claim.uid.clone()),
            purpose,
            version,
            request,
        });
    }

    fn want_of_node(
        &mut self,
        node: &Node,
        purpose: Purpose,
        version: Option<Version>,
        request: Request,
    ) {
        self.wants.push(Want {
            object: ObjectKey::Node(node.name.clone()),
            uid: Some(node.uid.clone()),
            purpose,
            version,
            request,
        });
    }

    /// Asks for a call to the cloud about a claim.
    pub fn call_cloud(&mut self, claim: &NodeClaim, purpose: Purpose, call: CloudCall) {
        self.want_of_claim(claim, purpose, None, Request::Cloud(call));
    }

    /// Asks for a call to the cloud about a node without a claim.
    pub fn call_cloud_for(&mut self, node: &Node, purpose: Purpose, call: CloudCall) {
        self.want_of_node(node, purpose, None, Request::Cloud(call));
    }

    /// Asks the claim to go.
    pub fn delete_claim(&mut self, view: &ClaimView<'_>, cause: DeletionCause) {
        let name = &view.claim.name;
        let write = Write::DeleteClaim(name.clone());
        let request = Request::Write(write);
        self.want_of_claim(view.claim, Purpose::DeleteClaim, None, request);
        if !cause.is_told() {
            let words = format!("claim {name} terminates: {}", cause.because());
            let reason = EventReason::Deleting;
            self.report(view.key(), Purpose::DeleteClaim, reason, words);
        }
        self.deletes = Some(cause);
    }

    /// Asks a node to go.
    pub fn delete_node(&mut self, node: &Node) {
        let write = Write::DeleteNode(node.name.clone());
        self.want_of_node(node, Purpose::DeleteNode, None, Request::Write(write));
    }

    /// Asks for a change of the claim as it is seen.
    pub fn change_claim(&mut self, view: &ClaimView<'_>, purpose: Purpose, change: ClaimChange) {
        let write = Write::ChangeClaim(view.claim.name.clone(), Box::new(change));
        let request = Request::Write(write);
        self.want_of_claim(view.claim, purpose, Some(view.version), request);
    }

    /// Lets a claim's object go, whatever has become of it meanwhile. One that shows no instance must still be as it was seen:
    /// a launch may have been written on it since.
    pub fn release_claim(&mut self, view: &ClaimView<'_>) {
        let claim = view.claim;
        let change = ClaimChange {
            finalizer: Finalizer::Removed,
            ..ClaimChange::default()
        };
        let write = Write::ChangeClaim(claim.name.clone(), Box::new(change));
        let version = claim.provider_id.is_none().then_some(view.version);
        self.want_of_claim(claim, Purpose::ReleaseClaim, version, Request::Write(write));
    }

    /// Asks for a change of a node, at this version if it matters.
    pub fn change_node(
        &mut self,
        node: &Node,
        purpose: Purpose,
        version: Option<Version>,
        change: NodeChange,
    ) {
        let write = Write::ChangeNode(node.name.clone(), Box::new(change));
        self.want_of_node(node, purpose, version, Request::Write(write));
    }

    /// Lets a node's object go, whatever has become of it meanwhile.
    pub fn release_node(&mut self, node: &Node) {
        let change = NodeChange {
            finalizer: Finalizer::Removed,
            ..NodeChange::default()
        };
        self.change_node(node, Purpose::ReleaseNode, None, change);
    }

    /// `true` if a change of the claim itself is asked for.
    pub(super) fn changes_claim(&self) -> bool {
        let mut wants = self.wants.iter();
        wants.any(|want| matches!(want.request, Request::Write(Write::ChangeClaim(..))))
    }

    /// Asks for a node's taint of leaving to be taken off.
    pub fn untaint(&mut self, node: &Node, version: Version, taints: Vec<Taint>) {
        self.change_node(node, Purpose::Untaint, Some(version), tainted(taints));
    }

    /// Asks for a node to be tainted as leaving; whether it is already.
    pub fn taint(&mut self, node: &Node, version: Version) -> bool {
        self.set_leaving(node, version, Labels::new())
    }

    /// Asks for a node that goes for good to be tainted as leaving, and for load balancers to send it nothing more; whether it is tainted
    /// already.
    pub fn begin_drain(&mut self, node: &Node, version: Version) -> bool {
        let key = labels::EXCLUDED_FROM_LOAD_BALANCERS;
        let is_said = node.label(key).is_some_and(|value| &**value == OURS);
        let own = [(Arc::from(key), Arc::from(OURS))];
        let own = own.into_iter().filter(|_| !is_said);
        self.set_leaving(node, version, own.collect())
    }

    fn set_leaving(&mut self, node: &Node, version: Version, labels: Labels) -> bool {
        let is_tainted = node.taints.iter().any(plimsoll_model::is_disrupted);
        let mut change = NodeChange {
            labels,
            ..NodeChange::default()
        };
        if !is_tainted {
            let mut taints = node.taints.clone();
            taints.push(plimsoll_model::leaving_taint());
            change.taints = Some(taints);
        }
        if change != NodeChange::default() {
            // All taints are written at once: none that has come since must be lost.
            let version = (!is_tainted).then_some(version);
            self.change_node(node, Purpose::Taint, version, change);
        }
        is_tainted
    }
}

fn tainted(taints: Vec<Taint>) -> NodeChange {
    NodeChange {
        taints: Some(taints),
        ..NodeChange::default()
    }
}
