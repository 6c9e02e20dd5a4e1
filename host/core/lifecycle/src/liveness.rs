//! Claims that take too long, or have lived long enough.
//!
//! Limits are Karpenter's: five minutes to launch, fifteen to join, each from the last transition of the condition that says
//! so, which is unknown from the claim's creation; after that the claim goes and its pods are planned again. `expireAfter`
//! counts from creation, and waits for a fresh view.

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{ClaimPhase, ConditionType};

use super::{ClaimView, DeletionCause, Step};

/// How long a claim may be without an instance.
pub const LAUNCH_TIMEOUT: Span = Span::from_secs(300);
/// How long a claim may be without a node.
pub const REGISTRATION_TIMEOUT: Span = Span::from_secs(900);

/// Asks an overdue claim to go; whether it is overdue.
pub(super) fn check(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) -> bool {
    let claim = view.claim;
    let since = |kind| {
        claim
            .conditions
            .get(kind)
            .map_or(claim.created, |own| own.since)
    };
    let mut limits = Vec::new();
    let joins = claim.phase() < ClaimPhase::Registered;
    // The node of a claim that is not understood is kept from joining: its instance is not to blame.
    let may_join = joins && claim.unread.problem.is_none();
    if claim.phase() == ClaimPhase::Created && view.machine.is_none() {
        let end = since(ConditionType::Launched) + LAUNCH_TIMEOUT;
        limits.push((end, DeletionCause::LaunchTimeout));
    }
    if may_join {
        let end = since(ConditionType::Registered) + REGISTRATION_TIMEOUT;
        limits.push((end, DeletionCause::RegistrationTimeout));
    }
    let expiry = claim.expire_after.map(|age| claim.created + age);
    match expiry {
        Some(end) if now >= end && !view.is_fresh => step.is_expired = true,
        Some(end) => limits.push((end, DeletionCause::Expired)),
        None => {}
    }
    for (end, cause) in limits {
        if now >= end {
            step.is_late = joins && Some(end) != expiry;
            step.delete_claim(view, cause);
            return true;
        }
        step.wake_at(end);
    }
    false
}
