//! What benches share: a gauge of this process, and the decision that most of them take.

pub mod cases;
mod gauge;

pub use gauge::{peak_bytes, processor_time};

use std::time::{Duration, Instant};

use plimsoll_core::plan::Plan;
use plimsoll_core::schedule;
use plimsoll_core::snapshot::Snapshot;

/// A decision with what it took.
pub struct Timed {
    /// The decision.
    pub plan: Plan,
    /// On the clock, from the snapshot in memory to the plan, grouping included.
    pub wall: Duration,
    /// Of processors, summed over threads.
    pub processor: Duration,
}

/// Decides at list prices.
pub fn timed(snapshot: &Snapshot) -> Timed {
    let (began, before) = (Instant::now(), processor_time());
    let plan = schedule::plan(snapshot);
    Timed {
        plan,
        wall: began.elapsed(),
        processor: processor_time().saturating_sub(before),
    }
}

/// A number from the command line; `default` where there is none.
pub fn argument(at: usize, default: usize) -> usize {
    std::env::args()
        .nth(at)
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}
