//! A plan that takes too many addresses, made again until it does not, or until nothing is gained any more.
//!
//! Each attempt bounds what pods may spend in the zones that were short before; who finds no place within these bounds may go
//! anywhere in the next. The best of all attempts by (unplaced, room not kept, addresses beyond those left, preferences given
//! up, price, nodes) is the plan, so that no pod waits for the sake of the guard.

use plimsoll_model::plan::Note;
use plimsoll_model::snapshot::{Guard, Guards};

use super::draft::DraftPlan;
use crate::batch::compile::Compiled;
use crate::guards::addresses::{self, of_node, shift};
use crate::place::address_budget::{AddressBudget, ZoneBudget};
use crate::place::free_addresses::{holds, is_guarded};
use crate::prices::RowPrices;

/// Attempts for which a zone that is short again keeps a budget.
const MOST_CUTS: u32 = 2;

/// Attempts after the first.
const MOST_ATTEMPTS: usize = 8;

/// The plan itself where its zones have enough addresses; else the best that attempts under a budget come to.
pub(crate) fn within(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    plan: DraftPlan,
    attempt: impl Fn(&AddressBudget) -> DraftPlan,
) -> DraftPlan {
    if !holds(compiled, guards) {
        return plan;
    }
    let left = compiled.addresses.left();
    let beyond = addresses::beyond(compiled, guards, left, &plan.nodes);
    if beyond.iter().all(|beyond| *beyond == 0) {
        return plan;
    }
    let shifted = |mut plan: DraftPlan| {
        plan.overdrawn = shift(compiled, prices, guards, left, &mut plan.nodes);
        plan
    };
    let failed = plan.failed.clone();
    let mut budget = AddressBudget::default();
    let mut last = shifted(plan.clone());
    let mut best = last.clone();
    for _ in 0..MOST_ATTEMPTS {
        if best.overdrawn == 0 && best.failed.len() <= failed.len() {
            break;
        }
        // What could not be shifted tells what to bound.
        let cut = tighten(&mut budget, compiled, guards, &last);
        let waits = |pod: &&usize| failed.binary_search(pod).is_err();
        let freed = budget.exempt(last.failed.iter().filter(waits).copied());
        if !cut && !freed {
            break;
        }
        last = shifted(attempt(&budget));
        if last.rank() < best.rank() {
            best = last.clone();
        }
    }
    let after = addresses::beyond(compiled, guards, left, &best.nodes);
    let kept = |zone: &usize| after[*zone] < beyond[*zone];
    let zones = (0..left.len()).filter(kept);
    best.kept_within = true;
    best.notes.extend(notes(compiled, guards, &plan, zones));
    best
}

/// A remark for each zone that the guard has kept nodes out of, with what `plan` would have taken there.
fn notes(
    compiled: &Compiled<'_>,
    guards: &Guards,
    plan: &DraftPlan,
    zones: impl Iterator<Item = usize>,
) -> Vec<Note> {
    let left = compiled.addresses.left();
    let none = vec![0; left.len()];
    let taken = addresses::beyond(compiled, guards, &none, &plan.nodes);
    zones
        .map(|zone| Note::of_plan(format!(
                "guard on {} holds in zone {}: {} left for new nodes and their pods, {} would have been taken",
                Guard::FreeAddresses.as_str(),
                compiled.addresses.zones[zone],
                left[zone],
                taken[zone],
            )))
        .collect()
}

/// Gives pods less where a plan has taken more than there is; whether that is a change.
fn tighten(
    budget: &mut AddressBudget,
    compiled: &Compiled<'_>,
    guards: &Guards,
    plan: &DraftPlan,
) -> bool {
    let left = compiled.addresses.left();
    let beyond = addresses::beyond(compiled, guards, left, &plan.nodes);
    let mut changed = false;
    for (zone, _) in beyond.iter().enumerate().filter(|(_, beyond)| **beyond > 0) {
        let (pods, all) = taken(compiled, zone, plan);
        let before = budget.share(zone);
        let cuts = before.map_or(0, |share| share.cuts) + 1;
        let left = if cuts > MOST_CUTS {
            0
        } else {
            let part = i128::from(left[zone]) * i128::from(pods) / i128::from(all.max(1));
            let part = i64::try_from(part).unwrap_or(i64::MAX);
            before.map_or(part, |before| part.min(before.left / 2))
        };
        changed |= before.is_none_or(|before| before.left != left);
        budget.bound(zone, ZoneBudget { left, cuts });
    }
    changed
}

/// Addresses that pods, and that all, take in a zone, as far as the guard speaks of their nodes.
fn taken(compiled: &Compiled<'_>, zone: usize, plan: &DraftPlan) -> (i64, i64) {
    let here = plan.nodes.iter().filter(|node| {
        compiled.addresses.zone(node.row) == Some(zone) && is_guarded(compiled, node.row)
    });
    here.fold((0, 0), |(pods, all), node| {
        (
            pods + node.addresses,
            all + of_node(compiled, node, node.row),
        )
    })
}
