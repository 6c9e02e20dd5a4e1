//! A decision in three steps, and which of two plans is the better one.

use plimsoll_base::bits::Bits;
use plimsoll_base::parallel;
use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{COST_CAP, Prices, list_where_allowed};
use plimsoll_model::PackingMode;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;

use super::batch::compile::Compiled;
use super::batch::domains;
use super::claims::named::Reach;
use super::fleet::address_rounds::within;
use super::fleet::draft::{self, DraftPlan};
use super::fleet::guarded;
use super::fleet::held::hold;
use super::fleet::parts::{Part, in_parts};
use super::fleet::second_look::last_look;
use super::launch::{Packed, launch};
use super::place::address_budget::AddressBudget;
use super::prepared::{Prepared, prepare};
use super::prices::RowPrices;
use super::prices::quoted::Quoted;

/// Plans made once more with domains that the one before has brought about; to the last of them everything that is sold counts.
const MOST_ATTEMPTS: u32 = 3;

/// Puts every pod on an instance, at the ranking policy's prices or, without them, at list prices.
pub fn pack<'p, 's>(
    prepared: &'p Prepared<'s>,
    answer: Option<&Prices>,
    reach: Reach,
) -> Packed<'p, 's> {
    let compiled = &prepared.compiled;
    let slots = prepared.question_rows();
    let prices = RowPrices::new(compiled, slots.as_deref().zip(answer));
    let (best, first_fit_cost) = among_all_domains(compiled, &prices);
    Packed::new(prepared, prices, best, first_fit_cost, reach)
}

/// Plans until spreads have reckoned with every domain that the plan brings about: a node bought for other pods may be the first
/// in its zone, and what was spread without that zone would be bound no more once it is there.
fn among_all_domains(compiled: &Compiled<'_>, prices: &RowPrices) -> (DraftPlan, PricePerHour) {
    let plan = |compiled: &Compiled<'_>| {
        let (best, first_fit_cost) = best_of(compiled, prices, &compiled.all());
        let best = with_real_pods_first(compiled, prices, best);
        (best, first_fit_cost)
    };
    let guards = &compiled.snapshot.settings.guards;
    let mut result = plan(compiled);
    let mut wider: Option<Compiled<'_>> = None;
    for attempt in 1..=MOST_ATTEMPTS {
        let known = wider.as_ref().unwrap_or(compiled);
        let unknown = hold(known, &mut result.0.nodes);
        if unknown.is_empty() {
            break;
        }
        let known = known.with_domains(if attempt < MOST_ATTEMPTS {
            unknown
        } else {
            domains::unknown(known, &Bits::all(known.rows.len()))
        });
        result = plan(&known);
        wider = Some(known);
    }
    (last_look(compiled, prices, guards, result.0), result.1)
}

/// The better of both ways to plan each part of these pods of the batch, and the list price of first fit.
fn best_of(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    pods: &[usize],
) -> (DraftPlan, PricePerHour) {
    in_parts(compiled, prices, pods, |parts| {
        best_of_parts(compiled, prices, parts)
    })
}

/// A way to plan a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackingMethod {
    FirstFit,
    ByPrice,
}

/// By part, the better of both ways to plan it, and the list price of first fit.
fn best_of_parts(
    compiled: &Compiled<'_>,
    prices: &RowPrices,
    parts: &[Part],
) -> Vec<(DraftPlan, PricePerHour)> {
    let guards = &compiled.snapshot.settings.guards;
    let is_priced = |template: usize| compiled.templates[template].packing == PackingMode::Price;
    let ways = parts.iter().flat_map(|part| {
        let mut templates = part.templates.iter().copied();
        let by_price = if part.templates.is_empty() {
            (0..compiled.templates.len()).any(is_priced)
        } else {
            templates.any(is_priced)
        };
        let by_price = by_price.then_some((part, PackingMethod::ByPrice));
        by_price
            .into_iter()
            .chain([(part, PackingMethod::FirstFit)])
    });
    let ways: Vec<(&Part, PackingMethod)> = ways.collect();
    let plans = parallel::map(&ways, |(part, way)| match way {
        PackingMethod::ByPrice => (
            draft::by_price(compiled, prices, guards, part),
            PricePerHour::ZERO,
        ),
        PackingMethod::FirstFit => {
            let attempt = |budget: &AddressBudget| draft::first_fit(compiled, prices, part, budget);
            let first_fit = attempt(&AddressBudget::default());
            let cost = first_fit.list(prices);
            (within(compiled, prices, guards, first_fit, attempt), cost)
        }
    });
    let mut result: Vec<(DraftPlan, PricePerHour)> = Vec::with_capacity(parts.len());
    let mut priced: Option<DraftPlan> = None;
    for ((_, way), (plan, cost)) in ways.iter().zip(plans) {
        match (way, priced.take()) {
            (PackingMethod::ByPrice, _) => priced = Some(plan),
            (PackingMethod::FirstFit, Some(priced)) if !is_better(compiled, &plan, &priced) => {
                result.push((priced, cost));
            }
            (PackingMethod::FirstFit, _) => result.push((plan, cost)),
        }
    }
    result
}

/// Where pods are left waiting while room is kept for others, a plan without that room is tried too: limits and supplies are
/// shared out among all, and no pod that exists may wait for the sake of one that does not.
fn with_real_pods_first(compiled: &Compiled<'_>, prices: &RowPrices, best: DraftPlan) -> DraftPlan {
    let (real, spare) = compiled.real_and_spare();
    if best.waiting() == 0 || spare.is_empty() {
        return best;
    }
    let unhindered = compiled.without_rules_of(&spare);
    let (alone, _) = best_of(&unhindered, prices, &real);
    // Pods that only the last look finds a place for count, too: a plan with room that is kept gets none.
    let guards = &compiled.snapshot.settings.guards;
    let alone = last_look(&unhindered, prices, guards, alone).leaving_out(spare);
    if alone.waiting() < best.waiting() {
        alone
    } else {
        best
    }
}

/// Decides, at the ranking policy's prices or, without them, at list prices; launch lists are in order of price.
pub fn finish(prepared: &Prepared<'_>, answer: Option<&Prices>) -> Plan {
    launch(&pack(prepared, answer, Reach::Near), None)
}

/// Decides at prices that were asked for before, without them at list prices: within the cost cap, and never by what the policy
/// vetoes. `None` where a pod for which there `must` be a place finds none; pods are given as rows of the snapshot.
pub(crate) fn finish_placing(
    prepared: &Prepared<'_>,
    quoted: Option<&Quoted>,
    must: impl Fn(usize) -> bool,
) -> Option<Plan> {
    let compiled = &prepared.compiled;
    let at = |answer: Option<&Prices>| {
        let packed = pack(prepared, answer, Reach::Near);
        let mut failed = packed.best.failed.iter();
        let strands = failed.any(|pod| must(compiled.pods[*pod].row));
        (!strands).then(|| launch(&packed, None))
    };
    let Some((_, prices)) = quoted.and_then(|quoted| quoted.over(compiled)) else {
        return at(None);
    };
    let at_list = || at(Some(&list_where_allowed(prepared.question()?, &prices)?));
    let Some(plan) = at(Some(&prices)) else {
        // What is bought at other prices may take less of what is short.
        let is_short = !compiled.supply.is_unbounded();
        return is_short.then(at_list).flatten();
    };
    if plan.cost.list <= plan.cost.bound * COST_CAP {
        return Some(plan);
    }
    let is_cheaper = |list: &Plan| {
        let places_as_many = list.unplaced.len() <= plan.unplaced.len();
        places_as_many && plan.cost.list > list.cost.list * COST_CAP
    };
    Some(at_list().filter(is_cheaper).unwrap_or(plan))
}

/// `true` if first fit is to be preferred: better in every respect but the guards, or, where they do not hold in it, better in
/// what comes before cost.
fn is_better(compiled: &Compiled<'_>, first_fit: &DraftPlan, priced: &DraftPlan) -> bool {
    let (left, right) = (first_fit.rank(), priced.rank());
    if priced.kept_within && (left.0, left.1) >= (right.0, right.1) {
        // Preferences given up, or addresses that are not there, are no reason to let other guards go.
        return left < right && guarded::hold_as_in(compiled, first_fit, priced);
    }
    (left.0, left.1, left.2, left.3) < (right.0, right.1, right.2, right.3)
        || (left < right && guarded::hold_as_in(compiled, first_fit, priced))
}

/// Decides at list prices.
pub fn plan(snapshot: &Snapshot) -> Plan {
    finish(&prepare(snapshot), None)
}
