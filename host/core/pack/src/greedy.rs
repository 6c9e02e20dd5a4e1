//! The dual greedy: again and again the node that costs least for the value it holds, as often as demand lasts.
//!
//! A kind's last ratio of price to value is a hint of its next one (as demand is used up, ratios get worse), so that usually
//! only a few kinds are filled before the best is known. Values are renewed as demand shrinks.

use super::fill::{Filled, Filler, Taste};
use super::fleet::{PackedFleet, PackedGroup, holds, needs, usable};
use super::ledger::Ledger;
use super::model::Model;
use super::worth::Worth;

/// Values are renewed when units left fall below this share of those at the last renewal.
const RENEW_BELOW: f64 = 0.85;

/// The same where there are many items: a renewal then takes as long as filling many nodes.
const RENEW_MANY_BELOW: f64 = 0.7;

/// Ratios this close (as a factor) count as equal while looking for the best.
const CLOSE: f64 = 1.001;

/// Kinds filled before one is bought; fewer where there are many items, since then each fill takes long and nodes are many.
const MOST_TRIED: usize = 32;
const FEW_TRIED: usize = 2;
const MANY_ITEMS: usize = 400;

/// Where rules force nodes, none may be worth more than this many times an even part of what is left.
const LARGEST_PART: f64 = 1.6;

/// A node whose price is more than this times the value it holds may be larger than its load needs.
const ROOMY: f64 = 1.01;

/// Buys nodes for `left` units of each item until nothing more can be placed.
pub(super) fn greedy(
    model: &Model<'_>,
    left: Vec<u32>,
    worth: &mut Worth,
    ledger: &mut Ledger,
    taste: Taste,
    fairness: f64,
) -> PackedFleet {
    let mut filler = Filler::new(model, left);
    let mut groups = Vec::new();
    let mut ratios = worth.price_ratio.clone();
    let renew_below = if model.items.len() > MANY_ITEMS {
        RENEW_MANY_BELOW
    } else {
        RENEW_BELOW
    };
    let mut units_at_renewal = units(filler.left());
    while !filler.is_done() {
        let Some((kind, filled)) = best_node(
            model,
            &mut filler,
            &mut ratios,
            worth,
            ledger,
            taste,
            fairness,
        ) else {
            break;
        };
        let most = ledger.affordable(model.problem, model.kinds[kind].row);
        let lasts = filled
            .load
            .iter()
            .map(|&(item, units)| filler.left()[item] / units);
        let count = lasts.min().unwrap_or(0).min(most);
        filler.take(&filled.load, count);
        worth.of_all -= filled.worth * f64::from(count);
        ledger.take(model.problem, model.kinds[kind].row, count);
        groups.push(PackedGroup {
            kind,
            count,
            load: filled.load,
        });
        let units_left = units(filler.left());
        if (units_left as f64) < units_at_renewal as f64 * renew_below && units_left > 0 {
            worth.renew(model, filler.left());
            ratios.clone_from(&worth.price_ratio);
            units_at_renewal = units_left;
        }
    }
    PackedFleet {
        groups,
        left: filler.into_left(),
    }
}

/// The kind to buy next, already as small as its load allows, with what to put on it.
fn best_node(
    model: &Model<'_>,
    filler: &mut Filler<'_, '_>,
    ratios: &mut [f64],
    worth: &Worth,
    ledger: &Ledger,
    taste: Taste,
    fairness: f64,
) -> Option<(usize, Filled)> {
    // Where rules force many nodes, a large one would take what the rest could be filled with.
    let part = |kind: usize| model.kinds[kind].price as f64 / worth.of_all.max(f64::MIN_POSITIVE);
    let largest = LARGEST_PART * worth.of_all / worth.forced_nodes.max(f64::MIN_POSITIVE);
    let is_large = |kind: usize| model.kinds[kind].price as f64 > largest;
    let hint = |ratios: &[f64], kind: usize| (is_large(kind), ratios[kind]);
    let mut tried: Vec<usize> = Vec::new();
    let mut best: Option<(f64, usize, Filled)> = None;
    let most_tried = if model.items.len() > MANY_ITEMS {
        FEW_TRIED
    } else {
        MOST_TRIED
    };
    while tried.len() < most_tried {
        let next = (0..ratios.len())
            .filter(|kind| ratios[*kind] < f64::INFINITY && !tried.contains(kind))
            .min_by(|&a, &b| {
                let (a_hint, b_hint) = (hint(ratios, a), hint(ratios, b));
                let by_size = a_hint.0.cmp(&b_hint.0);
                by_size.then(a_hint.1.total_cmp(&b_hint.1)).then(b.cmp(&a))
            });
        let Some(kind) = next else {
            break;
        };
        let is_enough =
            |(ratio, ..): &(f64, usize, Filled)| is_large(kind) || *ratio <= ratios[kind] * CLOSE;
        if best.as_ref().is_some_and(is_enough) {
            break;
        }
        if ledger.affordable(model.problem, model.kinds[kind].row) == 0 {
            ratios[kind] = f64::INFINITY;
            continue;
        }
        tried.push(kind);
        let filled = filler.try_fill(kind, &worth.values, taste, part(kind) * fairness);
        if filled.load.is_empty() {
            ratios[kind] = f64::INFINITY;
            continue;
        }
        let mut ratio = model.kinds[kind].price as f64 / filled.worth;
        ratios[kind] = ratio;
        let kind = if ratio > ROOMY {
            cheapest_holding(model, kind, &filled, ledger)
        } else {
            kind
        };
        ratio = model.kinds[kind].price as f64 / filled.worth;
        if best.as_ref().is_none_or(|(least, _, _)| ratio < *least) {
            best = Some((ratio, kind, filled));
        }
    }
    best.map(|(_, kind, filled)| (kind, filled))
}

/// The cheapest kind that holds a load, at most as dear as `kind`.
fn cheapest_holding(model: &Model<'_>, kind: usize, filled: &Filled, ledger: &Ledger) -> usize {
    let needs = needs(model, &filled.load);
    let usable = usable(model, &filled.load);
    usable
        .iter()
        .take_while(|&cheaper| cheaper < kind)
        .find(|&cheaper| {
            holds(&model.kinds[cheaper].capacity, &needs)
                && ledger.affordable(model.problem, model.kinds[cheaper].row) > 0
        })
        .unwrap_or(kind)
}

fn units(left: &[u32]) -> u64 {
    left.iter().map(|count| u64::from(*count)).sum()
}
