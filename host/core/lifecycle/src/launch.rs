//! Getting an instance for a claim, at most one.
//!
//! Claims that ask for the same are launched together, under a token that is written on each before the call: asking again with it,
//! after a crash or a lost answer, gives the same instances. What the cloud gave is written on the claim; until that is seen, the
//! answer is kept by the engine or asked for again.
//! The order in which offerings are tried was decided by the plan and is written on the claim.
//!
//! Nothing is launched before our finalizer is on the claim (`held`), so that no claim is removed while its instance runs.

use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_model::action::{ClaimChange, LaunchBatch, Purpose};
use plimsoll_model::catalogue::{
    Catalogue, LAUNCH_ORDER_ANNOTATION, LAUNCH_ORDER_BY_ANNOTATION, Market, OrderedBy, launch_order,
};
use plimsoll_model::plan::{LaunchOption, launch_order_text, of_one_launch, option, sold};
use plimsoll_model::{ClaimPhase, NodeClaim};

use super::standing::standing;
use super::{ClaimView, DeletionCause, LaunchWish, Step};

pub(super) fn launch(view: &ClaimView<'_>, step: &mut Step) {
    let claim = view.claim;
    if let Some(machine) = view.machine {
        let change = ClaimChange {
            machine: Some(Box::new(machine.clone())),
            ..ClaimChange::saying(standing(view, ClaimPhase::Launched))
        };
        step.change_claim(view, Purpose::MarkLaunched, change);
        return;
    }
    let written = LaunchBatch::of(claim);
    if let Some(pending_launch) = view
        .pending_launch
        .filter(|pending_launch| written.as_ref() != Some(&pending_launch.batch))
    {
        step.change_claim(view, Purpose::MarkLaunching, pending_launch.change(claim));
        return;
    }
    if let Some(token) = view.open_launch() {
        step.launch = Some(LaunchWish::Ask(token));
        return;
    }
    let options = options(claim, view.market);
    if options.is_empty() {
        let words = format!("claim {}: none of its offerings can be had now", claim.name);
        let reason = EventReason::InsufficientCapacityError;
        step.report(view.key(), Purpose::DeleteClaim, reason, words);
        step.delete_claim(view, DeletionCause::OutOfStock);
        return;
    }
    step.launch = Some(LaunchWish::Join(options));
}

/// A launch that failed, as the claim's condition `Launched` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLaunch {
    /// In Pascal case: the cloud's, as the provider sorts its errors, or `LaunchFailed`.
    pub reason: Arc<str>,
    /// In words.
    pub words: String,
}

/// A claim's place in a launch, before it is written on the claim.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingLaunch {
    /// The launch.
    pub batch: LaunchBatch,
    /// The ways to buy that the launch is made with, best first.
    pub options: Arc<Vec<LaunchOption>>,
}

impl PendingLaunch {
    /// What is written on a claim: the batch, and the order of offerings where the claim says another, with what that is by where the claim has none.
    fn change(&self, claim: &NodeClaim) -> ClaimChange {
        let mut annotations = self.batch.to_annotations();
        let order = launch_order_text(&self.options);
        let written = claim.annotations.get(LAUNCH_ORDER_ANNOTATION);
        if written.is_none_or(|written| **written != *order) {
            annotations.insert(Arc::from(LAUNCH_ORDER_ANNOTATION), Arc::from(order));
        }
        // What was written is still in the order that it was planned in, less what is avoided; a claim of others' is bought by price.
        if written.is_none() {
            let by = Arc::from(OrderedBy::Price.as_str());
            annotations.insert(Arc::from(LAUNCH_ORDER_BY_ANNOTATION), by);
        }
        ClaimChange {
            annotations,
            ..ClaimChange::default()
        }
    }
}

/// The ways to buy that are written on a claim, to be had now or not, at the prices of now.
pub fn written_options(claim: &NodeClaim, market: &Market) -> Vec<LaunchOption> {
    let catalogue = market.catalogues().of(&claim.class);
    let written = launch_order(claim).filter_map(|key| catalogue.offering(&key));
    of_one_launch(written.map(option), |option| &option.instance_type)
}

/// The ways to buy a claim that are not avoided now: as written on it, or by list price when nothing is.
fn options(claim: &NodeClaim, market: &Market) -> Vec<LaunchOption> {
    let mut options = written_options(claim, market);
    if options.is_empty() {
        options = by_price(claim, market.catalogues().of(&claim.class));
    }
    options.retain(|option| !market.is_avoided(&option.offering()));
    of_one_launch(options, |option| &option.instance_type)
}

fn by_price(claim: &NodeClaim, catalogue: &Catalogue) -> Vec<LaunchOption> {
    let sold = sold(&claim.requirements, &claim.requests, catalogue).into_iter();
    sold.filter(|sold| sold.offering.available)
        .map(option)
        .collect()
}
