//! Policies: how often each was asked, what it failed at, and how long it took.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_policy::Outcome;

use super::exposition::Exposition;
use super::families;
use super::keyed::{Counters, Histograms};

/// Figures of the calls of all policies.
#[derive(Clone, Debug)]
pub(crate) struct PolicyMeters {
    calls: Counters<2>,
    faults: Counters<3>,
    duration: Histograms<2>,
}

impl Default for PolicyMeters {
    fn default() -> Self {
        Self {
            calls: Counters::default(),
            faults: Counters::default(),
            duration: Histograms::new(&families::POLICY_DURATION),
        }
    }
}

impl PolicyMeters {
    /// A call has ended.
    pub(crate) fn called(
        &mut self,
        (policy, hook): (&Arc<str>, &str),
        outcome: Outcome,
        took: Duration,
    ) {
        let labels: [Arc<str>; 2] = [Arc::clone(policy), Arc::from(hook)];
        self.calls.add(labels.clone(), 1);
        self.duration.observe(labels.clone(), took.as_secs_f64());
        if outcome != Outcome::Ok {
            let [policy, hook] = labels;
            self.faults
                .add([policy, hook, Arc::from(outcome.label())], 1);
        }
    }

    /// A policy is no more.
    pub(crate) fn forget(&mut self, policy: &str) {
        self.calls.retain(|[own, _]| **own != *policy);
        self.faults.retain(|[own, ..]| **own != *policy);
        self.duration.retain(|[own, _]| **own != *policy);
    }

    pub(crate) fn write(&self, out: &mut Exposition) {
        out.counters(&families::POLICY_CALLS, &self.calls);
        out.counters(&families::POLICY_FAULTS, &self.faults);
        out.histograms(&families::POLICY_DURATION, &self.duration);
    }
}
