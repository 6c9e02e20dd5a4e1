//! Counts of one policy's calls.

use std::sync::atomic::{AtomicI64, Ordering};

use plimsoll_policy::{Asked, Observer};

/// Counts since the policy was first served by this process.
#[derive(Debug, Default)]
pub(super) struct Calls {
    asked: AtomicI64,
    failed: AtomicI64,
}

impl Calls {
    /// Questions put to it, and those among them that it failed to answer.
    pub(super) fn counts(&self) -> (i64, i64) {
        let load = |count: &AtomicI64| count.load(Ordering::Relaxed);
        (load(&self.asked), load(&self.failed))
    }
}

impl Observer for Calls {
    fn asked(&self, call: &Asked<'_>) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if call.failed() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
