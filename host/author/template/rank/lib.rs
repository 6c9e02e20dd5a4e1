//! Buys what is cheapest by the price list, and charges for interruptions that were seen lately.

use plimsoll_sdk::ranking::*;

/// Settings, as they appear in the Policy object. Their JSON Schema comes from this struct.
#[derive(Debug, Settings)]
pub struct Options {
    /// Dollars per hour charged for each interruption per day seen lately in the same pool of capacity.
    #[setting(default = 0.02, min = 0.0)]
    pub interruption_charge: f64,
}

reasons! { PRICE = "list price", RISKY = "interrupted lately" }

/// The policy.
#[derive(Debug)]
pub struct NewPolicy;

impl Ranking for NewPolicy {
    type Settings = Options;

    /// Cost of one more node of this offering to us, in dollars per hour.
    fn price(&self, offering: &Offering, _pool: &Pool, options: &Options) -> Price {
        let charge = options.interruption_charge * offering.interruptions_per_day();
        let reason = if charge > 0.0 { RISKY } else { PRICE };
        Price::dollars(offering.price() + charge, reason)
    }
}

export_ranking!(NewPolicy);

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    #[test]
    fn interruptions_are_charged_for() {
        let market = Market::new()
            .offering("m5.large", "a", 0.096)
            .offering("m5.large", "b", 0.040)
            .spot()
            .interruptions(2.0);
        let prices = market.prices(&NewPolicy, &Options::default());
        assert_eq!(prices[0], Price::dollars(0.096, PRICE));
        assert_eq!(prices[1], Price::dollars(0.040 + 0.02 * 2.0, RISKY));
    }
}
