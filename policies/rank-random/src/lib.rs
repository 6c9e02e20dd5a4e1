//! Any of the machines that hold the pods: the Cluster Autoscaler's expander `random`. The same snapshot gives the same choice.

use plimsoll_sdk::ranking::*;

reasons! { DRAWN = "drawn by lot" }

/// By lot, from the seed of the snapshot.
#[derive(Debug)]
pub struct Random;

impl Ranking for Random {
    type Settings = NoSettings;

    /// The lot that the row would draw as the only one: the whole table draws for all.
    fn order(&self, offering: &Offering, claim: &Claim, _settings: &NoSettings) -> Score {
        lot(0, offering, claim)
    }

    fn orders(
        &self,
        table: &OrderTable,
        _settings: &NoSettings,
    ) -> Result<ScoreAnswer, PolicyError> {
        let seed = table.seed();
        Ok(table.map(|offering, claim| lot(seed, offering, claim)))
    }
}

export_ranking!(Random, only_orders);

fn lot(seed: u64, offering: &Offering, claim: &Claim) -> Score {
    let row = mixed(seed ^ mixed(claim.number() as u64)) ^ offering.row() as u64;
    // 53 bits are what a score holds exactly.
    Score::new((mixed(row) >> 11) as f64, DRAWN)
}

/// The finaliser of SplitMix64: each bit of the result depends on each bit of the number.
const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    fn market() -> Market {
        ["a", "b", "c", "d"]
            .into_iter()
            .fold(Market::new(), |market, zone| {
                market.offering("m5.large", zone, 0.096)
            })
    }

    #[test]
    fn the_same_question_draws_the_same_lots_and_no_two_are_alike() {
        let scores = market().scores(&Random, &NoSettings, (1_000, 1_024));
        assert_eq!(
            scores,
            market().scores(&Random, &NoSettings, (1_000, 1_024))
        );
        let mut values: Vec<f64> = scores.iter().map(Score::value).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        assert_eq!(values.len(), 4);
    }
}
