//! All that a step of a claim's life looks at: its object, node and pods, and what the cloud last said.

use std::sync::Arc;

use plimsoll_base::ids::LaunchToken;
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{LaunchBatch, LaunchedInstance, ObjectKey};
use plimsoll_model::catalogue::Market;
use plimsoll_model::{Node, NodeClaim, Pod, Version};

use super::{Attached, DeletionCause, DisruptionFacts, FailedLaunch, PendingLaunch, UnhealthyNode};

/// A claim with its node, its instance and the market.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and no two exclude one another"
)]
pub struct ClaimView<'a> {
    /// The claim.
    pub claim: &'a Arc<NodeClaim>,
    /// Version of the claim at the API server.
    pub version: Version,
    /// Its node, with its version.
    pub node: Option<(&'a Node, Version)>,
    /// `true` if more than one node bears its provider id: nothing more is done for such a claim.
    pub ambiguous: bool,
    /// Pods bound to its node.
    pub pods: Vec<&'a Pod>,
    /// Volumes attached to its node.
    pub attached: Attached<'a>,
    /// The instance the cloud gave, where its claim does not say so yet.
    pub machine: Option<&'a LaunchedInstance>,
    /// Its place in a launch, where it was given one and the launch has not ended for it.
    pub pending_launch: Option<&'a PendingLaunch>,
    /// The launch that has ended for it without an instance, if any did.
    pub ended_launch: Option<&'a LaunchToken>,
    /// `true` if its instance was named after it and its node a moment ago.
    pub is_tagged: bool,
    /// The cloud's last word about its instance.
    pub instance: Instance,
    /// Why its last launch failed; `None` where it has not, or that is not known any more.
    pub failure: Option<&'a FailedLaunch>,
    /// When a pod last came to its node or left it, as far as that was seen.
    pub last_pod_event: Option<Timestamp>,
    /// `true` if what is seen is what is there; otherwise a claim that has reached its age waits.
    pub is_fresh: bool,
    /// Why it should go now, decided elsewhere: interrupted, disrupted.
    pub must_go: Option<DeletionCause>,
    /// Its node, if unhealthy; `None` otherwise, and where nodes are not repaired.
    pub unhealthy: Option<UnhealthyNode>,
    /// `true` if a command is moving it: its taint is meant.
    pub moving: bool,
    /// `true` if every pod promised to its node carries the nomination, or nominations are off or overdue.
    pub nominated: bool,
    /// Facts about its disruption; `None` where they are not known, for want of its pool.
    pub disruption: Option<DisruptionFacts>,
    /// Hash of its pool's template, where the pool does not bear that of our version yet; `None` where it does, or is gone.
    pub migrated_hash: Option<Arc<str>>,
    /// Catalogue, avoided offerings and learned sizes.
    pub market: &'a Market,
}

impl<'a> ClaimView<'a> {
    /// The claim, as orders and reports name it.
    pub(super) fn key(&self) -> ObjectKey {
        ObjectKey::Claim(self.claim.name.clone())
    }

    /// Its node, with its version; `None` where there is none, or more than one.
    pub(super) fn only_node(&self) -> Option<(&'a Node, Version)> {
        self.node.filter(|_| !self.ambiguous)
    }

    /// The launch that is written on the claim, unless it has ended for it: it may have given it an instance.
    pub(super) fn open_launch(&self) -> Option<LaunchToken> {
        let token = LaunchBatch::of(self.claim)?.token;
        (self.ended_launch != Some(&token)).then_some(token)
    }
}

/// `true` if a label says `true`.
pub(super) fn is_marked(node: &Node, label: &str) -> bool {
    node.label(label)
        .is_some_and(|value| value.as_ref() == "true")
}

/// The cloud's last word about a claim's instance; asked again after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instance {
    /// Nothing that would change what is done.
    #[default]
    Unasked,
    /// Its claim was asked for and the answer lost: there may be one.
    Unsure,
    /// It is deleting.
    Ending,
    /// There is none.
    Gone,
}
