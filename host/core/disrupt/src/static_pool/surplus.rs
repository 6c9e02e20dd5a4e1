//! The order in which a static pool gives up nodes that it has too many of.
//!
//! The order is Karpenter's: claims without an instance; empty nodes; then the others, those with a pod that asks to be
//! left alone last, by what moving their pods costs times what is left of their life. Among equals, those that are not ready
//! go before those that are, the drifted before the others, and the older before the younger.

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{ClaimPhase, MoveCost, NodeClaim, OwnerKind, Pod};

/// A node that might go, or a claim without one.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// Its claim.
    pub claim: &'a NodeClaim,
    /// The pods bound to it.
    pub pods: Vec<&'a Pod>,
    /// `true` if it no longer is what its pool says.
    pub drifted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Unlaunched,
    Empty,
    /// `true` if a pod asks not to be disrupted, then the cost of moving its pods times the share of its life that is left.
    Used(bool, i128),
}

/// So many of the members, those that go first.
pub fn leaving(mut members: Vec<Member<'_>>, excess: u32, now: Timestamp) -> Vec<ClaimName> {
    members.sort_by_cached_key(|member| {
        let claim = member.claim;
        let ready = claim.phase() == ClaimPhase::Initialized;
        let name = claim.name.clone();
        (
            rank(member, now),
            ready,
            !member.drifted,
            claim.created,
            name,
        )
    });
    let first = members.into_iter().take(excess as usize);
    first.map(|member| member.claim.name.clone()).collect()
}

fn rank(member: &Member<'_>, now: Timestamp) -> Rank {
    if member.claim.provider_id.is_none() {
        return Rank::Unlaunched;
    }
    let protected = member.pods.iter().any(|pod| pod.is_protected(now));
    let daemons_only = member
        .pods
        .iter()
        .all(|pod| pod.is_owned_by(OwnerKind::DaemonSet));
    if daemons_only && !protected {
        return Rank::Empty;
    }
    let pods = member.pods.iter().map(|pod| MoveCost::of_pod(pod));
    let cost = i128::from(pods.sum::<MoveCost>().parts());
    let (left, whole) = life(member.claim, now);
    Rank::Used(protected, cost * i128::from(left) / i128::from(whole))
}

/// Rest of a claim's life and the whole of it, in milliseconds; 1 and 1 where it has no end.
fn life(claim: &NodeClaim, now: Timestamp) -> (i64, i64) {
    let whole = claim.expire_after.map_or(0, Span::millis);
    if whole <= 0 {
        return (1, 1);
    }
    let left = whole - now.since(claim.created).millis();
    (left.clamp(0, whole), whole)
}
