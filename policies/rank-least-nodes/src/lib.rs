//! As few nodes as possible: the Cluster Autoscaler's expander `least-nodes`.
//!
//! What that may cost is bounded by the host: beyond three times the plan at list prices it takes that one.

use plimsoll_sdk::ranking::*;

reasons! { ONE_NODE = "one node more" }

/// Charge for a node beside its price, in dollars per hour: more than any price, so that a node less always wins.
const NODE: f64 = 10_000.0;

/// Every node costs the same, and among as few nodes the cheaper ones win.
#[derive(Debug)]
pub struct LeastNodes;

impl Ranking for LeastNodes {
    type Settings = NoSettings;

    fn price(&self, offering: &Offering, _pool: &Pool, _settings: &NoSettings) -> Price {
        Price::dollars(NODE + offering.price(), ONE_NODE)
    }
}

export_ranking!(LeastNodes);

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    #[test]
    fn two_cheap_nodes_cost_more_than_the_dearest_one() {
        let market =
            Market::new()
                .offering("t3.nano", "a", 0.005)
                .offering("u-24tb1.112xlarge", "a", 218.4);
        let prices = market.prices(&LeastNodes, &NoSettings);
        assert!(2.0 * prices[0].then() > prices[1].then());
        assert!(prices[0].then() < prices[1].then());
    }
}
