//! Effects of an outcome: the object as it is now, what the cloud said, and when to try again.

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::{ClaimName, NodeName};
use plimsoll_base::time::Timestamp;
use plimsoll_lifecycle::Instance;
use plimsoll_model::action::{
    Action, ActionId, Answer, LaunchedInstance, ObjectKey, Outcome, Purpose, Reason, Request, Write,
};
use plimsoll_model::{ConditionStatus, ConditionType, Object};

use super::notes::ClaimNotes;
use super::orders::{Ended, Flight};
use super::{Engine, report};

/// The most of a failure's words, in characters, that a claim's condition shows.
pub(super) const LONGEST_FAILURE: usize = 300;

/// Why pods leave a node that no command disrupts, in Karpenter's words.
const FORCEFUL: &str = "Forceful Termination";

impl Engine {
    /// Ends an order. An outcome for an order that is not under way is skipped: it came twice, or too late.
    pub(super) fn end_order(
        &mut self,
        id: ActionId,
        outcome: Outcome,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(flight) = self.orders.end(id) else {
            return;
        };
        if self.is_of_the_gone(&flight) {
            return;
        }
        let ended = match outcome {
            outcome if matches!(flight.object, ObjectKey::Launch(_)) => {
                self.end_launch(&flight, outcome, now, actions)
            }
            Outcome::Done(Answer::Listed(listed)) => {
                self.take_list(&listed, now, actions);
                Ended::Well
            }
            Outcome::Done(answer) => {
                self.note_eviction(&flight, now, actions);
                self.take_answer(&flight, answer)
            }
            Outcome::Refused(reason) => self.take_refusal(&flight, reason, now, actions),
            Outcome::Conflict => Ended::Outrun,
            Outcome::Unknown => {
                if flight.purpose == Purpose::Create {
                    self.note_instance(&flight, Instance::Unsure);
                }
                Ended::Badly
            }
        };
        let next = self.retry.note(flight.key(), ended, now);
        self.recheck_at(&flight, ended, next);
        if flight.purpose == Purpose::List {
            self.unlisted(next);
        }
    }

    /// `true` if the claim or node that an order was about is no more, whatever bears its name now.
    fn is_of_the_gone(&self, flight: &Flight) -> bool {
        let Some(uid) = &flight.uid else { return false };
        let there = match &flight.object {
            ObjectKey::Claim(name) => self.cluster.claims.get(name).map(|claim| &claim.uid),
            ObjectKey::Node(name) => self.cluster.nodes.get(name).map(|node| &node.uid),
            _ => return false,
        };
        there != Some(uid)
    }

    fn take_answer(&mut self, flight: &Flight, answer: Answer) -> Ended {
        match answer {
            Answer::Object(object, version) => {
                if matches!(flight.purpose, Purpose::Create | Purpose::Find) {
                    self.note_instance(flight, Instance::Unasked);
                }
                if let Object::Claim(claim) = &object
                    && flight.purpose == Purpose::Create
                {
                    self.meet(claim);
                }
                self.see(object, version);
            }
            Answer::Instance(machine) => {
                self.note_instance(flight, Instance::Unasked);
                if let Some(claim) = self.claim_of(flight)
                    && flight.purpose == Purpose::Find
                {
                    self.note_found(&claim, &machine);
                }
                if let Some(notes) = self.notes_of(flight) {
                    notes.machine = Some(*machine);
                }
                if flight.purpose == Purpose::Find && self.is_deleting(flight) {
                    return Ended::Ending;
                }
            }
            Answer::Absent if flight.purpose == Purpose::Find => {
                let said = if self.is_deleting(flight) {
                    Instance::Gone
                } else {
                    Instance::Unasked
                };
                self.note_instance(flight, said);
            }
            Answer::Ending => {
                self.note_instance(flight, Instance::Ending);
                return Ended::Ending;
            }
            Answer::Gone => self.note_instance(flight, Instance::Gone),
            Answer::Nothing if flight.purpose == Purpose::Tag => {
                if let Some(notes) = self.notes_of(flight) {
                    notes.is_tagged = true;
                }
            }
            Answer::Absent | Answer::Nothing | Answer::Launched(_) | Answer::Listed(_) => {}
        }
        Ended::Well
    }

    fn take_refusal(
        &mut self,
        flight: &Flight,
        reason: Reason,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Ended {
        match reason {
            Reason::NotFound if flight.purpose == Purpose::Terminate => {
                self.note_instance(flight, Instance::Gone);
            }
            Reason::Blocked(words) if flight.purpose == Purpose::Evict => {
                let object = self.drained(flight);
                actions.push(report(object, EventReason::FailedDraining, words, now));
            }
            // No error, and tried again.
            Reason::Throttled(after) => return Ended::Throttled(after),
            Reason::Rejected(words) => self.tell_rejected(flight, &words, now, actions),
            // What only launches are refused for is told there.
            Reason::NotFound
            | Reason::Blocked(_)
            | Reason::LaunchFailed { .. }
            | Reason::Other(_)
            | Reason::InsufficientCapacity { .. }
            | Reason::ClassMissing(_)
            | Reason::ClassNotReady(_) => {}
        }
        Ended::Badly
    }

    /// Tells of what the API server will not have: on the object, or on its pool where there is to be one.
    fn tell_rejected(
        &mut self,
        flight: &Flight,
        words: &str,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let words: String = words.chars().take(LONGEST_FAILURE).collect();
        let (object, reason) = match flight.purpose {
            Purpose::Create => {
                if let Some(notes) = self.notes_of(flight) {
                    notes.rejected = true;
                }
                let claim = self
                    .claim_of(flight)
                    .and_then(|name| self.expected.get(&name));
                let pool = claim.map(|claim| ObjectKey::Pool(claim.pool.clone()));
                (
                    pool.unwrap_or_else(|| flight.object.clone()),
                    EventReason::FailedCreate,
                )
            }
            Purpose::Evict => (self.drained(flight), EventReason::FailedDraining),
            Purpose::DeleteClaim | Purpose::DeleteNode => {
                (flight.object.clone(), EventReason::FailedDelete)
            }
            _ => (flight.object.clone(), EventReason::FailedUpdate),
        };
        actions.push(report(object, reason, words, now));
    }

    /// The node that an eviction is to empty; the pod itself where that is not known any more.
    fn drained(&self, flight: &Flight) -> ObjectKey {
        let Request::Write(Write::Evict { pod, .. }) = &flight.request else {
            return flight.object.clone();
        };
        let node = self.cluster.pods.get(pod).and_then(|pod| pod.node.clone());
        node.map_or_else(|| flight.object.clone(), ObjectKey::Node)
    }

    /// Takes note of a pod that is leaving as asked, and tells its owner why.
    fn note_eviction(&mut self, flight: &Flight, now: Timestamp, actions: &mut Vec<Action>) {
        let Request::Write(Write::Evict { pod, within, .. }) = &flight.request else {
            return;
        };
        let Some(pod) = self.cluster.pods.get(pod) else {
            return;
        };
        let claim = pod.node.as_ref();
        let claim = claim.and_then(|node| self.cluster.claim_on(node));
        let disrupted = claim.and_then(|claim| {
            let said = claim.conditions.get(ConditionType::DisruptionReason)?;
            (said.status == ConditionStatus::True).then_some(&said.reason)
        });
        let reason = disrupted.map_or(FORCEFUL, AsRef::as_ref);
        let (event, words) = match within {
            None => (EventReason::Evicted, format!("Evicted pod: {reason}")),
            Some(left) => (
                EventReason::Disrupted,
                format!(
                    "Deleted pod, which has {left} to end, since the drain of its node must be over in time: its disruption budgets and its wish to be left alone are overridden: {reason}"
                ),
            ),
        };
        actions.push(report(flight.object.clone(), event, words, now));
        if let Some(pool) = claim.map(|claim| claim.pool.clone()) {
            let workload = pod.owner.as_ref().map(|owner| owner.uid.clone());
            self.recent.evicted(pool, workload, now);
        }
    }

    fn claim_of(&self, flight: &Flight) -> Option<ClaimName> {
        match &flight.object {
            ObjectKey::Claim(name) => Some(name.clone()),
            ObjectKey::Node(node) => self.cluster.claim_on(node).map(|claim| claim.name.clone()),
            _ => None,
        }
    }

    /// `true` if the claim that an order is about was asked to go, or it is about a node that goes without one.
    fn is_deleting(&self, flight: &Flight) -> bool {
        let claim = self.claim_of(flight);
        let claim = claim.and_then(|name| self.cluster.claims.get(&name));
        claim.is_some_and(|claim| claim.deleting.is_some()) || self.orphan_of(flight).is_some()
    }

    /// The node without a claim that an order is about.
    fn orphan_of<'f>(&self, flight: &'f Flight) -> Option<&'f NodeName> {
        match &flight.object {
            ObjectKey::Node(name) if self.cluster.is_orphan(name) => Some(name),
            _ => None,
        }
    }

    fn notes_of(&mut self, flight: &Flight) -> Option<&mut ClaimNotes> {
        let name = self.claim_of(flight)?;
        let known = self.cluster.claims.get(&name).is_some() || self.expected.get(&name).is_some();
        known.then(|| self.notes.of(&name))
    }

    /// An instance that was launched before the list, or whose claim is older than that where its launch has no time: the list's
    /// counts carry it.
    pub(super) fn note_found(&mut self, name: &ClaimName, machine: &LaunchedInstance) {
        let claim = self.cluster.claims.get(name);
        let launched = machine.launched.or(claim.map(|claim| claim.created));
        if launched.is_some() && launched < self.listed {
            self.market.carries(name, &machine.labels);
        }
    }

    fn note_instance(&mut self, flight: &Flight, said: Instance) {
        if let Some(node) = self.orphan_of(flight) {
            self.orphans.note(node, said);
        } else if let Some(notes) = self.notes_of(flight) {
            notes.instance = said;
        }
        // From here on a list of the cloud counts it no more, whenever its claim goes.
        if said == Instance::Gone
            && let Some(claim) = self.claim_of(flight)
            && self.market.gives_back(&claim)
        {
            self.provision.market_changed();
        }
    }

    /// The object is looked at again at once; what is held back then sets its own time.
    fn recheck_at(&mut self, flight: &Flight, ended: Ended, next: Timestamp) {
        match &flight.request {
            Request::Write(Write::Nominate { pod, .. }) => {
                if let Some(group) = self.cluster.group_of(pod)
                    && matches!(ended, Ended::Badly | Ended::Outrun | Ended::Throttled(_))
                {
                    self.renominate(group, next);
                }
            }
            Request::Write(Write::Evict { pod, .. }) => {
                let node = self.cluster.pods.get(pod).and_then(|pod| pod.node.clone());
                let orphan = node.clone().filter(|node| self.cluster.is_orphan(node));
                self.orphans.due.extend(orphan);
                let claim = node.and_then(|node| self.cluster.claim_on(&node).cloned());
                self.dirty_claims
                    .extend(claim.map(|claim| claim.name.clone()));
            }
            _ => {
                let orphan = self.orphan_of(flight).cloned();
                self.orphans.due.extend(orphan);
                let claim = self.claim_of(flight);
                self.dirty_claims.extend(claim);
                self.statuses.look_at(&flight.object);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use plimsoll_base::ids::Uid;
    use plimsoll_lifecycle::Want;

    /// Messages to people when an order is blocked.
    fn told(object: ObjectKey, purpose: Purpose) -> Vec<String> {
        let mut engine = Engine::new(Arc::default(), Arc::default(), 1);
        let now = Timestamp::default();
        let want = Want {
            object,
            uid: None,
            purpose,
            version: None,
            request: Request::Write(Write::DeleteClaim(ClaimName::from("a"))),
        };
        let order = engine.orders.begin(want, 0, now);
        let blocked = Outcome::Refused(Reason::Blocked("too many requests".to_owned()));
        let mut actions = Vec::new();
        engine.end_order(order.id, blocked, now, &mut actions);
        let reason = |action: &Action| match action {
            Action::Report(event) => event.reason.to_string(),
            other => format!("{other:?}"),
        };
        actions.iter().map(reason).collect()
    }

    #[test]
    fn only_an_eviction_that_is_held_up_is_told_as_draining() {
        let pod = ObjectKey::Pod(Uid::from("u1"));
        assert_eq!(told(pod, Purpose::Evict), ["FailedDraining"]);
        let claim = ObjectKey::Claim(ClaimName::from("a"));
        for purpose in [Purpose::Create, Purpose::MarkLaunched, Purpose::DeleteClaim] {
            assert_eq!(told(claim.clone(), purpose), [""; 0]);
        }
    }
}
