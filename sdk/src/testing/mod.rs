//! Inputs for a policy's own tests, built step by step, and the policy asked about them: a [`Market`] for ranking, a [`Fleet`]
//! for consolidation, [`Pools`] for budgets.
//!
//! ```
//! use plimsoll_sdk::ranking::*;
//! use plimsoll_sdk::testing::Market;
//!
//! struct ListPrice;
//! impl Ranking for ListPrice {
//!     type Settings = NoSettings;
//!     fn price(&self, offering: &Offering, _pool: &Pool, _settings: &NoSettings) -> Price {
//!         Price::dollars(offering.price(), Reason::NONE)
//!     }
//! }
//!
//! let market = Market::new().offering("m5.large", "a", 0.096).offering("m5.large", "b", 0.101).spot();
//! assert_eq!(market.prices(&ListPrice, &NoSettings)[1].then(), 0.101);
//! ```

/// Steps that set the time of a snapshot, and where the clocks of zones stand then.
macro_rules! clock_steps {
    () => {
        /// Time of the snapshot, seconds since 1970.
        #[must_use]
        pub fn at(mut self, now_unix_s: u64) -> Self {
            self.context.now_unix_s = now_unix_s;
            self
        }

        /// Says how many minutes the clock of a zone is ahead of UTC. A policy that asks for another, save UTC, panics.
        #[must_use]
        pub fn zone(mut self, zone: &crate::time::TimeZone, offset_minutes: i16) -> Self {
            super::set_zone(&mut self.context, zone, offset_minutes);
            self
        }
    };
}

mod columns;
mod fleet;
mod market;
mod pools;

pub use fleet::Fleet;
pub use market::Market;
pub use pools::Pools;

use crate::bindings::configure::plimsoll::policy::types::{
    Context, PolicyError, Symbols, ZoneTime,
};
use crate::time::TimeZone;

/// Texts by number, in order of first use after the empty one.
#[derive(Debug, Clone)]
struct Names {
    texts: Vec<String>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            texts: vec![String::new()],
        }
    }
}

impl Names {
    fn symbol(&mut self, text: &str) -> u32 {
        if let Some(known) = self.texts.iter().position(|known| known == text) {
            return count(known);
        }
        self.texts.push(text.to_owned());
        count(self.texts.len() - 1)
    }

    fn symbols(&self) -> Symbols {
        let mut symbols = Symbols {
            blob: Vec::new(),
            ends: Vec::new(),
        };
        for text in &self.texts {
            symbols.blob.extend_from_slice(text.as_bytes());
            symbols.ends.push(count(symbols.blob.len()));
        }
        symbols
    }
}

fn context(now_unix_s: u64) -> Context {
    Context {
        generation: 0,
        now_unix_s,
        seed: 0,
        zones: Vec::new(),
    }
}

/// Says where the clock of a zone stands; it never changes.
fn set_zone(context: &mut Context, zone: &TimeZone, offset_minutes: i16) {
    context.zones.push(ZoneTime {
        zone: zone.name().to_owned(),
        offset_minutes,
        next_change_unix_s: 0,
        next_offset_minutes: offset_minutes,
    });
}

/// The answer for each of so many rows.
#[expect(
    clippy::panic,
    reason = "a declined question is a failed test, and should say why"
)]
#[track_caller]
fn each<A, T>(
    answered: Result<A, PolicyError>,
    rows: usize,
    row: impl Fn(&A, usize) -> Option<T>,
) -> Vec<T> {
    match answered {
        Ok(answer) => (0..rows).filter_map(|at| row(&answer, at)).collect(),
        Err(error) => panic!("the policy declined: {}", error.message),
    }
}

fn set_last<T>(column: &mut [T], value: T) {
    if let Some(last) = column.last_mut() {
        *last = value;
    }
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).expect("a test has fewer than 2^32 rows")
}
