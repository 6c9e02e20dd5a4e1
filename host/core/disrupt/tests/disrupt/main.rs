//! Disruption by data: which nodes may be removed, why the others may not, and what is done about them.

mod candidates;
mod drift;
mod drift_plans;
mod freezes;
mod indexes;
mod jobs;
mod limits;
mod pass;
mod prices;
mod questions;
mod spare;
mod static_pools;
mod static_reserved;
