//! The ranking hook: which instances to buy, and in which order to try them. `use plimsoll_sdk::ranking::*` has it all.
//!
//! [`Ranking::price`] is all a first policy needs. A policy that cares about the finished instance also writes
//! [`Ranking::order`]; one that needs the whole table at once takes [`Ranking::prices`] or [`Ranking::orders`].

mod answer;
mod columns;
mod reads;
mod table;
mod view;

pub use answer::{Price, PriceAnswer, Score, ScoreAnswer};
pub use table::{OrderTable, PriceTable};
pub use view::{Architecture, Claim, Offering, Pool};

pub use crate::columns::Capacity;
pub use crate::common::*;
pub use crate::export_ranking;

pub(crate) use columns::Tables;

/// A ranking policy: a pure function of what it is shown. There is no clock, no randomness and no memory between calls.
pub trait Ranking {
    /// The settings, as they appear in the Policy object; [`NoSettings`] for none.
    type Settings: Settings;

    /// Signals without which the policy cannot work; the host refuses it where they are not provided.
    const REQUIRED_SIGNALS: &'static [&'static str] = &[];

    /// Fuel for each row of a question that the policy asks for, where the host's 1,000 are too few; the host has a ceiling for a call.
    const FUEL_PER_ROW: Option<u32> = None;

    /// Signals the policy uses where there are any.
    const OPTIONAL_SIGNALS: &'static [&'static str] = &[];

    /// Price of one more node of this offering in this pool, in dollars per hour, whatever pods it will hold. By default
    /// the list price, for policies that only order.
    fn price(&self, offering: &Offering, pool: &Pool, settings: &Self::Settings) -> Price {
        let _ = (pool, settings);
        Price::dollars(offering.price(), Reason::NONE)
    }

    /// Where this offering stands in the launch list of a planned claim: lower is tried first. Asked of policies that say
    /// `orders` or `only_orders` in [`export_ranking!`](crate::export_ranking); the launch lists of others are in order of
    /// their prices.
    fn order(&self, offering: &Offering, claim: &Claim, settings: &Self::Settings) -> Score {
        let _ = (claim, settings);
        Score::new(offering.price(), Reason::NONE)
    }

    /// All prices at once, for policies whose rows depend on one another. By default one [`price`](Self::price) per row.
    fn prices(
        &self,
        table: &PriceTable,
        settings: &Self::Settings,
    ) -> Result<PriceAnswer, PolicyError> {
        Ok(table.map(|offering, pool| self.price(offering, pool, settings)))
    }

    /// All scores at once. By default one [`order`](Self::order) per row.
    fn orders(
        &self,
        table: &OrderTable,
        settings: &Self::Settings,
    ) -> Result<ScoreAnswer, PolicyError> {
        Ok(table.map(|offering, claim| self.order(offering, claim, settings)))
    }

    /// Faults of settings beyond their types and limits; none by default.
    fn validate(&self, settings: &Self::Settings) -> Vec<Problem> {
        let _ = settings;
        Vec::new()
    }

    /// The parts of a price, by name, for `explain`. By default none.
    fn terms(
        &self,
        offering: &Offering,
        pool: &Pool,
        settings: &Self::Settings,
    ) -> Vec<(&'static str, f64)> {
        let _ = (offering, pool, settings);
        Vec::new()
    }
}

/// Makes a policy a module: `export_ranking!(MyPolicy)`, once per crate, where `MyPolicy` is a unit struct and
/// [`reasons!`](crate::reasons) has been called in the same module.
///
/// Words after the name say more, each at most once and in this order:
/// - `orders`: the policy has an order of its own for launch lists, [`Ranking::order`] or [`Ranking::orders`];
/// - `only_orders`: its prices mean nothing, only its order counts; packing then uses list prices;
/// - `vetoes`: it forbids offerings, so that pods wait rather than land where a broken policy would have forbidden it.
#[macro_export]
macro_rules! export_ranking {
    ($policy:ident) => { $crate::export_ranking!(@ $policy, "dollars", false, false); };
    ($policy:ident, vetoes) => { $crate::export_ranking!(@ $policy, "dollars", false, true); };
    ($policy:ident, orders) => { $crate::export_ranking!(@ $policy, "dollars", true, false); };
    ($policy:ident, orders, vetoes) => { $crate::export_ranking!(@ $policy, "dollars", true, true); };
    ($policy:ident, only_orders) => { $crate::export_ranking!(@ $policy, "order", true, false); };
    ($policy:ident, only_orders, vetoes) => { $crate::export_ranking!(@ $policy, "order", true, true); };
    (@ $policy:ident, $unit:literal, $orders:literal, $vetoes:literal) => {
        $crate::export_module!($policy, ranking::Ranking, "rank", $unit, $orders, $vetoes);
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::ranker::export_ranker_interface!($policy with_types_in $crate::bindings::ranker);
    };
}
