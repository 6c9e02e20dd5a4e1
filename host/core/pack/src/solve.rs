//! Makes several fleets and takes the best: fewest unplaced, then price, then nodes; then joins nodes while that costs hardly more.
//! Parts of a problem that share nothing are packed one by one, with the whole effort for each.

use std::collections::BTreeMap;

use super::columns::columns;
use super::fill::Taste;
use super::first_fit::first_fit;
use super::fleet::PackedFleet;
use super::greedy::greedy;
use super::join::join;
use super::ledger::Ledger;
use super::model::Model;
use super::parts::{ProblemTies, parts};
use super::problem::{Packing, Problem};
use super::worth::Worth;

/// The cheapest feasible fleet found with `effort` (0: the first good one; 100: the default) units of counted work.
///
/// Of fleets that leave equally few units unplaced, those within 0.5 % of the cheapest count as equal, and of them the one with
/// the fewest nodes is taken, but none that costs more than first-fit decreasing would. With any effort its nodes are joined while
/// it stays equal to the cheapest.
///
/// Of the parts of a problem each is packed so; those that take more of a limit or supply together than there is are one part.
pub fn pack(problem: &Problem, effort: u32) -> Packing {
    let mut ties = ProblemTies::default();
    let mut known: BTreeMap<Vec<usize>, Packing> = BTreeMap::new();
    loop {
        let parts = parts(problem, &ties);
        if parts.is_empty() {
            return pack_part(problem, effort);
        }
        let mut whole = Packing::default();
        for part in &parts {
            let packed = || part.in_whole(pack_part(&part.problem, effort));
            let packing = known.entry(part.demands.clone()).or_insert_with(packed);
            whole.nodes.extend_from_slice(&packing.nodes);
            whole.unplaced.extend_from_slice(&packing.unplaced);
        }
        let overdrawn = ProblemTies::overdrawn(problem, &whole);
        if overdrawn.is_empty() {
            whole
                .nodes
                .sort_by(|a, b| (a.kind, &a.load).cmp(&(b.kind, &b.load)));
            whole.unplaced.sort_unstable();
            return whole;
        }
        ties.extend(overdrawn);
    }
}

fn pack_part(problem: &Problem, effort: u32) -> Packing {
    let model = Model::new(problem);
    let worth = Worth::new(&model);
    let mut ledger = Ledger::new(problem);
    let mut reference = first_fit(&model, &worth, &mut ledger);
    reference.shrink(&model, &mut ledger);
    let mut candidates = Vec::new();
    for &(taste, fairness) in ways(&model, effort) {
        let counts = model.items.iter().map(|item| item.count).collect();
        let mut ledger = Ledger::new(problem);
        let mut values = worth.clone();
        let mut fleet = greedy(&model, counts, &mut values, &mut ledger, taste, fairness);
        fleet.shrink(&model, &mut ledger);
        let is_close = fleet.unplaced() == 0 && is_close(&model, &worth, &fleet);
        candidates.push(fleet);
        if is_close {
            return joined(&model, best(&model, reference, candidates), effort);
        }
    }
    let falls_short = |fleet: &PackedFleet| fleet.price(&model) as f64 > worth.of_all * COLUMNS_PAY;
    if effort > 0 && candidates.iter().all(falls_short) {
        candidates.extend(columns(&model, &worth, &candidates));
    }
    joined(&model, best(&model, reference, candidates), effort)
}

/// Fleets whose price is within this factor of what their load is worth are not worth improving.
const CLOSE: f64 = 1.003;

/// Columns are tried where every fleet costs more than this factor of what its load is worth.
const COLUMNS_PAY: f64 = 1.01;

/// Orders of filling, with how much more than its even part of an item a node may take.
const WAYS: [(Taste, f64); 5] = [
    (Taste::Large, 1.5),
    (Taste::Between, 1.5),
    (Taste::Density, 1.5),
    (Taste::Large, 3.0),
    (Taste::Density, 3.0),
];

/// With more items than this, one way must do.
const MANY_ITEMS: usize = 400;

/// The ways to try.
fn ways(model: &Model<'_>, effort: u32) -> &'static [(Taste, f64)] {
    if effort == 0 || model.items.len() > MANY_ITEMS {
        &WAYS[..1]
    } else {
        &WAYS
    }
}

/// `true` if a fleet costs hardly more than the aggregate programme says that its load is worth.
fn is_close(model: &Model<'_>, worth: &Worth, fleet: &PackedFleet) -> bool {
    fleet.price(model) as f64 <= worth.of_all * CLOSE
}

/// The best of the reference and the candidates, with what counts as equal to the cheapest of them.
fn best(
    model: &Model<'_>,
    reference: PackedFleet,
    candidates: Vec<PackedFleet>,
) -> (PackedFleet, i64) {
    let reference_key = (reference.unplaced(), reference.price(model));
    let mut all = candidates;
    all.push(reference);
    let keys = all
        .iter()
        .map(|fleet| (fleet.unplaced(), fleet.price(model)));
    let least = keys.min().unwrap_or(reference_key);
    let ceiling = least.1.saturating_add(least.1 / 200);
    let is_equal = |fleet: &PackedFleet| {
        let key = (fleet.unplaced(), fleet.price(model));
        key.0 == least.0 && key.1 <= ceiling && key <= reference_key
    };
    let equal = all.into_iter().filter(is_equal);
    let best = equal.min_by_key(|fleet| (fleet.nodes(), fleet.price(model)));
    (best.unwrap_or_default(), ceiling)
}

/// A fleet with its nodes joined up to the ceiling, as a packing.
fn joined(model: &Model<'_>, (mut fleet, ceiling): (PackedFleet, i64), effort: u32) -> Packing {
    if effort > 0 {
        let mut ledger = Ledger::new(model.problem);
        for group in &fleet.groups {
            ledger.take(model.problem, model.kinds[group.kind].row, group.count);
        }
        join(&mut fleet, model, &mut ledger, ceiling);
    }
    fleet.into_packing(model)
}
