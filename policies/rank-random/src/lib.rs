//! Any of the instances that hold the pods: the Cluster Autoscaler's expander `random`. The same snapshot gives the same choice.

use plimsoll_sdk::ranking::*;

reasons! { DRAWN = "drawn by lot" }

/// By lot, from the seed of the snapshot.
#[derive(Debug)]
pub struct Random;

impl Ranking for Random {
    type Settings = NoSettings;

    /// The lot that the row would draw as the only one: the whole table draws for all.
    fn order(&self, offering: &Offering, claim: &Claim, _settings: &NoSettings) -> Score {
        lot(wish(0, claim), place(offering))
    }

    fn orders(
        &self,
        table: &OrderTable,
        _settings: &NoSettings,
    ) -> Result<ScoreAnswer, PolicyError> {
        // Names are read once, however many claims an offering can hold and offerings a claim.
        let mut places: Vec<Option<u64>> = Vec::new();
        let mut last = (usize::MAX, 0);
        Ok(table.map(|offering, claim| {
            let row = offering.row();
            if places.len() <= row {
                places.resize(row + 1, None);
            }
            let place = *places[row].get_or_insert_with(|| place(offering));
            if last.0 != claim.number() {
                last = (claim.number(), wish(table.seed(), claim));
            }
            lot(last.1, place)
        }))
    }
}

export_ranking!(Random, only_orders);

fn lot(wish: u64, place: u64) -> Score {
    // 53 bits are what a score holds exactly.
    Score::new((mixed(wish ^ place) >> 11) as f64, DRAWN)
}

/// Number that a claim draws with: the seed and what the claim is, never where it stands, since the order of rows is the host's.
fn wish(seed: u64, claim: &Claim) -> u64 {
    let requests = u64::from(claim.cpu_milli()) << 32 | u64::from(claim.memory_mib());
    let holds = u64::from(claim.pods()) << 32 | u64::from(claim.gpus());
    mixed(seed ^ mixed(requests ^ mixed(holds ^ text(claim.pool()))))
}

/// Number of an offering, from its type, zone and capacity type.
fn place(offering: &Offering) -> u64 {
    let zone = mixed(text(offering.zone()) ^ offering.capacity() as u64);
    mixed(text(offering.instance_type()) ^ zone)
}

/// A name as a number: FNV-1a.
fn text(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, letter| {
        (hash ^ u64::from(letter)).wrapping_mul(0x100_0000_01b3)
    })
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
