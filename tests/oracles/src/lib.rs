//! The common parts of tests, benches and fuzzers: fixtures with one-word steps, generators of clusters, and judges of plans.
//!
//! Nothing here is part of the product, and nothing here looks at how the planner works: it builds snapshots and judges plans.

pub mod exhaustive;
pub mod exposition;
pub mod fixture;
pub mod generate;
pub mod judge;
pub mod moves;
pub mod published;
pub mod skip;
