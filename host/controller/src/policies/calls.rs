//! Counts of one policy's calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use plimsoll_policy::{Asked, Observer};

use crate::telemetry::Telemetry;

/// Counts since the policy was first served by this process.
pub(super) struct Calls {
    policy: Arc<str>,
    asked: AtomicI64,
    failed: AtomicI64,
    telemetry: Telemetry,
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (policy, counts) = (&self.policy, self.counts());
        let mut shown = f.debug_struct("Calls");
        shown.field("policy", policy).field("counts", &counts);
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
            telemetry,
        }
    }

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
        let asked = (&self.policy, call.hook().label());
        self.telemetry.called(asked, call.outcome(), call.took());
    }
}
