//! The planner: the core with the policies that serve when a decision begins; what a policy fails at is logged, and what the core makes
//! of it is in the answer.

use std::sync::Arc;

use plimsoll_model::command::{Decision, DisruptionQuestion, Settled};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_policy::{Generations, Policies};
use plimsoll_schedule::Session;

use crate::policies::PolicyChanges;

/// Carries the core's questions to policies, and their answers back.
pub struct Planner {
    generations: Arc<Generations>,
    changes: PolicyChanges,
    /// Offers that decisions keep from one to the next.
    session: Session,
}

impl Planner {
    /// A planner that asks these policies, until others take their places.
    pub fn new(policies: Policies) -> Self {
        Self {
            generations: Arc::new(Generations::new(policies)),
            changes: PolicyChanges::default(),
            session: Session::default(),
        }
    }

    /// Where policies are exchanged while it decides.
    pub fn generations(&self) -> Arc<Generations> {
        Arc::clone(&self.generations)
    }

    /// Where it is made known that they were.
    pub fn changes(&self) -> PolicyChanges {
        self.changes.clone()
    }

    /// Plans a snapshot: the claims to buy and the place of each pod.
    pub fn plan(&self, snapshot: &Snapshot) -> Plan {
        let generation = self.generations.current();
        let decision = generation.plan(snapshot, &self.session);
        for (policy, fault) in &decision.faults {
            tracing::warn!(policy, %fault, "policy failed");
        }
        decision.plan
    }

    /// Decides which nodes of a snapshot are disrupted.
    pub fn consider(&self, snapshot: &Snapshot, question: &DisruptionQuestion) -> Decision {
        let generation = self.generations.current();
        let considered = generation.consider(snapshot, question, &self.session);
        for note in &considered.notes {
            tracing::warn!("{note}");
        }
        considered.decision
    }

    /// Tells those who look on of a command that came to its end, or to the end of the hour after it.
    pub fn settled(&self, settled: &Settled) {
        self.generations.current().settled(settled);
    }
}
