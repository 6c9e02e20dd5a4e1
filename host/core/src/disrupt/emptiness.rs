//! Nodes that nothing but daemons uses, once they have been quiet for long enough.
//!
//! A node is proposed when its pool's `consolidateAfter` has passed since its last pod event, and taken only if it is still
//! so [`VALIDATION`] later; a pod that lands in between cancels it. Then the node is tainted, looked at once more, and its
//! claim is deleted. Nodes with a live promise are not empty: their pods are on the way.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::ClaimName;
use crate::model::{ClaimPhase, Node, NodeClaim, NodePool, Pod};
use crate::state::is_reschedulable;
use crate::time::{Span, Timestamp};

/// How long a proposal must hold before it is carried out, as the incumbent waits.
pub const VALIDATION: Span = Span::from_secs(15);
/// How often proposals are looked at again while budgets hold them back.
pub const POLL: Span = Span::from_secs(10);
const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

/// When an empty node may be proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is in use, or its pool never consolidates.
    No,
    /// If nothing happens until then.
    From(Timestamp),
}

/// Whether and from when a node may go for being empty. `last_event` is when a pod last came, ended or began to end there.
pub fn verdict(
    pool: &NodePool,
    claim: &NodeClaim,
    node: &Node,
    pods: &[&Pod],
    last_event: Option<Timestamp>,
    now: Timestamp,
) -> Verdict {
    let held = node
        .annotations
        .get(DO_NOT_DISRUPT)
        .is_some_and(|value| value.as_ref() == "true")
        || pods.iter().any(|pod| pod.is_protected(now));
    let in_use = pods.iter().any(|pod| is_reschedulable(pod));
    let going = claim.deleting.is_some() || node.deleting.is_some();
    let settled = claim.phase == ClaimPhase::Initialized;
    match pool.disruption.consolidate_after {
        Some(after) if settled && !going && !held && !in_use && pool.replicas.is_none() => {
            let quiet_since = last_event.map_or(claim.phase_since, |at| at.max(claim.phase_since));
            Verdict::From(quiet_since + after)
        }
        _ => Verdict::No,
    }
}

/// Where each empty node stands on its way out.
#[derive(Clone, Debug, Default)]
pub struct Proposals {
    /// Quiet for long enough, not yet proposed: their pool's budget may not allow it.
    pub ripe: BTreeSet<ClaimName>,
    /// Proposed: when they are looked at again.
    pub proposed: BTreeMap<ClaimName, Timestamp>,
    /// Validated: being tainted, then deleted.
    pub chosen: BTreeSet<ClaimName>,
}

impl Proposals {
    /// The node is no longer empty, or no more.
    pub fn cancel(&mut self, claim: &ClaimName) {
        self.ripe.remove(claim);
        self.proposed.remove(claim);
        self.chosen.remove(claim);
    }

    /// The node is empty and has been quiet for long enough.
    pub fn ripen(&mut self, claim: &ClaimName) {
        if !self.proposed.contains_key(claim) && !self.chosen.contains(claim) {
            self.ripe.insert(claim.clone());
        }
    }

    /// Whether anything waits for the next look.
    pub fn is_idle(&self) -> bool {
        self.ripe.is_empty() && self.proposed.is_empty()
    }
}
