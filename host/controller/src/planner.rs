//! Who decides: the core with a set of policies; what a policy fails at is logged, and what the core makes of it is in the
//! answer.

use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_core::disrupt::{Decision, Question};
use plimsoll_core::plan::Plan;
use plimsoll_core::schedule::Offers;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_policy::Policies;

/// Carries the core's questions to policies, and their answers back.
pub struct Planner {
    policies: Policies,
    /// What pools sell, as the last decision read it.
    offers: Mutex<Option<Arc<Offers>>>,
}

impl Planner {
    /// A planner that asks these policies.
    pub fn new(policies: Policies) -> Self {
        Self {
            policies,
            offers: Mutex::default(),
        }
    }

    /// What to buy for a snapshot.
    pub fn plan(&self, snapshot: &Snapshot) -> Plan {
        let decision = self.with_offers(|offers| self.policies.plan(snapshot, offers));
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
        let consider = |offers: &mut _| self.policies.consider(snapshot, question, offers);
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
