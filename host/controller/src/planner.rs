//! Who decides: the core with a set of policies; what a policy fails at is logged, and what the core makes of it is in the
//! answer.

use plimsoll_core::disrupt::{Decision, Question};
use plimsoll_core::plan::Plan;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_policy::Policies;

/// Carries the core's questions to policies, and their answers back.
pub struct Planner {
    policies: Policies,
}

impl Planner {
    /// A planner that asks these policies.
    pub fn new(policies: Policies) -> Self {
        Self { policies }
    }

    /// What to buy for a snapshot.
    pub fn plan(&self, snapshot: &Snapshot) -> Plan {
        let decision = self.policies.plan(snapshot, &mut None);
        if let Some(module) = &self.policies.rank {
            let policy = module.manifest().name.as_str();
            for fault in &decision.faults {
                tracing::warn!(policy, %fault, "policy failed");
            }
        }
        decision.plan
    }

    /// What should become of the nodes of a snapshot.
    pub fn consider(&self, snapshot: &Snapshot, question: &Question) -> Decision {
        let considered = self.policies.consider(snapshot, question);
        for note in &considered.notes {
            tracing::warn!("{note}");
        }
        considered.decision
    }
}
