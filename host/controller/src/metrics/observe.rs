//! What inputs and ended orders mean for figures: objects that change, told by how they were before.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::action::{Answer, Order, Outcome, Purpose, Request, Write};
use plimsoll_core::engine::{Engine, Input};
use plimsoll_core::model::{ConditionStatus, ConditionType, Object};
use plimsoll_core::state::Cluster;
use plimsoll_core::time::Timestamp;

use super::Meters;
use super::reconciles::{Controller, Ending};

/// Reason of the incumbent's for pods that go with a node that no command disrupts.
const FORCED: &str = "Forceful Termination";

impl Meters {
    /// Follows an input, before the engine hears of it.
    pub(crate) fn observe(&mut self, engine: &Engine, input: &Input, now: Timestamp) {
        match input {
            Input::Applied(object, _)
            | Input::Outcome(_, Outcome::Done(Answer::Object(object, _))) => {
                self.applied(engine.cluster(), object, now);
            }
            Input::Deleted(object, _) => self.deleted(engine.cluster(), object, now),
            _ => {}
        }
    }

    fn applied(&mut self, cluster: &Cluster, object: &Object, now: Timestamp) {
        match object {
            Object::Pod(pod) => {
                let before = cluster.pods.get(&pod.name);
                if let Some(before) = before.filter(|before| before.uid != pod.uid) {
                    self.pods.gone(&before.uid);
                }
                self.pods.pod(pod, now);
            }
            Object::Node(node) => {
                let before = cluster.nodes.get(&node.name);
                if let Some(before) = before.filter(|before| before.uid == node.uid) {
                    self.nodes.node(before, Some(&**node), now);
                }
            }
            Object::Claim(claim) => {
                let before = cluster.claims.get(&claim.name);
                if let Some(before) = before.filter(|before| before.uid == claim.uid) {
                    self.nodes.claim(before, claim);
                    self.claims.claim(before, Some(&**claim), now);
                }
            }
            _ => {}
        }
    }

    /// Objects are gone as they were last; what of that was not seen before counts now.
    fn deleted(&mut self, cluster: &Cluster, object: &Object, now: Timestamp) {
        self.applied(cluster, object, now);
        match object {
            Object::Pod(pod) => self.pods.gone(&pod.uid),
            Object::Node(node) => {
                let before = cluster.nodes.get(&node.name);
                if node.held && before.is_some_and(|before| before.uid == node.uid) {
                    self.nodes.node(node, None, now);
                }
            }
            Object::Claim(claim) => {
                let before = cluster.claims.get(&claim.name);
                if claim.held && before.is_some_and(|before| before.uid == claim.uid) {
                    self.claims.claim(claim, None, now);
                }
            }
            _ => {}
        }
    }

    /// Follows an order that has ended, before the engine hears of it.
    pub(crate) fn ended(
        &mut self,
        engine: &Engine,
        order: &Order,
        (outcome, took): (&Outcome, Duration),
    ) {
        let took = took.as_secs_f64();
        let (controller, ending) = (Controller::of_order(order), Ending::of(outcome));
        self.reconciles.ended(controller, ending, took);
        let provider = &engine.market().catalogues().provider().name;
        self.cloud.ended(order, outcome, took, provider);
        if order.purpose == Purpose::Evict
            && ending == Ending::Success
            && let Request::Write(Write::Evict { pod, .. }) = &order.request
        {
            let pod = engine.cluster().pods.get(pod);
            let node = pod.and_then(|pod| pod.node.as_ref());
            let claim = node.and_then(|node| engine.cluster().claim_on(node));
            let said = claim.and_then(|it| it.conditions.get(ConditionType::DisruptionReason));
            let said = said.filter(|said| said.status == ConditionStatus::True);
            let reason = said.map_or_else(|| Arc::from(FORCED), |said| Arc::clone(&said.reason));
            self.pods.drained(&reason);
        }
    }
}
