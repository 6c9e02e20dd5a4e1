//! The ranking seam: what a ranking policy is asked, what it may answer, and what the host makes of the answer.
//!
//! Step before: a snapshot frozen, candidates found. Step after: packing by the prices, launching in the order.
//! Invariants:
//! - A question is plain data, whole and recordable: the same question put twice is the same bytes.
//! - Columns here are the columns of `wit/0.1`, one for one, so that carrying a question to a module is a copy.
//! - An answer is untrusted until [`check_prices`] or [`check_ordering`] has read it; what comes out of them is typed.
//! - [`list_price`] answers like the module `rank-list-price`, to the bit, without any module.

mod answer;
mod catalogue;
mod check;
mod columns;
mod cost_cap;
mod list_price;
mod order;
mod question;

#[cfg(test)]
mod tests;

pub use answer::{HeldRows, OrderAnswer, Price, PriceAnswer, Prices, Quote};
pub use catalogue::{Architecture, RowError, Tables, TablesBuilder};
pub use check::{CandidateName, RankingError, check_prices};
pub use columns::{
    CatalogueColumns, ClaimRow, Claims, InstanceTypeRow, OfferingRow, PoolRow, Pools, SIGNALS,
};
pub use cost_cap::{COST_CAP, list_where_allowed};
pub use list_price::{LIST_PRICE, list_order, list_price};
pub use order::{LaunchList, LaunchLists, check_ordering};
pub use question::{OrderQuestion, PriceQuestion};

// What this hook's questions share with the others, so that a caller needs one import.
pub use crate::hook::{
    Capacity, Column, Context, ExtColumn, NO_SYMBOL, PolicySettings, Setting, Sym, Symbols,
    SymbolsBuilder,
};
