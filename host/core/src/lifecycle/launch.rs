//! Getting an instance for a claim, at most one.
//!
//! The claim's uid stands for at most one instance, so that asking again after a crash or a lost answer is safe. What the
//! cloud gave is written on the claim; until that is seen, the answer is kept by the engine or asked for again.
//! The order in which offerings are tried was decided by the plan and is written on the claim.

use std::sync::Arc;

use super::standing::standing;
use super::{ClaimView, Instance, Step};
use crate::action::{ClaimChange, CloudCall, Purpose};
use crate::catalogue::{Catalogue, Market, launch_order};
use crate::model::{ClaimPhase, NodeClaim};
use crate::plan::{LaunchOption, MAX_LAUNCH_TYPES, option, sold};

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
    if view.instance == Instance::Unsure {
        step.find_instance(claim);
        return;
    }
    let options = options(claim, view.market);
    if options.is_empty() {
        let words = format!("claim {}: none of its offerings can be had now", claim.name);
        step.reports.push(("InsufficientCapacityError", words));
        step.delete_claim(view, "nothing it names can be had");
        return;
    }
    let call = CloudCall::Launch {
        claim: Arc::clone(claim),
        options,
    };
    step.call_cloud(claim, Purpose::Launch, call);
}

/// The ways to buy a claim that are not avoided now: as written on it, or by list price when nothing is.
fn options(claim: &NodeClaim, market: &Market) -> Vec<LaunchOption> {
    let catalogue = market.catalogues().of(&claim.class);
    let written = launch_order(claim).filter_map(|key| catalogue.offering(&key));
    let mut options: Vec<LaunchOption> = written.map(option).collect();
    if options.is_empty() {
        options = by_price(claim, catalogue);
    }
    options.retain(|option| !market.is_avoided(&option.offering()));
    options.truncate(MAX_LAUNCH_TYPES);
    options
}

fn by_price(claim: &NodeClaim, catalogue: &Catalogue) -> Vec<LaunchOption> {
    let sold = sold(&claim.requirements, &claim.requests, catalogue).into_iter();
    sold.filter(|sold| sold.offering.available)
        .map(option)
        .collect()
}
