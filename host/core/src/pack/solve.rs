//! Makes several fleets and takes the best: fewest unplaced, then price, then nodes.

use super::fill::Taste;
use super::first_fit::first_fit;
use super::fleet::Fleet;
use super::greedy::greedy;
use super::ledger::Ledger;
use super::model::Model;
use super::problem::{Packing, Problem};
use super::worth::Worth;

/// The cheapest feasible fleet found with `effort` (0: the first good one; 100: the default) units of counted work.
///
/// Of fleets that leave equally few units unplaced, those within 0.5 % of the cheapest count as equal, and of them the one with
/// the fewest nodes is taken; but none that costs more than first-fit decreasing would.
pub fn pack(problem: &Problem, effort: u32) -> Packing {
    let model = Model::new(problem);
    let worth = Worth::new(&model);
    let mut ledger = Ledger::new(problem);
    let mut reference = first_fit(&model, &worth, &mut ledger);
    reference.shrink(&model, &mut ledger);
    let mut candidates = Vec::new();
    let tastes: &[Taste] = if effort == 0 {
        &[Taste::Large]
    } else {
        &[Taste::Large, Taste::Between, Taste::Density]
    };
    for &taste in tastes {
        let counts = model.items.iter().map(|item| item.count).collect();
        let mut ledger = Ledger::new(problem);
        let mut values = worth.clone();
        let mut fleet = greedy(&model, counts, &mut values, &mut ledger, taste);
        fleet.shrink(&model, &mut ledger);
        candidates.push(fleet);
    }
    best(&model, reference, candidates).into_packing(&model)
}

/// The best of the reference and the candidates.
fn best(model: &Model<'_>, reference: Fleet, candidates: Vec<Fleet>) -> Fleet {
    let reference_key = (reference.unplaced(), reference.price(model));
    let mut all = candidates;
    all.push(reference);
    let keys = all
        .iter()
        .map(|fleet| (fleet.unplaced(), fleet.price(model)));
    let least = keys.min().unwrap_or(reference_key);
    let ceiling = least.1.saturating_add(least.1 / 200);
    let is_equal = |fleet: &Fleet| {
        let key = (fleet.unplaced(), fleet.price(model));
        key.0 == least.0 && key.1 <= ceiling && key <= reference_key
    };
    let equal = all.into_iter().filter(is_equal);
    equal
        .min_by_key(|fleet| (fleet.nodes(), fleet.price(model)))
        .unwrap_or_default()
}
