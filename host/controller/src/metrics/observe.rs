//! Changes of objects that an input made, told by the engine's state before and after it: what the engine skips, since it is late or
//! came twice, counts for nothing.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_base::time::Timestamp;
use plimsoll_cluster::Cluster;
use plimsoll_engine::{Engine, Input};
use plimsoll_model::action::{Answer, Order, Outcome, Purpose, Request, Write};
use plimsoll_model::{ConditionStatus, ConditionType, Node, NodeClaim, Object, Pod};

use super::Meters;
use super::reconciles::{Controller, Ending};

/// Karpenter's reason for pods that go with a node that no command disrupts.
const FORCED: &str = "Forceful Termination";

/// An object that an input speaks of: as the engine knew it before, and as the input has it.
#[derive(Clone, Debug)]
pub(crate) enum SpokenOf {
    Pod(Option<Arc<Pod>>, Arc<Pod>),
    Node(Option<Arc<Node>>, Arc<Node>),
    Claim(Option<Arc<NodeClaim>>, Arc<NodeClaim>),
}

impl SpokenOf {
    /// The object of an input that the engine has not heard of yet; `None` where that is none that figures follow.
    pub(crate) fn by(engine: &Engine, input: &Input) -> Option<Self> {
        let (Input::Applied(object, _)
        | Input::Deleted(object, _)
        | Input::Outcome(_, Outcome::Done(Answer::Object(object, _)))) = input
        else {
            return None;
        };
        let cluster = engine.cluster();
        match object {
            Object::Pod(pod) => {
                let before = cluster.pods.get(&pod.name).cloned();
                Some(Self::Pod(before, Arc::clone(pod)))
            }
            Object::Node(node) => {
                let before = cluster.nodes.get(&node.name).cloned();
                Some(Self::Node(before, Arc::clone(node)))
            }
            Object::Claim(claim) => {
                let before = cluster.claims.get(&claim.name).cloned();
                Some(Self::Claim(before, Arc::clone(claim)))
            }
            _ => None,
        }
    }
}

impl Meters {
    /// The engine has heard of an object.
    pub(crate) fn observe(&mut self, engine: &Engine, spoken_of: &SpokenOf, now: Timestamp) {
        let cluster = engine.cluster();
        match spoken_of {
            SpokenOf::Pod(before, pod) => {
                let after = cluster.pods.get(&pod.name);
                let is_same = |before: &Pod| after.is_some_and(|after| after.uid == before.uid);
                if let Some(before) = before.as_ref().filter(|before| !is_same(before)) {
                    self.pods.gone(&before.uid);
                }
                if let Some(after) = after {
                    self.pods.pod(after, now);
                }
            }
            SpokenOf::Node(Some(before), said) => self.follow_node(cluster, before, said, now),
            SpokenOf::Claim(Some(before), said) => self.follow_claim(cluster, before, said, now),
            SpokenOf::Node(None, _) | SpokenOf::Claim(None, _) => {}
        }
    }

    fn follow_node(&mut self, cluster: &Cluster, before: &Node, said: &Node, now: Timestamp) {
        let after = cluster.nodes.get(&before.name);
        let after = after.filter(|after| after.uid == before.uid);
        let said = (said.uid == before.uid).then_some(said.deleting).flatten();
        let deleting = before.deleting.or(said);
        if let Some(deleting) = deleting
            && before.held
            && after.is_none_or(|after| !after.held)
        {
            self.nodes.release(before, deleting, now);
        }
    }

    fn follow_claim(
        &mut self,
        cluster: &Cluster,
        before: &NodeClaim,
        said: &NodeClaim,
        now: Timestamp,
    ) {
        let after = cluster.claims.get(&before.name);
        let after = after.filter(|after| after.uid == before.uid);
        if let Some(after) = after {
            self.nodes.follow_claim(before, after);
        }
        let said = (said.uid == before.uid).then_some(said);
        let deleting = before.deleting.or(said.and_then(|said| said.deleting));
        if let Some(deleting) = deleting
            && before.held
            && after.is_none_or(|after| !after.held)
        {
            self.claims.release(said.unwrap_or(before), deleting, now);
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
