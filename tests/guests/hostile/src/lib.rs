//! A ranking policy that misbehaves in the way its setting says: one module for the whole corpus.

mod misbehave;

use std::sync::atomic::{AtomicU32, Ordering};

use plimsoll_sdk::ranking::{
    Claim, Level, Offering, PolicyError, Pool, Price, PriceAnswer, PriceTable, Problem, Ranking,
    Reason, Score, Settings, export_ranking, log, reasons,
};

use crate::misbehave::{misbehave, stop};

/// How to misbehave.
#[derive(Debug, Settings)]
pub struct Options {
    /// The behaviour; `honest` answers list prices.
    #[setting(default = "honest")]
    pub behaviour: String,
    /// Unix second from which on it is honest; 0 for never.
    #[setting(default = 0, min = 0)]
    pub until_unix_s: f64,
    /// The mark that `marks` leaves in every number.
    #[setting(default = 0, min = 0)]
    pub mark: f64,
}

impl Options {
    /// Its behaviour at that Unix second.
    fn at(&self, now: u64) -> Self {
        let is_over = self.until_unix_s > 0.0 && now as f64 >= self.until_unix_s;
        let behaviour = if is_over { "honest" } else { &self.behaviour };
        Self {
            behaviour: behaviour.to_owned(),
            until_unix_s: 0.0,
            mark: self.mark,
        }
    }
}

reasons! { ANSWER = "as the setting says" }

/// Calls that this memory has seen: one, unless calls share a memory.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Misbehaves as told.
#[derive(Debug)]
pub struct Hostile;

impl Ranking for Hostile {
    type Settings = Options;

    fn price(&self, offering: &Offering, pool: &Pool, options: &Options) -> Price {
        let list = Price::dollars(offering.price(), ANSWER);
        let row = u32::try_from(offering.row()).unwrap_or_default();
        match options.behaviour.as_str() {
            "nan" => Price::dollars(f64::NAN, ANSWER),
            "negative" => Price::dollars(-1.0, ANSWER),
            "below" => Price::dollars(f64::NEG_INFINITY, ANSWER),
            "infinite" => Price::dollars(f64::INFINITY, ANSWER),
            "beyond" => Price::dollars(1e9, ANSWER),
            // Some thousandths more, as the mark says.
            "marks" => Price::dollars(offering.price() * (1.0 + options.mark / 1_000.0), ANSWER),
            // The dearest looks cheapest.
            "dearest" => Price::dollars(1_000.0 - offering.price(), ANSWER),
            "unknown-reason" => Price::dollars(offering.price(), Reason(u16::MAX)),
            "remembers" => Price::dollars(
                offering.price() + f64::from(CALLS.load(Ordering::Relaxed)) - 1.0,
                ANSWER,
            ),
            "tenant" if pool.name() == "unlucky" => stop(offering.row()),
            "first-above-then" => list.but_first(1, offering.price() + 1.0, ANSWER),
            "group-counts" => list.but_first(row + 1, 0.0, ANSWER).in_group(1),
            _ => list,
        }
    }

    fn order(&self, offering: &Offering, _claim: &Claim, options: &Options) -> Score {
        let score = match options.behaviour.as_str() {
            "order-nan" => f64::NAN,
            "order-below" => f64::NEG_INFINITY,
            "order-none" => f64::INFINITY,
            // Every other mark has the dearest first.
            "marks" if options.mark % 2.0 > 0.0 => -offering.price(),
            "order-panic" => stop(offering.row()),
            _ => offering.price(),
        };
        Score::new(score, ANSWER)
    }

    fn prices(&self, table: &PriceTable, options: &Options) -> Result<PriceAnswer, PolicyError> {
        CALLS.fetch_add(1, Ordering::Relaxed);
        let options = &options.at(table.now_unix_s());
        misbehave(&options.behaviour, table.len())?;
        match options.behaviour.as_str() {
            "chatter" => (0..100).for_each(|line| log(Level::Warn, &format!("line\n{line}"))),
            "short" => return Ok(PriceAnswer::with_capacity(0)),
            "huge" => return Ok(huge()),
            "reversed" => return Ok(reversed(table)),
            _ => {}
        }
        Ok(table.map(|offering, pool| self.price(offering, pool, options)))
    }

    fn validate(&self, options: &Options) -> Vec<Problem> {
        match options.behaviour.as_str() {
            "validate-panic" => stop(0),
            "validate-refuses" => vec![Problem {
                path: "behaviour\u{1b}[2J".to_owned(),
                message: format!("<b>no</b>\u{202e}\n{}", "x".repeat(5_000)),
            }],
            _ => Vec::new(),
        }
    }
}

export_ranking!(Hostile, orders);

/// List prices in the wrong order.
fn reversed(table: &PriceTable) -> PriceAnswer {
    let mut answer = PriceAnswer::with_capacity(table.len());
    for row in (0..table.len()).rev() {
        let price = table.row(row).map(|(offering, _)| offering.price());
        answer.push(Price::dollars(price.unwrap_or_default(), ANSWER));
    }
    answer
}

fn huge() -> PriceAnswer {
    let mut answer = PriceAnswer::with_capacity(1 << 13);
    (0..1 << 13).for_each(|_| answer.push(Price::dollars(1.0, ANSWER)));
    answer
}
