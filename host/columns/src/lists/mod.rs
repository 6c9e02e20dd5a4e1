//! The lists, one file per hook. A new column is a [`Signal`](crate::model::Signal) of the list that has its rows: records of the
//! interface are frozen, and grow by columns that travel by name.

mod allow;
mod rank;
mod score;

pub use allow::ALLOW;
pub use rank::RANK;
pub use score::SCORE;

use crate::model::Hook;

/// Every hook.
pub const HOOKS: [Hook; 3] = [RANK, SCORE, ALLOW];
