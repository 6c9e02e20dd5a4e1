//! Carrying out the engine's orders, with what can go wrong.
//!
//! Writes check existence, version and uid as the API server does. An outcome may be lost before or after the thing was
//! done; the engine hears "unknown" either way.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, ProviderId, Uid};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::action::{
    ActionId, Answer, ClaimChange, ClaimLaunch, CloudCall, Finalizer, NodeChange, ObjectKey, Order,
    Outcome, Purpose, Reason, Request, Write,
};
use plimsoll_model::{ConditionType, Node, NodeClaim, Object, Pod, Stamp, Version};

use crate::api::Api;
use crate::input::Faults;
use crate::world::{Event, World};

impl World {
    /// Carries out an order and says how it ended.
    pub(crate) fn execute(&mut self, order: &Order) -> Outcome {
        let faults = self.behaviour.faults;
        // An engine that starts again gives the same orders, and each time they may fail or not.
        let before = self.times_met(order.id);
        let happens = |what: &str, odds| match before {
            0 => self.random.happens(what, order.id, odds),
            _ => self.random.happens(what, (order.id, before), odds),
        };
        if happens("lost before", faults.lost_before) {
            return Outcome::Unknown;
        }
        let write = matches!(order.request, Request::Write(_));
        if write && happens("conflict", faults.conflict) {
            return Outcome::Conflict;
        }
        if order.purpose == Purpose::Launch && happens("launch", faults.launch) {
            self.meter.launch_failed();
            return Outcome::Refused(Reason::Other("internal error".to_owned()));
        }
        let lost = happens("lost after", faults.lost_after);
        if self.has_changed(order) {
            return Outcome::Conflict;
        }
        let outcome = match &order.request {
            Request::Write(write) if self.is_of_the_gone(order) => gone(write),
            Request::Write(write) => self.write(write),
            Request::Cloud(call) => self.call(call),
        };
        if lost { Outcome::Unknown } else { outcome }
    }

    /// How often an order was met before this time; not counted in a world without faults.
    fn times_met(&mut self, id: ActionId) -> u32 {
        if self.behaviour.faults == Faults::default() {
            return 0;
        }
        let met = self.met.entry(id).or_default();
        *met += 1;
        *met - 1
    }

    fn has_changed(&self, order: &Order) -> bool {
        let Some(version) = order.version else {
            return false;
        };
        let now = match &order.object {
            ObjectKey::Claim(name) => self.api.version_of_claim(name),
            ObjectKey::Node(name) => self.api.version_of_node(name),
            ObjectKey::Buffer(_) | ObjectKey::Pool(_) | ObjectKey::Overlay(_) => {
                self.api.version_of_status(&order.object)
            }
            _ => None,
        };
        now.is_some_and(|now| now != version)
    }

    /// `true` if another object bears the name of the one that an order is about.
    fn is_of_the_gone(&self, order: &Order) -> bool {
        let there = match &order.object {
            ObjectKey::Claim(name) => self.api.claims.get(name).map(|claim| &claim.uid),
            ObjectKey::Node(name) => self.api.nodes.get(name).map(|node| &node.uid),
            _ => None,
        };
        let other = |uid| there.is_some_and(|there| there != uid);
        order.uid.as_ref().is_some_and(other)
    }

    fn write(&mut self, write: &Write) -> Outcome {
        match write {
            Write::CreateClaim { claim, .. } => self.create_claim(claim),
            Write::ReadClaim(name) => match self.api.claims.get(name).cloned() {
                Some(claim) => {
                    let version = self.api.version_of_claim(name).unwrap_or_default();
                    Outcome::Done(Answer::Object(Object::Claim(claim), version))
                }
                None => Outcome::Done(Answer::Absent),
            },
            Write::ChangeClaim(name, change) => self.bring_claim(name, change),
            Write::DeleteClaim(name) => {
                let now = self.now;
                self.change_claim(name, |claim| {
                    claim.deleting.get_or_insert(now);
                })
            }
            Write::ChangeNode(name, change) => self.bring_node(name, change),
            Write::ChangeStatus(object, change) => self.bring_status(object, change),
            Write::DeleteNode(name) => self.delete_node(name),
            Write::Nominate { pod, uid, node } => self.nominate(pod, uid, node.as_ref()),
            Write::Evict { pod, uid, within } => self.evict(pod, uid, *within),
        }
    }

    fn create_claim(&mut self, claim: &NodeClaim) -> Outcome {
        if let Some(have) = self.api.claims.get(&claim.name).cloned() {
            let version = self.api.version_of_claim(&claim.name).unwrap_or_default();
            return done(Object::Claim(have), version);
        }
        let mut claim = claim.clone();
        claim.uid = self.api.new_uid("claim", claim.name.as_str());
        claim.held = true;
        claim.created = self.now;
        let (object, version) = self.api.put_claim(claim);
        done(object, version)
    }

    fn bring_claim(&mut self, name: &ClaimName, change: &ClaimChange) -> Outcome {
        let now = self.now;
        let claim = self.api.claims.get(name);
        let goes = claim.is_none_or(|claim| claim.deleting.is_some());
        if goes && change.finalizer == Finalizer::Removed {
            self.drop_claim(name);
            return Outcome::Done(Answer::Nothing);
        }
        self.change_claim(name, |claim| bring(claim, change, now))
    }

    fn change_claim(&mut self, name: &ClaimName, change: impl FnOnce(&mut NodeClaim)) -> Outcome {
        let kept = self.api.claims.get(name).cloned();
        let version = self.api.version_of_claim(name).unwrap_or_default();
        self.change_kept(kept, version, change, Object::Claim, Api::put_claim)
    }

    /// Changes an object, if it is there; where it stays as it is, so does its version.
    fn change_kept<T: Clone + PartialEq>(
        &mut self,
        kept: Option<Arc<T>>,
        version: Version,
        change: impl FnOnce(&mut T),
        object: impl FnOnce(Arc<T>) -> Object,
        put: impl FnOnce(&mut Api, T) -> (Object, Version),
    ) -> Outcome {
        let Some(kept) = kept else {
            return Outcome::Refused(Reason::NotFound);
        };
        let mut changed = T::clone(&kept);
        change(&mut changed);
        if changed == *kept {
            return done(object(kept), version);
        }
        let (object, version) = put(&mut self.api, changed);
        done(object, version)
    }

    fn bring_node(&mut self, name: &NodeName, change: &NodeChange) -> Outcome {
        if change.finalizer == Finalizer::Removed {
            let node = self.api.nodes.get(name);
            if node.is_some_and(|node| node.deleting.is_some()) {
                self.remove_node(name);
            } else {
                self.change_node(name, |node| node.held = false);
            }
            return Outcome::Done(Answer::Nothing);
        }
        let outcome = self.change_node(name, |node| {
            node.labels.extend(change.labels.clone());
            node.annotations.extend(change.annotations.clone());
            if let Some(taints) = &change.taints {
                node.taints.clone_from(taints);
            }
            node.held |= change.finalizer == Finalizer::Set;
        });
        if let Some((_, uid)) = &change.owner {
            self.api.own_node(name, uid);
        }
        if matches!(outcome, Outcome::Done(_)) && change.taints.is_some() {
            self.open(name);
        }
        outcome
    }

    fn change_node(&mut self, name: &NodeName, change: impl FnOnce(&mut Node)) -> Outcome {
        let kept = self.api.nodes.get(name).cloned();
        let version = self.api.version_of_node(name).unwrap_or_default();
        self.change_kept(kept, version, change, Object::Node, Api::put_node)
    }

    pub(crate) fn delete_node(&mut self, name: &NodeName) -> Outcome {
        if self.api.nodes.get(name).is_some_and(|node| node.held) {
            let now = self.now;
            return self.change_node(name, |node| {
                node.deleting.get_or_insert(now);
            });
        }
        self.remove_node(name);
        Outcome::Done(Answer::Nothing)
    }

    fn nominate(&mut self, name: &ObjectName, uid: &Uid, node: Option<&NodeName>) -> Outcome {
        let Some(pod) = self.api.pods.get(name).filter(|pod| pod.uid == *uid) else {
            return Outcome::Refused(Reason::NotFound);
        };
        if pod.node.is_some() {
            return Outcome::Conflict;
        }
        let mut changed = Pod::clone(pod);
        let before = std::mem::replace(&mut changed.nominated, node.cloned());
        let (object, version) = self.api.put_pod(changed);
        if let Some(before) = before.filter(|before| Some(before) != node) {
            self.scheduler.try_node(&before);
        }
        done(object, version)
    }

    fn evict(&mut self, name: &ObjectName, uid: &Uid, within: Option<Span>) -> Outcome {
        let pod = self.api.pods.get(name).filter(|pod| pod.uid == *uid);
        let Some(pod) = pod.cloned() else {
            return Outcome::Refused(Reason::NotFound);
        };
        if let Err(words) = self.api.budgets.allow(&pod)
            && pod.is_active()
            && within.is_none()
        {
            return Outcome::Refused(Reason::Blocked(words));
        }
        if pod.deleting.is_none() {
            self.meter.evicted();
        }
        let grace = self.behaviour.grace;
        self.ask_to_go_within(name, within.map_or(grace, |within| within.min(grace)));
        Outcome::Done(Answer::Nothing)
    }

    fn call(&mut self, call: &CloudCall) -> Outcome {
        match call {
            CloudCall::Launch(request) => {
                let (answer, sold) = self.cloud.launch(request, self.now);
                let refused = |became: &&ClaimLaunch| matches!(became, ClaimLaunch::Refused(_));
                for _ in answer.claims.iter().filter(refused) {
                    self.meter.launch_failed();
                }
                for id in sold {
                    self.meter.launched();
                    self.started(&id);
                }
                Outcome::Done(Answer::Launched(answer))
            }
            CloudCall::List => Outcome::Done(Answer::Listed(self.cloud.list())),
            CloudCall::Tag { .. } => Outcome::Done(Answer::Nothing),
            CloudCall::Find(request) => Outcome::Done(Answer::Launched(self.cloud.find(request))),
            CloudCall::Get { instance } => {
                let instance = self.cloud.instances.get(instance);
                let there = instance.filter(|instance| instance.ending.is_none());
                Outcome::Done(there.map_or(Answer::Absent, |instance| {
                    Answer::Instance(Box::new(instance.machine.clone()))
                }))
            }
            CloudCall::Terminate { instance } => self.terminate(instance),
        }
    }

    fn terminate(&mut self, id: &ProviderId) -> Outcome {
        let Some(instance) = self.cloud.instances.get_mut(id) else {
            return Outcome::Done(Answer::Gone);
        };
        if instance.ending.is_none() {
            instance.ending = Some(self.now);
            let at = self.now + self.behaviour.ending;
            self.queue.push(at, Event::InstanceGone(id.clone()));
        }
        Outcome::Done(Answer::Ending)
    }
}

/// Brings a claim to what it is to be. Conditions that say the same again are not touched.
fn bring(claim: &mut NodeClaim, change: &ClaimChange, now: Timestamp) {
    if let Some(machine) = &change.machine {
        claim.provider_id = Some(machine.provider_id.clone());
        claim.capacity = machine.capacity.clone();
        claim.allocatable = machine.allocatable.clone();
    }
    let machine = change.machine.iter().flat_map(|machine| &machine.labels);
    for (key, value) in machine.chain(&change.labels) {
        let own = claim.labels.entry(Arc::clone(key));
        own.or_insert_with(|| Arc::clone(value));
    }
    if let Some(node) = &change.node {
        claim.node = Some(node.clone());
    }
    claim.annotations.extend(change.annotations.clone());
    claim.drained_by = change.drained_by.or(claim.drained_by);
    claim.last_pod_event = change.last_pod_event.or(claim.last_pod_event);
    match change.finalizer {
        Finalizer::Kept => {}
        Finalizer::Set => claim.held = true,
        Finalizer::Removed => claim.held = false,
    }
    claim.conditions.clear(&change.cleared);
    let is_deleting = claim.deleting.is_some();
    let mut conditions = change.conditions.iter();
    if !conditions.all(|desired| claim.conditions.says(desired)) {
        let stamp = Stamp {
            created: claim.created,
            now,
            generation: 1 + i64::from(is_deleting),
            deleting: is_deleting,
        };
        claim
            .conditions
            .say(&change.conditions, ConditionType::OF_CLAIMS, &stamp);
    }
}

/// What comes of a write to an object that is gone: nothing is held up by our finalizer any more.
fn gone(write: &Write) -> Outcome {
    let finalizer = match write {
        Write::ChangeClaim(_, change) => change.finalizer,
        Write::ChangeNode(_, change) => change.finalizer,
        _ => Finalizer::Kept,
    };
    if finalizer == Finalizer::Removed {
        return Outcome::Done(Answer::Nothing);
    }
    Outcome::Refused(Reason::NotFound)
}

/// An object after a change.
pub(crate) fn done(object: Object, version: Version) -> Outcome {
    Outcome::Done(Answer::Object(object, version))
}
