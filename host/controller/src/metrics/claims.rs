//! NodeClaims: how many were made, asked to go and let go, and how long that took.

use std::sync::Arc;

use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_engine::EngineCounts;
use plimsoll_model::{ConditionType, NodeClaim};

use super::exposition::Exposition;
use super::families;
use super::keyed::{Counters, Histograms};
use super::seconds;

/// Figures of claims that went.
#[derive(Clone, Debug)]
pub(crate) struct ClaimMeters {
    terminated: Counters<3>,
    termination: Histograms<1>,
    instance_termination: Histograms<1>,
}

impl Default for ClaimMeters {
    fn default() -> Self {
        Self {
            terminated: Counters::default(),
            termination: Histograms::new(&families::CLAIM_TERMINATION),
            instance_termination: Histograms::new(&families::INSTANCE_TERMINATION),
        }
    }
}

impl ClaimMeters {
    /// A claim that was asked to go is let go: our finalizer is off.
    pub(crate) fn release(&mut self, claim: &NodeClaim, deleting: Timestamp, now: Timestamp) {
        let label = |key: &str| claim.labels.get(key).cloned().unwrap_or_default();
        let pool: Arc<str> = Arc::from(claim.pool.as_str());
        self.terminated.add(
            [
                Arc::clone(&pool),
                label(labels::CAPACITY_TYPE),
                label(labels::ZONE),
            ],
            1,
        );
        let took = seconds(now.since(deleting));
        self.termination.observe([Arc::clone(&pool)], took);
        if claim.provider_id.is_some() {
            let ending = claim.conditions.get(ConditionType::InstanceTerminating);
            // An instance that was gone when it was asked to end is not said to be ending.
            let took = ending.map_or(0.0, |ending| seconds(now.since(ending.since)));
            self.instance_termination.observe([pool], took);
        }
    }

    pub(crate) fn write(&self, out: &mut Exposition, counts: &EngineCounts) {
        let mut created = Counters::<3>::default();
        for (claim, count) in &counts.created {
            let reason = claim.replaces.map_or("provisioned", |it| it.facts().label);
            let relaxed = if claim.min_values_relaxed {
                "true"
            } else {
                "false"
            };
            let labels = [reason, claim.pool.as_str(), relaxed];
            created.add(labels.map(Arc::from), *count);
        }
        out.counters(&families::CLAIMS_CREATED, &created);
        out.counters(&families::CLAIMS_TERMINATED, &self.terminated);
        let mut disrupted = Counters::<3>::default();
        for ((cause, pool, capacity_type), count) in &counts.deleted {
            if let Some(reason) = cause.label() {
                let labels = [reason, pool.as_str(), &**capacity_type];
                disrupted.add(labels.map(Arc::from), *count);
            }
        }
        out.counters(&families::CLAIMS_DISRUPTED, &disrupted);
        out.histograms(&families::CLAIM_TERMINATION, &self.termination);
        out.histograms(&families::INSTANCE_TERMINATION, &self.instance_termination);
    }
}
