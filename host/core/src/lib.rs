//! Every decision Plimsoll makes, as functions of values: no I/O, no clock, no randomness.

pub mod rank;
pub mod units;
