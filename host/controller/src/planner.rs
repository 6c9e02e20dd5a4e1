//! Who decides: the core with the policies that serve when a decision begins; what a policy fails at is logged, and what the core makes
//! of it is in the answer.

use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_core::command::{Decision, DisruptionQuestion};
use plimsoll_core::plan::Plan;
use plimsoll_core::schedule::Offers;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_policy::{Generations, Policies};

/// Carries the core's questions to policies, and their answers back.
pub struct Planner {
    generations: Arc<Generations>,
    /// What pools sell, as the last decision read it.
    offers: Mutex<Option<Arc<Offers>>>,
}

impl Planner {
    /// A planner that asks these policies, until others take their places.
    pub fn new(policies: Policies) -> Self {
        Self {
            generations: Arc::new(Generations::new(policies)),
            offers: Mutex::default(),
        }
    }

    /// Where policies are exchanged while it decides.
    pub fn generations(&self) -> Arc<Generations> {
        Arc::clone(&self.generations)
    }

    /// What to buy for a snapshot.
    pub fn plan(&self, snapshot: &Snapshot) -> Plan {
        let generation = self.generations.current();
        let decision = self.with_offers(|offers| generation.plan(snapshot, offers));
        if let Some(policy) = generation.ranks() {
            for fault in &decision.faults {
                tracing::warn!(policy, %fault, "policy failed");
            }
        }
        decision.plan
    }

    /// What should become of the nodes of a snapshot.
    pub fn consider(&self, snapshot: &Snapshot, question: &DisruptionQuestion) -> Decision {
        let generation = self.generations.current();
        let consider = |offers: &mut _| generation.consider(snapshot, question, offers);
        let considered = self.with_offers(consider);
        for note in &considered.notes {
            tracing::warn!("{note}");
        }
        considered.decision
    }

    /// Lends what the last decision read, and keeps what this one did. Decisions at the same time do not wait for one another.
    fn with_offers<R>(&self, decide: impl FnOnce(&mut Option<Arc<Offers>>) -> R) -> R {
        let kept = || self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut offers = kept().clone();
        let result = decide(&mut offers);
        *kept() = offers;
        result
    }
}
