//! List price and a charge for each node: licences, agents and people cost by the node, whatever its size.

use plimsoll_sdk::ranking::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Dollars per hour that a node costs besides its price.
    #[setting(default = 0.05, min = 0, max = 1000)]
    pub charge: f64,
}

reasons! { CHARGED = "list price and the charge for a node" }

/// Every node at its list price and the charge.
#[derive(Debug)]
pub struct FewestNodes;

impl Ranking for FewestNodes {
    type Settings = Options;

    fn price(&self, offering: &Offering, _pool: &Pool, options: &Options) -> Price {
        Price::dollars(offering.price() + options.charge, CHARGED)
    }

    fn terms(
        &self,
        _offering: &Offering,
        _pool: &Pool,
        options: &Options,
    ) -> Vec<(&'static str, f64)> {
        vec![("charge for a node", options.charge)]
    }
}

export_ranking!(FewestNodes);

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    #[test]
    fn one_large_node_becomes_cheaper_than_two_small_ones() {
        let market = Market::new()
            .offering("m5.large", "a", 0.096)
            .offering("m5.xlarge", "a", 0.2);
        let prices = market.prices(&FewestNodes, &Options::default());
        assert_eq!(prices[0], Price::dollars(0.096 + 0.05, CHARGED));
        assert!(2.0 * prices[0].then() > prices[1].then());
    }
}
