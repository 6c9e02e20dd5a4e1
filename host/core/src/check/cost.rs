//! The cost figures of a plan: sums of what its claims say.

use super::finding::{Breach, Rule};
use crate::plan::{Plan, PlannedClaim};
use crate::snapshot::Snapshot;
use crate::units::PricePerHour;

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
