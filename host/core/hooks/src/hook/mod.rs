//! The common parts of the questions of all three hooks: context, settings, names, optional signals.
//!
//! The counterpart of the interface `types` of `wit/0.1`. The hooks themselves are [`crate::rank`], [`crate::score`] and
//! [`crate::allow`]: each a question, an untrusted answer, and what is left of it once checked.

mod column;
mod context;
mod symbols;

pub use column::{Capacity, Column, ExtColumn, WrongLength};
pub(crate) use column::{Signals, check_lengths};
pub use context::{Context, PolicySettings, Setting};
pub use symbols::{NO_SYMBOL, Sym, Symbols, SymbolsBuilder};
