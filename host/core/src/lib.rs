//! Every decision Plimsoll makes, as functions of values: no I/O, no clock, no randomness.
//!
//! A [`snapshot::Snapshot`] is what the world looks like at one instant; a [`plan::Plan`] is what to do about it.
//! The controller, the simulator, the benchmarks and the tests all call the same functions on the same values.

pub mod action;
pub mod allow;
pub mod batch;
pub mod bits;
pub mod buffer;
pub mod catalogue;
pub mod check;
pub mod command;
pub mod cron;
pub mod disrupt;
pub mod engine;
pub mod event_reason;
pub mod fixed_hash;
pub mod hook;
pub mod ids;
pub mod labels;
pub mod lifecycle;
pub mod model;
pub mod pack;
mod parallel;
pub mod plan;
pub mod provider;
pub mod quantity;
pub mod rank;
pub mod requirement;
pub mod resources;
pub mod schedule;
pub mod score;
pub mod snapshot;
pub mod spare;
pub mod state;
pub mod static_pool;
pub mod structure_hash;
pub mod supply;
pub mod time;
pub mod units;
pub mod waste;
pub mod words;
