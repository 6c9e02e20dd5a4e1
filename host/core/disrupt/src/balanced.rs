//! The policy `Balanced`: a move must save at least half as large a share of its pool's cost as it disturbs of its pods.
//!
//! `score = (saving / cost of the pool) / (disruption / disruption of the whole pool)`, approved from 1/2 on; the bounds
//! are Karpenter's (K = 2). Whole numbers throughout, so that a score at the bound is at the bound on every machine.

use std::collections::BTreeMap;

use plimsoll_base::ids::PoolName;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::{ConsolidationPolicy, MoveCost, is_reschedulable};

use super::candidate::{Candidate, Fleet};

/// How much weight disruption has: approved from 1 / K on.
pub const K: i128 = 2;

/// Cost of a whole pool per hour, and the disruption of moving all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolTotal {
    /// Of all its nodes, at the prices that decide.
    pub price: PricePerHour,
    /// Of all its nodes, those that may not go among them.
    pub disruption: MoveCost,
}

/// Totals by pool, over all nodes that carry the pool's label.
pub fn totals(fleet: &Fleet<'_>) -> BTreeMap<PoolName, PoolTotal> {
    let mut totals: BTreeMap<PoolName, PoolTotal> = BTreeMap::new();
    for (row, node) in fleet.snapshot.nodes.iter().enumerate() {
        let Some(pool) = node.pool().filter(|_| node.is_managed()) else {
            continue;
        };
        let pods = fleet.pods_on(row).map(|(_, pod)| pod);
        let cost = MoveCost::of_node(pods.filter(|pod| is_reschedulable(pod)));
        let price = fleet.worth(node, &pool);
        let total = totals.entry(pool).or_default();
        total.price += price;
        total.disruption = total.disruption + cost;
    }
    totals
}

/// `true` if every `Balanced` pool among a move's nodes approves of it. Pools with other policies are not asked. The saving is
/// credited to pools by their share of what the nodes cost.
pub fn approves(
    totals: &BTreeMap<PoolName, PoolTotal>,
    members: &[&Candidate],
    saving: PricePerHour,
) -> bool {
    let mut of_pool: BTreeMap<&PoolName, (PricePerHour, MoveCost)> = BTreeMap::new();
    for member in members {
        let entry = of_pool.entry(&member.pool.name).or_default();
        entry.0 += member.worth;
        entry.1 = entry.1 + member.cost;
    }
    let price: PricePerHour = members.iter().map(|member| member.worth).sum();
    let balanced = members
        .iter()
        .filter(|member| member.pool.disruption.policy == ConsolidationPolicy::Balanced);
    let mut pools = balanced.map(|member| &member.pool.name);
    pools.all(|pool| {
        let (own, disruption) = of_pool[pool];
        let credited = if price.nanos() == 0 || of_pool.len() == 1 {
            i128::from(saving.nanos())
        } else {
            i128::from(saving.nanos()) * i128::from(own.nanos()) / i128::from(price.nanos())
        };
        let total = totals.get(pool).copied().unwrap_or_default();
        is_worth(credited, disruption, total)
    })
}

/// `true` if a saving, in nano-dollars per hour, is worth a disruption to a pool.
fn is_worth(saving: i128, disruption: MoveCost, total: PoolTotal) -> bool {
    let (price, all) = (total.price.nanos(), total.disruption.parts());
    if saving <= 0 || price <= 0 || all <= 0 {
        return false;
    }
    K * saving * i128::from(all) >= i128::from(disruption.parts()) * i128::from(price)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(price: i64, pods: i64) -> PoolTotal {
        PoolTotal {
            price: PricePerHour::from_nanos(price),
            disruption: pods_cost(pods),
        }
    }

    fn pods_cost(pods: i64) -> MoveCost {
        std::iter::repeat_n(MoveCost::ONE, usize::try_from(pods).unwrap()).sum()
    }

    #[test]
    fn shares_of_saving_and_disruption_are_weighed() {
        let pool = total(1000, 1000);
        assert!(is_worth(125, pods_cost(37), pool), "12.5 % for 3.7 %");
        assert!(!is_worth(42, pods_cost(100), pool), "4.2 % for 10 %");
        assert!(
            is_worth(100, pods_cost(100), pool),
            "any deletion from a uniform pool"
        );
        assert!(is_worth(1000, pods_cost(1000), pool), "a pool of one node");
    }

    #[test]
    fn half_price_in_a_uniform_pool_is_just_enough() {
        let pool = total(1000, 1000);
        assert!(is_worth(50, pods_cost(100), pool));
        assert!(!is_worth(49, pods_cost(100), pool));
    }

    #[test]
    fn no_saving_and_no_total_are_never_worth_it() {
        assert!(!is_worth(0, pods_cost(1), total(1000, 1000)));
        assert!(!is_worth(-5, pods_cost(1), total(1000, 1000)));
        assert!(!is_worth(5, pods_cost(1), PoolTotal::default()));
    }

    #[test]
    fn the_same_move_in_a_pool_ten_times_the_size_is_judged_alike() {
        for saving in [49, 50] {
            let small = is_worth(saving, pods_cost(100), total(1000, 1000));
            let large = is_worth(saving * 10, pods_cost(1000), total(10_000, 10_000));
            assert_eq!(small, large);
        }
    }
}
