//! Garbage collection: instances that no claim stands for are ended, and claims whose instance is no more go.
//!
//! Both are found in a list of all instances, asked for at the start, then every two minutes, and sooner where a claim went that may
//! have left one. Nothing is collected while the view is stale or claims cannot be read. An instance is ended once no claim was seen
//! for it for a minute, since its claim may be about to be seen; one that a launch gave whose claims still ask for it stays. A claim
//! goes if it had registered before the list was asked for and its node is not ready: a kubelet that reports knows better than a
//! list. Where pods may run on an instance without a claim its node is asked to go, which drains it first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, ProviderId};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_lifecycle::{DriftFinding, Instance, Step, Want};
use plimsoll_model::action::{Action, CloudCall, ListedInstance, ObjectKey, Purpose, Request};
use plimsoll_model::{ConditionType, NodeClaim, Readiness};

use super::Engine;

/// From one list to the next.
const INTERVAL: Span = Span::from_secs(120);
/// How long an instance must be without a claim.
const ALONE: Span = Span::from_secs(60);
/// From the sight of an instance without a claim to the list that confirms it.
const CONFIRMED: Span = Span::from_secs(61);

/// Memory of instances, between lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Garbage {
    /// When instances are listed next; `None` while there is nothing to be found.
    next: Option<Timestamp>,
    /// When the list under way was asked for.
    begun: Option<Timestamp>,
    /// A list that is due waits for a fresh view.
    is_held: bool,
    /// Instances without a claim, and since when.
    alone: BTreeMap<ProviderId, Timestamp>,
}

impl Garbage {
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.next.filter(|_| !self.is_held && self.begun.is_none())
    }

    /// The next list is due at this time, or sooner.
    pub(super) fn list_by(&mut self, at: Timestamp) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    /// There is a claim, whose instance may vanish, or a node that has none.
    pub(super) fn has_machine(&mut self, now: Timestamp) {
        if self.next.is_none() {
            self.next = Some(now + INTERVAL);
        }
    }

    /// The view is fresh again.
    pub(super) fn release(&mut self) {
        self.is_held = false;
    }
}

impl Engine {
    /// Asks for a list where one is due.
    pub(super) fn step_garbage(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let is_due = self.garbage.next.is_some_and(|at| at <= now);
        if !is_due || self.garbage.begun.is_some() {
            return;
        }
        if !self.freshness.knows_claims() {
            self.garbage.is_held = true;
            return;
        }
        let want = Want {
            object: ObjectKey::Cloud,
            uid: None,
            purpose: Purpose::List,
            version: None,
            request: Request::Cloud(CloudCall::List),
        };
        self.garbage.next = self.order(want, now, actions);
        if self.garbage.next.is_none() {
            self.garbage.begun = Some(now);
        }
    }

    /// A claim is no more: it may have left an instance.
    pub(super) fn note_left(&mut self, claim: &NodeClaim, now: Timestamp) {
        let notes = self.notes.get(&claim.name);
        let has_ended = notes.is_some_and(|notes| notes.instance == Instance::Gone);
        let may_have = notes.is_some_and(|notes| notes.machine.is_some() || notes.launch.is_open());
        if !has_ended && (claim.provider_id.is_some() || may_have) {
            self.garbage.list_by(now);
        } else if !self.may_have_machines() {
            self.garbage.next = None;
        }
    }

    /// The list under way cannot be had: it is asked for again.
    pub(super) fn unlisted(&mut self, next: Timestamp) {
        if self.garbage.begun.take().is_some() {
            self.garbage.list_by(next);
        }
    }

    /// Takes in a list of all instances.
    pub(super) fn take_list(
        &mut self,
        listed: &[ListedInstance],
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(begun) = self.garbage.begun.take() else {
            return;
        };
        if !self.freshness.knows_claims() {
            self.garbage.list_by(now);
            self.garbage.is_held = true;
            return;
        }
        let lasting = listed.iter().filter(|machine| machine.ending.is_none());
        let there: BTreeSet<&ProviderId> = lasting.map(|machine| &machine.instance).collect();
        self.mark_vanished(&there, begun);
        self.note_instance_drift(listed);
        let before = std::mem::take(&mut self.garbage.alone);
        for id in before.keys().filter(|id| !there.contains(id)) {
            self.retry.forget(&ObjectKey::Instance(id.clone()));
        }
        for machine in self.unclaimed(listed) {
            let id = machine.instance.clone();
            let since = before.get(&id).copied().unwrap_or(now);
            self.garbage.alone.insert(id.clone(), since);
            if since + ALONE <= now {
                self.collect(&id, now, actions);
            }
        }
        if !self.garbage.alone.is_empty() {
            self.garbage.list_by(now + CONFIRMED);
        } else if self.may_have_machines() {
            self.garbage.list_by(now + INTERVAL);
        }
    }

    /// `true` while a claim or a node of ours is there, or an instance is known to have no claim.
    fn may_have_machines(&self) -> bool {
        let provider = self.market.catalogues().provider();
        let mut nodes = self.cluster.nodes.unordered();
        !self.cluster.claims.is_empty()
            || !self.garbage.alone.is_empty()
            || nodes.any(|node| node.pool().is_some() && provider.manages(&node.labels))
    }

    /// Takes note of which instances no longer are what their class says.
    fn note_instance_drift(&mut self, listed: &[ListedInstance]) {
        for machine in listed {
            let Some(claim) = self.cluster.claim_of_instance(&machine.instance) else {
                continue;
            };
            let name = claim.name.clone();
            let finding = match &machine.drift {
                Some(reason) => DriftFinding::Drifted(Arc::clone(reason)),
                None => DriftFinding::Same,
            };
            let notes = self.notes.of(&name);
            if notes.instance_drift != finding {
                notes.instance_drift = finding;
                self.dirty_claims.insert(name);
            }
        }
    }

    /// Listed instances that stay and that no claim has or may yet have.
    fn unclaimed<'l>(&self, listed: &'l [ListedInstance]) -> Vec<&'l ListedInstance> {
        let unwritten = self.notes.unordered();
        let unwritten =
            unwritten.filter_map(|(_, notes)| Some(&notes.machine.as_ref()?.provider_id));
        let unwritten: BTreeSet<&ProviderId> = unwritten.collect();
        let asked_for = self.launches_asked_for();
        let is_unclaimed = |machine: &&ListedInstance| {
            let id = &machine.instance;
            let token = machine.token.as_ref();
            machine.ending.is_none()
                && self.cluster.claim_of_instance(id).is_none()
                && !unwritten.contains(id)
                && token.is_none_or(|token| !asked_for.contains(token))
        };
        listed.iter().filter(is_unclaimed).collect()
    }

    /// Claims that had registered before a list was asked for, and whose instance is not in it, go unless their node reports.
    fn mark_vanished(&mut self, there: &BTreeSet<&ProviderId>, begun: Timestamp) {
        let is_lost = |claim: &&Arc<NodeClaim>| {
            let registered = claim.conditions.get(ConditionType::Registered);
            let had_registered = registered.is_some_and(|own| own.since < begun);
            let id = claim.provider_id.as_ref();
            let mut nodes = self.cluster.nodes_of(claim).iter();
            claim.deleting.is_none()
                && claim.conditions.is_true(ConditionType::Registered)
                && had_registered
                && id.is_some_and(|id| !there.contains(id))
                && !nodes.any(|node| node.readiness() == Readiness::Ready)
        };
        let claims = self.cluster.claims.unordered().filter(is_lost);
        let lost: Vec<ClaimName> = claims.map(|claim| claim.name.clone()).collect();
        for name in lost {
            self.notes.of(&name).vanished = true;
            self.dirty_claims.insert(name);
        }
    }

    /// Ends an instance that no claim stands for. Where its node is ours to let go, that is asked to go instead, and the instance ends
    /// once it is drained.
    fn collect(&mut self, id: &ProviderId, now: Timestamp, actions: &mut Vec<Action>) {
        let mut step = Step::default();
        let mut is_drained = false;
        for node in self.cluster.nodes_of_instance(id) {
            is_drained |= node.held;
            if node.deleting.is_none() {
                step.delete_node(node);
            }
        }
        if !is_drained {
            let instance = id.clone();
            step.wants.push(Want {
                object: ObjectKey::Instance(id.clone()),
                uid: None,
                purpose: Purpose::Terminate,
                version: None,
                request: Request::Cloud(CloudCall::Terminate { instance }),
            });
        }
        for want in step.wants {
            // What is held back is asked for again with the next list.
            self.order(want, now, actions);
        }
    }
}
