//! A plan that takes too many addresses, made again until it does not, or until nothing is gained any more.
//!
//! Each attempt bounds what pods may spend in the zones that were short before; who finds no place within these bounds may go
//! anywhere in the next. The best of all attempts by (unplaced, room not kept, addresses beyond those left, preferences given
//! up, price, nodes) is the plan, so that nobody waits for the sake of the guard.

use super::draft::Candidate;
use crate::plan::Note;
use crate::schedule::batch::compile::Compiled;
use crate::schedule::guards::addresses::{Addresses, holds, shift};
use crate::schedule::place::address_budget::Budget;
use crate::schedule::prices::RowPrices;
use crate::snapshot::{Guard, Guards};

/// Attempts after the first.
const MOST_ATTEMPTS: usize = 8;

/// The plan itself where its zones have enough addresses; else the best that attempts under a budget come to.
pub(crate) fn within(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    guards: &Guards,
    plan: Candidate,
    attempt: impl Fn(&Budget) -> Candidate,
) -> Candidate {
    if !holds(compiled, guards) {
        return plan;
    }
    let left = compiled.addresses.left();
    let beyond = Addresses::beyond(compiled, guards, left, &plan.nodes);
    if beyond.iter().all(|beyond| *beyond == 0) {
        return plan;
    }
    let shifted = |mut plan: Candidate| {
        plan.overdrawn = shift(compiled, prices, guards, left, &mut plan.nodes);
        plan
    };
    let failed = plan.failed.clone();
    let mut budget = Budget::default();
    let mut last = shifted(plan.clone());
    let mut best = last.clone();
    for _ in 0..MOST_ATTEMPTS {
        if best.overdrawn == 0 && best.failed.len() <= failed.len() {
            break;
        }
        // What could not be shifted tells what to bound.
        let cut = budget.tighten(compiled, guards, &last);
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
    let after = Addresses::beyond(compiled, guards, left, &best.nodes);
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
    plan: &Candidate,
    zones: impl Iterator<Item = usize>,
) -> Vec<Note> {
    let left = compiled.addresses.left();
    let none = vec![0; left.len()];
    let taken = Addresses::beyond(compiled, guards, &none, &plan.nodes);
    zones
        .map(|zone| Note {
            pool: None,
            pod: None,
            text: format!(
                "guard on {} holds in zone {}: {} left for new nodes and their pods, {} would have been taken",
                Guard::FreeAddresses.as_str(),
                compiled.addresses.zones[zone],
                left[zone],
                taken[zone],
            ),
        })
        .collect()
}
