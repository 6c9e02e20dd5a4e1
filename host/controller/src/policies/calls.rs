//! Counts of one policy's calls.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_policy::{Asked, Observer};

use crate::telemetry::Telemetry;

/// Calls whose fuel is remembered.
const REMEMBERED: usize = 1_000;

/// Counts of calls, as they are shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallCounts {
    /// Questions put to the policy.
    pub(super) asked: i64,
    /// Those among them that it failed to answer.
    pub(super) failed: i64,
    /// Questions that its answer did not decide, those included that were not put to it.
    pub(super) fell_back: i64,
}

/// Counts since the policy was first served by this process.
pub(super) struct Calls {
    policy: Arc<str>,
    asked: AtomicI64,
    failed: AtomicI64,
    fell_back: AtomicI64,
    /// Fuel of the last calls, the newest last.
    fuel: Mutex<VecDeque<u64>>,
    telemetry: Telemetry,
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Calls");
        shown.field("policy", &self.policy);
        shown.field("counts", &self.counts());
        shown.finish_non_exhaustive()
    }
}

impl Calls {
    /// None yet, of a policy.
    pub(super) fn new(policy: &Arc<str>, telemetry: Telemetry) -> Self {
        Self {
            policy: Arc::clone(policy),
            asked: AtomicI64::new(0),
            failed: AtomicI64::new(0),
            fell_back: AtomicI64::new(0),
            fuel: Mutex::default(),
            telemetry,
        }
    }

    /// The counts by now.
    pub(super) fn counts(&self) -> CallCounts {
        let load = |count: &AtomicI64| count.load(Ordering::Relaxed);
        CallCounts {
            asked: load(&self.asked),
            failed: load(&self.failed),
            fell_back: load(&self.fell_back),
        }
    }

    /// Fuel that 99 of 100 of the last calls took at most; `None` before the first one.
    pub(super) fn fuel_p99(&self) -> Option<u64> {
        let fuel = self.fuel.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fuel: Vec<u64> = fuel.iter().copied().collect();
        let last = (fuel.len() * 99).div_ceil(100).checked_sub(1)?;
        Some(*fuel.select_nth_unstable(last).1)
    }

    fn burned(&self, fuel: u64) {
        let mut last = self.fuel.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == REMEMBERED {
            last.pop_front();
        }
        last.push_back(fuel);
    }
}

impl Observer for Calls {
    fn fell_back(&self) {
        self.fell_back.fetch_add(1, Ordering::Relaxed);
    }

    fn asked(&self, call: &Asked<'_>) {
        self.burned(call.fuel());
        self.asked.fetch_add(1, Ordering::Relaxed);
        if call.failed() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        let asked = (&self.policy, call.hook().label());
        self.telemetry.called(asked, call.outcome(), call.took());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuel_of_the_last_thousand_calls_counts() {
        let calls = Calls::new(&Arc::from("policy"), Telemetry::default());
        assert_eq!(calls.fuel_p99(), None);
        calls.burned(7);
        assert_eq!(calls.fuel_p99(), Some(7));
        (1..=1_000).for_each(|fuel| calls.burned(fuel));
        assert_eq!(calls.fuel_p99(), Some(990));
        (0..1_000).for_each(|_| calls.burned(3));
        assert_eq!(calls.fuel_p99(), Some(3));
    }
}
