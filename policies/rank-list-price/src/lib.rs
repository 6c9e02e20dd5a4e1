//! Buys what is cheapest by the price list: the smallest policy there is, and the yardstick for all others.

use plimsoll_sdk::ranking::*;

reasons! { LIST = "list price" }

/// A node costs the list price of its offering.
#[derive(Debug)]
pub struct ListPrice;

impl Ranking for ListPrice {
    type Settings = NoSettings;

    fn price(&self, offering: &Offering, _pool: &Pool, _settings: &NoSettings) -> Price {
        Price::dollars(offering.price(), LIST)
    }

    fn order(&self, offering: &Offering, _claim: &Claim, _settings: &NoSettings) -> Score {
        Score::new(offering.price(), LIST)
    }
}

export_ranking!(ListPrice, orders);

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    #[test]
    fn every_node_costs_its_list_price_in_every_pool() {
        let market = Market::new()
            .pool("batch")
            .offering("m5.large", "a", 0.096)
            .offering("m5.large", "b", 0.04)
            .spot();
        let prices = market.prices(&ListPrice, &NoSettings);
        assert_eq!(
            prices,
            [0.096, 0.04, 0.096, 0.04].map(|dollars| Price::dollars(dollars, LIST))
        );
    }

    #[test]
    fn launch_lists_are_in_order_of_list_price() {
        let market = Market::new()
            .offering("m5.large", "a", 0.096)
            .offering("m5.large", "b", 0.04)
            .spot();
        let scores = market.scores(&ListPrice, &NoSettings, (1_000, 1_024));
        assert_eq!(scores, [Score::new(0.096, LIST), Score::new(0.04, LIST)]);
    }
}
