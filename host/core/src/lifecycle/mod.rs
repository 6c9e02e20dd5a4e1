//! A claim's way from asked for to gone, one step at a time.
//!
//! [`step`] looks at a claim, its instance's node and the pods there, and says what to ask for next. It remembers nothing:
//! asked twice it says the same, and after a restart it goes on from what the objects say. The engine keeps one order per
//! object and purpose under way and holds back what failed a moment ago.
//!
//! ```text
//! created -> launch -> mark launched -> node appears -> nominate -> register -> mark -> initialise -> mark
//!      any time: late, expired, interrupted, disrupted or its node deleted -> delete -> (terminate) drain -> end instance -> release
//! ```

mod initialize;
mod launch;
mod liveness;
mod register;
mod want;

use std::sync::Arc;

pub use launch::{LAUNCH_ORDER_ANNOTATION, MAX_LAUNCH_OPTIONS, launch_order_text, planned_option};
pub(crate) use launch::{launch_option, sold};
pub use liveness::{LAUNCH_TIMEOUT, REGISTRATION_TIMEOUT};
pub use want::{Step, Want};

use crate::action::Machine;
use crate::model::{ClaimPhase, Effect, Node, NodeClaim, Pod, Taint};
use crate::state::{Market, Version};
use crate::terminate;
use crate::time::Timestamp;

/// Key of the taint of nodes that have not registered.
pub const UNREGISTERED_TAINT: &str = "karpenter.sh/unregistered";
/// Key of the taint of nodes that are on their way out.
pub const DISRUPTED_TAINT: &str = "karpenter.sh/disrupted";

/// What is known about one claim.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The claim.
    pub claim: &'a Arc<NodeClaim>,
    /// Its version.
    pub version: Version,
    /// Its node, with its version.
    pub node: Option<(&'a Node, Version)>,
    /// Whether more than one node bears its provider id: nothing more is done for such a claim.
    pub ambiguous: bool,
    /// Pods bound to its node.
    pub pods: Vec<&'a Pod>,
    /// The instance the cloud gave, where its claim does not say so yet.
    pub machine: Option<&'a Machine>,
    /// What the cloud last said about its instance.
    pub instance: Instance,
    /// Why it should go now, decided elsewhere: interrupted, disrupted.
    pub must_go: Option<&'static str>,
    /// Whether a command is moving it: its taint is meant.
    pub moving: bool,
    /// Whether every pod promised to its node carries the nomination, or nominations are off or overdue.
    pub nominated: bool,
    /// What can be bought.
    pub market: &'a Market,
}

/// What the cloud last said about a claim's instance; asked again after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instance {
    /// Nothing that would change what is done.
    #[default]
    Unasked,
    /// A launch was sent and its answer lost: there may be one.
    Unsure,
    /// It is on its way out.
    Ending,
    /// There is none.
    Gone,
}

/// What to do next for a claim.
pub fn step(view: &View<'_>, now: Timestamp) -> Step {
    let mut step = Step::default();
    if view.claim.deleting.is_some() {
        terminate::finalize(view, now, &mut step);
        return step;
    }
    let node = view.node.filter(|_| !view.ambiguous);
    if node.is_some_and(|(node, _)| node.deleting.is_some()) {
        step.delete_claim(view, "its node was asked to go");
        return step;
    }
    if let Some(reason) = view.must_go {
        step.delete_claim(view, reason);
        return step;
    }
    if liveness::check(view, now, &mut step) {
        return step;
    }
    match view.claim.phase {
        ClaimPhase::Created => launch::launch(view, &mut step),
        ClaimPhase::Launched => register::register(view, &mut step),
        ClaimPhase::Registered => initialize::initialize(view, &mut step),
        ClaimPhase::Initialized => heal(view, &mut step),
    }
    step
}

/// A node that is not going must not carry the taint of those that go: a restart may have left it there.
fn heal(view: &View<'_>, step: &mut Step) {
    let Some((node, version)) = view.node else {
        return;
    };
    if !view.moving && node.deleting.is_none() && node.taints.iter().any(is_disrupted) {
        let taints = node.taints.iter().filter(|taint| !is_disrupted(taint));
        step.untaint(node, version, taints.cloned().collect());
    }
}

/// The taint of nodes on their way out.
pub(crate) fn leaving_taint() -> Taint {
    Taint {
        key: Arc::from(DISRUPTED_TAINT),
        value: Arc::from(""),
        effect: Effect::NoSchedule,
    }
}

/// Whether a taint is that of nodes on their way out.
pub fn is_disrupted(taint: &Taint) -> bool {
    taint.key.as_ref() == DISRUPTED_TAINT
}
