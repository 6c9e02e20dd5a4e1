//! The cost figures of a plan: sums of what its claims say.

use plimsoll_base::units::PricePerHour;
use plimsoll_model::plan::{Plan, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;

use super::finding::{Breach, Rule};

/// Least cost of a node: nothing is free.
pub(super) const LEAST: PricePerHour = PricePerHour::from_nanos(1);

/// Every figure that does not add up.
pub(super) fn breaches(snapshot: &Snapshot, plan: &Plan) -> Vec<Breach> {
    let node_cost = snapshot.settings.node_cost;
    let chosen = || plan.claims.iter().filter_map(PlannedClaim::chosen);
    let planned: PricePerHour = chosen().map(|option| option.price).sum();
    let whole = |price: PricePerHour| (price + node_cost).max(LEAST);
    let list: PricePerHour = chosen().map(|option| whole(option.list_price)).sum();
    let most = |claim: &PlannedClaim| claim.options.iter().map(|o| o.list_price).max();
    let dearest: PricePerHour = plan.claims.iter().filter_map(most).map(whole).sum();
    let mut result = Vec::new();
    for (name, said, sum) in [
        ("planned", plan.cost.planned, planned),
        ("list", plan.cost.list, list),
        ("dearest", plan.cost.dearest, dearest),
    ] {
        if said != sum {
            let value = format!("{name} cost of {said}");
            result.push(Breach::new(
                Rule::Cost,
                value,
                format!("{sum}, the sum over claims"),
            ));
        }
    }
    if plan.cost.bound > list {
        let value = format!("a bound of {}", plan.cost.bound);
        result.push(Breach::new(
            Rule::Cost,
            value,
            format!("no more than the list cost of {list}"),
        ));
    }
    result
}
