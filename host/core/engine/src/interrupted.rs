//! The cloud's word on instances: a claim goes where its instance does, and spot of which some was just taken back is not bought for a while.

use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::ProviderId;
use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_lifecycle::Interruption;
use plimsoll_model::NodeClaim;
use plimsoll_model::action::Action;
use plimsoll_model::catalogue::{CapacityType, OfferingKey};

use super::{Engine, report};

impl Engine {
    /// Takes in the cloud's word on an instance. It may be said again until its claim is seen to go, and is told once.
    pub(super) fn note_interruption(
        &mut self,
        instance: &ProviderId,
        interruption: Interruption,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(claim) = self.cluster.claim_of_instance(instance).cloned() else {
            return;
        };
        if !interruption.ends_instance() {
            if self.recent.recommended(&claim.name, now) {
                self.disruption.forget_last_pass();
            }
            self.tell_of_interruption(&claim, interruption, now, actions);
            return;
        }
        let said = &mut self.notes.of(&claim.name).interrupted;
        if said.replace(interruption).is_some() {
            return;
        }
        self.dirty_claims.insert(claim.name.clone());
        if claim.deleting.is_none() {
            self.tell_of_interruption(&claim, interruption, now, actions);
        }
        if interruption == Interruption::SpotReclaimed
            && let Some(offering) = spot_offering(&claim)
        {
            self.market.hold_back(offering, now);
            self.provision.market_changed();
        }
    }

    fn tell_of_interruption(
        &self,
        claim: &NodeClaim,
        interruption: Interruption,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let facts = interruption.facts();
        let goes = format!("terminates: {}", facts.words);
        for object in self.claim_and_node(&claim.name) {
            let words = facts.words.to_owned();
            actions.push(report(object.clone(), facts.event, words, now));
            if interruption.ends_instance() {
                actions.push(report(
                    object,
                    EventReason::TerminatingOnInterruption,
                    goes.clone(),
                    now,
                ));
            }
        }
    }
}

/// The spot offering that a claim's instance is of; `None` where it is of another kind, or does not say.
pub(super) fn spot_offering(claim: &NodeClaim) -> Option<OfferingKey> {
    let label = |key: &str| claim.labels.get(key);
    let capacity_type = CapacityType::parse(label(labels::CAPACITY_TYPE)?)?;
    (capacity_type == CapacityType::Spot).then_some(OfferingKey {
        instance_type: (&**label(labels::INSTANCE_TYPE)?).into(),
        zone: Arc::clone(label(labels::ZONE)?),
        capacity_type,
        reservation: None,
    })
}
