//! The cost cap: whatever a policy says, a plan costs at most so many times what one at list prices would.
//!
//! Prices that are list prices times one factor lead to the plan at list prices, and prices within a factor of them to one
//! that costs no more than that factor. So a second plan is made only where a policy's prices lie further apart than the
//! cost cap allows, or its order puts dear offerings first, and where the bound says that the pods could be so much cheaper.

use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::rank::{COST_CAP, PriceQuestion, Prices, list_where_allowed};
use plimsoll_model::plan::{Plan, PlannedClaim};
use plimsoll_schedule::{Packed, launch};

/// The plan to take instead of one that costs too much, of what the policy allows, and whether it is at the policy's prices:
/// with launch lists by price where that is enough, else at list prices. `None` where the policy's plan is within the cost cap
/// or places more pods.
pub(crate) fn instead(
    packed: &Packed<'_, '_>,
    prices: Option<&Prices>,
    plan: &Plan,
) -> Option<(Plan, bool)> {
    if plan.cost.list <= plan.cost.bound * COST_CAP {
        return None;
    }
    let is_beyond = |list: &Plan| {
        list.unplaced.len() <= plan.unplaced.len() && plan.cost.list > list.cost.list * COST_CAP
    };
    if is_dear_first(plan) {
        let by_price = launch(packed, None);
        if is_beyond(&by_price) {
            return Some((by_price, prices.is_some()));
        }
    }
    let (question, prices) = packed.prepared().question().zip(prices)?;
    if !lie_apart(question, prices) {
        return None;
    }
    let allowed = list_where_allowed(question, prices)?;
    let list = plimsoll_schedule::finish(packed.prepared(), Some(&allowed));
    is_beyond(&list).then_some((list, false))
}

/// `true` if claims try what is much dearer than another offering that they name.
fn is_dear_first(plan: &Plan) -> bool {
    let cheapest =
        |claim: &PlannedClaim| claim.options.iter().map(|option| option.list_price).min();
    let chosen = plan.claims.iter().filter_map(PlannedClaim::chosen);
    let chosen: PricePerHour = chosen.map(|option| option.list_price).sum();
    let cheapest: PricePerHour = plan.claims.iter().filter_map(cheapest).sum();
    chosen > cheapest * COST_CAP
}

/// `true` if a policy's prices are so many times list prices in one place and so few in another that its plan may be beyond
/// the cost cap.
fn lie_apart(question: &PriceQuestion, prices: &Prices) -> bool {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for (candidate, price) in question.pools.cand.iter().zip(&prices.rows) {
        let list = question.tables.price(*candidate);
        for quote in [price.first.price, price.then.price].into_iter().flatten() {
            // Nothing of nothing is no number, which changes neither; anything else of nothing is infinitely many times it.
            let times = quote.dollars() / list;
            (least, most) = (least.min(times), most.max(times));
        }
    }
    most > least * COST_CAP as f64
}
