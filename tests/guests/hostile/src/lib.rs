//! A ranking policy that misbehaves in the way its setting says: one module for the whole corpus.

mod misbehave;

use plimsoll_sdk::ranking::{
    Claim, Level, Offering, PolicyError, Pool, Price, PriceAnswer, PriceTable, Ranking, Score,
    Settings, export_ranking, log, reasons,
};

use crate::misbehave::misbehave;

/// How to misbehave.
#[derive(Debug, Settings)]
pub struct Options {
    /// The behaviour; `honest` answers list prices.
    #[setting(default = "honest")]
    pub behaviour: String,
}

reasons! { ANSWER = "as the setting says" }

/// Misbehaves as told.
#[derive(Debug)]
pub struct Hostile;

impl Ranking for Hostile {
    type Settings = Options;

    fn price(&self, offering: &Offering, _pool: &Pool, options: &Options) -> Price {
        let list = Price::dollars(offering.price(), ANSWER);
        match options.behaviour.as_str() {
            "nan" => Price::dollars(f64::NAN, ANSWER),
            "negative" => Price::dollars(-1.0, ANSWER),
            "first-above-then" => list.but_first(1, offering.price() + 1.0, ANSWER),
            "group-counts" => list
                .but_first(
                    u32::try_from(offering.row()).unwrap_or_default() + 1,
                    0.0,
                    ANSWER,
                )
                .in_group(1),
            _ => list,
        }
    }

    fn order(&self, offering: &Offering, _claim: &Claim, options: &Options) -> Score {
        let score = match options.behaviour.as_str() {
            "order-nan" => f64::NAN,
            "order-below" => f64::NEG_INFINITY,
            "order-none" => f64::INFINITY,
            _ => offering.price(),
        };
        Score::new(score, ANSWER)
    }

    fn prices(&self, table: &PriceTable, options: &Options) -> Result<PriceAnswer, PolicyError> {
        misbehave(&options.behaviour, table.len())?;
        match options.behaviour.as_str() {
            "chatter" => (0..100).for_each(|line| log(Level::Warn, &format!("line\n{line}"))),
            "short" => return Ok(PriceAnswer::with_capacity(0)),
            "huge" => return Ok(huge()),
            _ => {}
        }
        Ok(table.map(|offering, pool| self.price(offering, pool, options)))
    }
}

export_ranking!(Hostile, orders);

fn huge() -> PriceAnswer {
    let mut answer = PriceAnswer::with_capacity(1 << 16);
    (0..1 << 16).for_each(|_| answer.push(Price::dollars(1.0, ANSWER)));
    answer
}
