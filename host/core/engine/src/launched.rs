//! Effects of a launch's answer, claim by claim: an instance, none and why, or unknown.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::LaunchToken;
use plimsoll_base::time::Timestamp;
use plimsoll_lifecycle::{FailedLaunch, Instance};
use plimsoll_model::NodeClaim;
use plimsoll_model::action::{
    Action, Answer, ClaimLaunch, CloudCall, LaunchAnswer, LaunchRequest, LaunchedInstance,
    ObjectKey, Outcome, Purpose, Reason, Request,
};
use plimsoll_model::catalogue::OfferingKey;

use super::orders::{Ended, Flight};
use super::outcome::LONGEST_FAILURE;
use super::{Engine, report};

impl Engine {
    /// Takes in how the call of a launch ended. Its claims are looked at again at once.
    pub(super) fn end_launch(
        &mut self,
        flight: &Flight,
        outcome: Outcome,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Ended {
        let Request::Cloud(CloudCall::Launch(request) | CloudCall::Find(request)) = &flight.request
        else {
            return Ended::Well;
        };
        let ended = match outcome {
            Outcome::Done(Answer::Launched(answer)) => {
                self.take_launched(flight.purpose, request, answer, now, actions)
            }
            // The cloud was not asked: the same call is made later.
            Outcome::Refused(Reason::Throttled(after)) => Ended::Throttled(after),
            Outcome::Refused(_) if flight.purpose == Purpose::Find => Ended::Badly,
            // Says nothing of a call before it: that is read back.
            Outcome::Refused(reason) if self.launches.refuse(&request.batch.token, &reason) => {
                Ended::Badly
            }
            Outcome::Refused(reason) => {
                let refused = ClaimLaunch::Refused(reason);
                let answer = LaunchAnswer {
                    claims: vec![refused; request.claims.len()],
                    exhausted: Vec::new(),
                };
                self.take_launched(flight.purpose, request, answer, now, actions)
            }
            Outcome::Done(_) | Outcome::Conflict | Outcome::Unknown => {
                self.launches.doubt(&request.batch.token);
                Ended::Badly
            }
        };
        let names = request.claims.iter().map(|claim| claim.name.clone());
        self.dirty_claims.extend(names);
        self.launches.look_at(&request.batch.token);
        ended
    }

    fn take_launched(
        &mut self,
        purpose: Purpose,
        request: &LaunchRequest,
        answer: LaunchAnswer,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Ended {
        let token = &request.batch.token;
        let mut exhausted: BTreeSet<OfferingKey> = answer.exhausted.into_iter().collect();
        let mut ended = Ended::Well;
        let refused = self.launches.take_refusal(token);
        let mut answers = answer.claims.into_iter();
        for claim in &request.claims {
            let became = answers.next().unwrap_or(ClaimLaunch::Unknown);
            if !self.is_claim(&claim.name, &claim.uid) {
                continue;
            }
            match became {
                ClaimLaunch::Instance(machine) => self.give_machine(claim, *machine, purpose),
                ClaimLaunch::Absent => match &refused {
                    Some(reason) => {
                        exhausted.extend(offerings_of(reason));
                        self.refuse_launch(claim, token, reason.clone(), now, actions);
                    }
                    None => self.end_launch_of(&claim.name, token),
                },
                ClaimLaunch::Unknown => {
                    self.launches.doubt(token);
                    ended = Ended::Badly;
                }
                ClaimLaunch::Refused(reason) => {
                    exhausted.extend(offerings_of(&reason));
                    self.refuse_launch(claim, token, reason, now, actions);
                }
            }
        }
        if !exhausted.is_empty() {
            self.market.avoid(exhausted, now);
            self.provision.market_changed();
            self.dirty_claims.extend(self.launches.waiting().cloned());
        }
        ended
    }

    fn give_machine(
        &mut self,
        claim: &Arc<NodeClaim>,
        machine: LaunchedInstance,
        purpose: Purpose,
    ) {
        if purpose == Purpose::Find {
            self.note_found(&claim.name, &machine);
        }
        let notes = self.notes.of(&claim.name);
        notes.instance = Instance::Unasked;
        notes.machine = Some(machine);
        notes.launch.pending = None;
    }

    /// A claim gets no instance: it goes, or waits for the next launch.
    fn refuse_launch(
        &mut self,
        claim: &NodeClaim,
        token: &LaunchToken,
        reason: Reason,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        self.end_launch_of(&claim.name, token);
        self.recent.failed(claim.pool.clone(), now);
        let object = ObjectKey::Claim(claim.name.clone());
        let throttled = match &reason {
            Reason::Throttled(after) => Some(*after),
            _ => None,
        };
        match reason {
            Reason::InsufficientCapacity { offerings, because } => {
                let of_stock = || format!("out of stock: {} offerings", offerings.len());
                let words = because.unwrap_or_else(of_stock);
                actions.push(report(
                    object,
                    EventReason::InsufficientCapacityError,
                    words,
                    now,
                ));
            }
            Reason::ClassMissing(words) => {
                self.notes.of(&claim.name).refused = true;
                actions.push(report(
                    object,
                    EventReason::InsufficientCapacityError,
                    words,
                    now,
                ));
            }
            Reason::ClassNotReady(words) => {
                self.notes.of(&claim.name).refused = true;
                actions.push(report(object, EventReason::NodeClassNotReady, words, now));
            }
            Reason::LaunchFailed {
                reason: because,
                words,
            } => self.note_failure(claim, because, words, now, actions),
            Reason::Rejected(words) | Reason::Other(words) => {
                self.note_failure(claim, Arc::from(LAUNCH_FAILED), words, now, actions);
            }
            Reason::NotFound | Reason::Blocked(_) | Reason::Throttled(_) => {}
        }
        let ended = throttled.map_or(Ended::Badly, Ended::Throttled);
        let object = ObjectKey::Claim(claim.name.clone());
        let key = (object, Some(claim.uid.clone()), Purpose::Launch);
        self.retry.note(key, ended, now);
    }

    /// A launch failed for something that no other offering cures: the claim says so, and an event does.
    fn note_failure(
        &mut self,
        claim: &NodeClaim,
        reason: Arc<str>,
        words: String,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let shown = words.chars().take(LONGEST_FAILURE).collect();
        let failure = FailedLaunch {
            reason,
            words: shown,
        };
        self.notes.of(&claim.name).failure = Some(failure);
        let object = ObjectKey::Claim(claim.name.clone());
        actions.push(report(object, EventReason::LaunchFailed, words, now));
    }
}

/// Reason of a launch that failed, where the cloud gives none of its own.
const LAUNCH_FAILED: &str = "LaunchFailed";

/// Offerings that a refusal says there are none of.
fn offerings_of(reason: &Reason) -> Vec<OfferingKey> {
    match reason {
        Reason::InsufficientCapacity { offerings, .. } => offerings.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_is_missing_is_told_as_capacity_that_is() {
        let claim = crate::claims::tests::asked();
        let told = |reason: Reason| {
            let mut engine = Engine::new(Arc::default(), Arc::default(), 1);
            let mut actions = Vec::new();
            let token = LaunchToken::from("a-0");
            engine.refuse_launch(&claim, &token, reason, Timestamp::default(), &mut actions);
            match actions.as_slice() {
                [Action::Report(event)] => event.reason.to_string(),
                other => format!("{other:?}"),
            }
        };
        let words = || "class default".to_owned();
        assert_eq!(
            told(Reason::ClassMissing(words())),
            "InsufficientCapacityError"
        );
        assert_eq!(told(Reason::ClassNotReady(words())), "NodeClassNotReady");
    }
}
