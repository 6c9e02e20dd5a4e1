//! A claim's way from asked for to gone, one step at a time.
//!
//! [`step`] looks at a claim, its instance's node and the pods there, and says what to ask for next. It remembers nothing:
//! asked twice it says the same, and after a restart it goes on from what the objects say. The engine keeps one order per
//! object and purpose under way and holds back what failed a moment ago.
//!
//! ```text
//! created -> hold (where others made it) -> mark launching -> launch -> mark launched -> node appears
//!      -> nominate -> register -> mark -> initialise -> mark
//!      any time: late, expired, unhealthy, interrupted (and tainted), disrupted or its node deleted -> delete
//!      -> (terminate) drain -> volumes detached -> end instance -> release
//! ```

mod consistency;
mod deletion;
mod detach;
mod disruption;
pub mod drain;
mod hash;
mod hydrate;
mod initialize;
mod interruption;
mod launch;
mod liveness;
mod orphan;
mod pod_event;
mod register;
mod repair;
mod standing;
mod tag;
pub mod terminate;
mod view;
mod want;

pub use deletion::DeletionCause;
pub use detach::Attached;
pub use disruption::{DisruptionFacts, DriftFinding};
pub use interruption::{Interruption, InterruptionFacts};
pub use launch::written_options;
pub use launch::{FailedLaunch, PendingLaunch};
pub use liveness::{LAUNCH_TIMEOUT, REGISTRATION_TIMEOUT};
pub use orphan::{OrphanView, step_orphan};
pub use register::is_coming_up;
pub use repair::{HeldRepair, UnhealthyNode, first_due, most_unhealthy};
pub use standing::next_condition;
use view::is_marked;
pub use view::{ClaimView, Instance};
pub use want::{LaunchWish, Step, StepReport, Want};

use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{ClaimChange, Finalizer, Purpose};
use plimsoll_model::{ClaimPhase, is_disrupted};

/// Key of the taint of nodes that have not registered.
pub const UNREGISTERED_TAINT: &str = "karpenter.sh/unregistered";

/// The orders that are due for a claim, and the instant to look at it again.
pub fn step(view: &ClaimView<'_>, now: Timestamp) -> Step {
    let mut step = Step::default();
    advance(view, now, &mut step);
    standing::tell(view, now, &mut step);
    // Before the condition of drift, by which it goes.
    hash::migrate(view, &mut step);
    hydrate::hydrate(view, &mut step);
    disruption::tell(view, now, &mut step);
    pod_event::tell(view, now, &mut step);
    step
}

fn advance(view: &ClaimView<'_>, now: Timestamp, step: &mut Step) {
    if view.claim.deleting.is_some() {
        terminate::finalize(view, now, step);
        return;
    }
    if !view.claim.held {
        let change = ClaimChange {
            finalizer: Finalizer::Set,
            ..ClaimChange::default()
        };
        step.change_claim(view, Purpose::Hold, change);
        return;
    }
    let node = view.node.filter(|_| !view.ambiguous);
    if node.is_some_and(|(node, _)| node.deleting.is_some()) {
        step.delete_claim(view, DeletionCause::NodeDeleted);
        return;
    }
    if let Some(cause) = view.must_go {
        if !interruption::drain_at_once(view, cause, now, step) {
            step.delete_claim(view, cause);
            interruption::keep_pods_off(view, cause, step);
        }
        return;
    }
    if repair::check(view, now, step) || liveness::check(view, now, step) {
        return;
    }
    let is_understood = view.claim.unread.problem.is_none();
    if is_understood && register::rejoin(view, step) {
        return;
    }
    tag::tag(view, step);
    match view.claim.phase() {
        ClaimPhase::Created | ClaimPhase::Launched | ClaimPhase::Registered if !is_understood => {}
        ClaimPhase::Created => launch::launch(view, step),
        ClaimPhase::Launched => register::register(view, now, step),
        ClaimPhase::Registered => initialize::initialize(view, step),
        ClaimPhase::Initialized => heal(view, step),
    }
}

/// A node that is not going must not carry the taint of those that go: a restart may have left it there. One that was made anew
/// is complete again once it lacks nothing.
fn heal(view: &ClaimView<'_>, step: &mut Step) {
    let Some((node, version)) = view.node else {
        return;
    };
    let is_complete = initialize::lack(view.claim, node, &node.taints).is_none();
    if is_complete && !is_marked(node, labels::INITIALIZED) {
        initialize::initialize(view, step);
        return;
    }
    if !view.moving && node.deleting.is_none() && node.taints.iter().any(is_disrupted) {
        let taints = node.taints.iter().filter(|taint| !is_disrupted(taint));
        step.untaint(node, version, taints.cloned().collect());
    }
}
