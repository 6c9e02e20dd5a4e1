//! Buys, of the instances that hold the pods, the one that is filled best. README.md has the formula.

use plimsoll_sdk::ranking::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// How many times the cheapest one's price a type may cost to be tried first.
    #[setting(default = 1.5, min = 1, max = 10)]
    pub dearest: f64,
}

reasons! { WASTE = "least waste", DEAR = "too dear for its waste" }

/// Most that two shares of waste can come to: what is too dear scores above it.
const WHOLE: f64 = 2.0;

/// The least share of processors and memory left over.
#[derive(Debug)]
pub struct LeastWaste;

impl Ranking for LeastWaste {
    type Settings = Options;

    fn order(&self, offering: &Offering, claim: &Claim, _options: &Options) -> Score {
        let cpu = left_over(claim.cpu_milli(), offering.cpu_milli());
        let memory = left_over(claim.memory_mib(), offering.memory_mib());
        Score::new(cpu + memory, WASTE)
    }

    fn orders(&self, table: &OrderTable, options: &Options) -> Result<ScoreAnswer, PolicyError> {
        let cheapest = cheapest(table);
        Ok(table.map(|offering, claim| {
            if offering.price() > options.dearest * cheapest[claim.number()] {
                Score::new(WHOLE + offering.price(), DEAR)
            } else {
                self.order(offering, claim, options)
            }
        }))
    }
}

export_ranking!(LeastWaste, only_orders);

/// Price of the cheapest candidate of each claim.
fn cheapest(table: &OrderTable) -> Vec<f64> {
    let mut prices = Vec::new();
    table.each(|offering, claim| {
        prices.resize(prices.len().max(claim.number() + 1), f64::INFINITY);
        let price: &mut f64 = &mut prices[claim.number()];
        *price = price.min(offering.price());
    });
    prices
}

/// Share of what an instance has that the claim leaves over: 0 to 1.
fn left_over(asked: u32, has: u32) -> f64 {
    1.0 - (f64::from(asked) / f64::from(has.max(1))).min(1.0)
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    fn market() -> Market {
        Market::new()
            .offering("c5.large", "a", 0.085)
            .size(2_000, 4_096)
            .offering("m5.large", "a", 0.096)
            .size(2_000, 8_192)
            .offering("r5.large", "a", 0.126)
            .size(2_000, 16_384)
    }

    fn scores(claim: (u32, u32), dearest: f64) -> Vec<Score> {
        market().scores(&LeastWaste, &Options { dearest }, claim)
    }

    #[test]
    fn the_machine_that_is_filled_scores_least() {
        assert_eq!(
            scores((2_000, 8_192), 10.0),
            [0.0, 0.0, 0.5].map(|waste| Score::new(waste, WASTE))
        );
        assert_eq!(
            scores((1_000, 4_096), 10.0),
            [0.5, 1.0, 1.25].map(|waste| Score::new(waste, WASTE))
        );
    }

    #[test]
    fn what_is_too_dear_stands_behind_all_others() {
        let scores = scores((2_000, 16_384), 1.2);
        assert_eq!(scores[2], Score::new(WHOLE + 0.126, DEAR));
        assert!(scores[..2].iter().all(|score| score.value() < WHOLE));
    }
}
