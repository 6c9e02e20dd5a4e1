//! Nodes of the world: how an instance becomes one, when it is ready, what daemons run on it, how it ends.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, ProviderId, Uid};
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_lifecycle::{Interruption, UNREGISTERED_TAINT};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::{
    DaemonSet, Effect, Node, NodeClaim, NodeConditions, Owner, OwnerKind, Pod, PodPhase, Readiness,
    Taint,
};

use crate::cloud::Instance;
use crate::scheduler::daemon_fits;
use crate::world::{Event, World};

/// How long after its owner an object is collected as garbage.
const COLLECTED: Span = Span::from_secs(10);
const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// Odds of interruption are drawn once per hour of an instance's life, this many hours ahead at most.
const HOURS_AHEAD: u64 = 24 * 365;

fn taint(key: &str, effect: Effect) -> Taint {
    Taint {
        key: Arc::from(key),
        value: Arc::from(""),
        effect,
    }
}

impl World {
    /// An instance was had just now: its node will appear, and the market may want it back.
    pub(crate) fn started(&mut self, id: &ProviderId) {
        let Some(instance) = self.cloud.instances.get(id) else {
            return;
        };
        let draw = self.random.number("boot", &instance.claim.uid);
        let boot = self.behaviour.boot.draw(draw);
        let notice = self.interruption_of(id, instance);
        self.meter.bought(id, instance, self.now);
        self.queue.push(self.now + boot, Event::Boot(id.clone()));
        let notice = notice.map(|at| self.queue.push(at, Event::Notice(id.clone())));
        if let Some(instance) = self.cloud.instances.get_mut(id) {
            instance.notice = notice;
        }
    }

    fn interruption_of(&self, id: &ProviderId, instance: &Instance) -> Option<Timestamp> {
        let spot = instance.offering.capacity_type == CapacityType::Spot;
        if !spot || !self.behaviour.interruptions || instance.interruptions_per_day <= 0.0 {
            return None;
        }
        let hourly = f64::from(instance.interruptions_per_day) / 24.0 * 1e6;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=1,000,000"
        )]
        let millionths = hourly.clamp(0.0, 1e6) as u64;
        let hour = (0..HOURS_AHEAD)
            .find(|hour| self.random.happens("interruption", (id, *hour), millionths))?;
        let within = self.random.below("interruption minute", id, 3_600_000);
        let millis = i64::try_from(hour * 3_600_000 + within).unwrap_or(i64::MAX);
        Some(self.now + Span::from_millis(millis))
    }

    /// An instance's kubelet puts up its node.
    pub(crate) fn boot(&mut self, id: &ProviderId) {
        let Some(instance) = self.cloud.instances.get(id).filter(|i| i.ending.is_none()) else {
            return;
        };
        let claim = &instance.claim;
        let mut own = instance.machine.labels.clone();
        own.extend(claim.labels.clone());
        let name = instance.node.clone();
        own.insert(Arc::from(labels::HOSTNAME), Arc::from(name.as_str()));
        let mut taints = claim.taints.clone();
        taints.extend(claim.startup_taints.iter().cloned());
        taints.push(taint(UNREGISTERED_TAINT, Effect::NoExecute));
        taints.push(taint(NOT_READY, Effect::NoSchedule));
        let (capacity, allocatable) = self.real_size(instance);
        let node = Node {
            name: name.clone(),
            uid: self.api.new_uid("node", name.as_str()),
            provider_id: Some(id.clone()),
            labels: own,
            annotations: Labels::new(),
            taints,
            capacity,
            allocatable,
            features: Vec::new(),
            conditions: NodeConditions::of(Readiness::NotReady, self.now),
            created: self.now,
            deleting: None,
            held: false,
        };
        let event = Event::Ready(node.name.clone());
        self.queue.push(self.now + self.behaviour.ready, event);
        self.api.put_node(node);
    }

    /// Real capacity and allocatable of an instance; the catalogue has only computed them.
    fn real_size(&self, instance: &Instance) -> (Resources, Resources) {
        let machine = &instance.machine;
        let (mut capacity, mut allocatable) =
            (machine.capacity.clone(), machine.allocatable.clone());
        let memory = ResourceName::Memory;
        let computed = allocatable.get(&memory);
        let shortfall = self.behaviour.shortfall;
        let instance_type = &instance.offering.instance_type;
        let lacking = shortfall.draw(self.random, instance_type, computed);
        if lacking > 0 {
            capacity.set(memory.clone(), capacity.get(&memory) - lacking);
            allocatable.set(memory, computed - lacking);
        }
        (capacity, allocatable)
    }

    /// A node reports ready; what kept pods off while it started goes.
    pub(crate) fn ready(&mut self, name: &NodeName) {
        let Some(node) = self.api.nodes.get(name) else {
            return;
        };
        let mut node = Node::clone(node);
        let claim = node
            .provider_id
            .as_ref()
            .and_then(|id| self.cloud.instances.get(id))
            .map(|instance| Arc::clone(&instance.claim));
        let startup = |taint: &Taint| {
            claim
                .as_ref()
                .is_some_and(|claim| claim.startup_taints.contains(taint))
        };
        node.taints
            .retain(|taint| taint.key.as_ref() != NOT_READY && !startup(taint));
        node.conditions = NodeConditions::of(Readiness::Ready, self.now);
        self.api.put_node(node);
        self.open(name);
    }

    /// A node may have become usable: its daemons start, and waiting pods are tried again.
    pub(crate) fn open(&mut self, name: &NodeName) {
        let Some(node) = self.api.nodes.get(name).cloned() else {
            return;
        };
        let sets = self.api.daemon_sets.clone();
        for set in sets {
            let pod = daemon_pod(&set, &node, self.now);
            if daemon_fits(&set.pod, &node) && !self.api.pods.contains_key(&pod.name) {
                self.api.put_pod(pod);
            }
        }
        self.scheduler.try_node(name);
    }

    /// The cloud wants an instance back.
    pub(crate) fn notice(&mut self, id: &ProviderId) {
        if self
            .cloud
            .instances
            .get(id)
            .is_none_or(|i| i.ending.is_some())
        {
            return;
        }
        self.meter.interrupted();
        let input = Input::Interrupted(id.clone(), Interruption::SpotReclaimed);
        self.announcements.push(input);
        let end = self.now + self.behaviour.notice;
        self.queue.push(end, Event::InstanceGone(id.clone()));
    }

    /// An instance is no more: it costs nothing, and what ran on it is gone with it.
    pub(crate) fn instance_gone(&mut self, id: &ProviderId) {
        let Some(instance) = self.cloud.end(id) else {
            return;
        };
        self.meter.ended(id, self.now);
        if let Some(notice) = instance.notice {
            self.queue.cancel(notice);
        }
        let name = instance.node.clone();
        let Some(node) = self.api.nodes.get(&name).cloned() else {
            return;
        };
        let pods: Vec<_> = self
            .api
            .pods_on(&name)
            .map(|pod| (pod.name.clone(), pod.uid.clone()))
            .collect();
        for (pod, uid) in pods {
            self.pod_gone(&pod, &uid);
        }
        if node.held {
            let mut down = Node::clone(&node);
            down.conditions = NodeConditions::of(Readiness::NotReady, self.now);
            down.taints.push(taint(NOT_READY, Effect::NoSchedule));
            down.deleting.get_or_insert(self.now);
            self.api.put_node(down);
        } else {
            self.remove_node(&name);
        }
    }

    /// A claim's object goes. Nodes that it owned are collected as garbage a little later.
    pub(crate) fn drop_claim(&mut self, name: &ClaimName) -> Option<Arc<NodeClaim>> {
        let claim = self.api.remove_claim(name)?;
        for node in self.api.owned_by(&claim.uid) {
            let event = Event::Collect(node, claim.uid.clone());
            self.queue.push(self.now + COLLECTED, event);
        }
        Some(claim)
    }

    /// A node whose owner is gone is asked to go, unless it is another by now or has another owner.
    pub(crate) fn collect(&mut self, node: &NodeName, owner: &Uid) {
        if self.api.owned_by(owner).contains(node) {
            self.delete_node(node);
        }
    }

    /// A node's object goes, with the pods that are still bound to it.
    pub(crate) fn remove_node(&mut self, name: &NodeName) {
        let pods: Vec<_> = self
            .api
            .pods_on(name)
            .map(|pod| (pod.name.clone(), pod.uid.clone()))
            .collect();
        self.api.remove_node(name);
        self.scheduler.forget_node(name);
        for (pod, uid) in pods {
            self.pod_gone(&pod, &uid);
        }
    }

    /// A node that is there from the start has an instance behind it, with a price where the catalogue knows one; whether it is ours
    /// to let go, which a node with a claim is.
    pub(crate) fn adopt_node(&mut self, node: &Node) -> bool {
        let Some(id) = &node.provider_id else {
            return false;
        };
        let claims = &self.api.claims;
        let claim = claims
            .values()
            .find(|claim| claim.provider_id.as_ref() == Some(id))
            .cloned();
        let Some(claim) = claim else { return node.held };
        if let Some(instance) = self.instance_behind(node, &claim) {
            self.meter.bought(id, &instance, self.now);
            self.cloud.adopt(id.clone(), instance);
        }
        true
    }

    fn instance_behind(&self, node: &Node, claim: &NodeClaim) -> Option<Instance> {
        let sold = self
            .cloud
            .catalogues
            .of(&claim.class)
            .of_labels(&node.labels)?;
        // The world names nodes after their claims; a node of another name keeps its own through the claim it shows.
        let mut shown = claim.clone();
        shown.name = node.name.as_str().into();
        Some(Instance {
            claim: Arc::new(shown),
            price: sold.offering.price,
            offering: sold.key(),
            machine: plimsoll_model::action::LaunchedInstance {
                provider_id: node.provider_id.clone()?,
                labels: node.labels.clone(),
                annotations: Labels::new(),
                capacity: node.capacity.clone(),
                allocatable: node.allocatable.clone(),
                image: None,
                launched: Some(node.created),
            },
            interruptions_per_day: sold.offering.interruptions_per_day,
            ending: None,
            token: None,
            node: node.name.clone(),
            notice: None,
        })
    }
}

fn daemon_pod(set: &DaemonSet, node: &Node, now: Timestamp) -> Pod {
    let name = format!("{}-{}", set.name.name, node.name);
    Pod {
        labels: Arc::clone(&set.labels),
        spec: Arc::clone(&set.pod),
        owner: Some(Owner {
            kind: OwnerKind::DaemonSet,
            name: Arc::clone(&set.name.name),
            uid: set.uid.clone(),
        }),
        node: Some(node.name.clone()),
        phase: PodPhase::Running,
        unschedulable: false,
        ready: Some(true),
        started: Some(now),
        ..Pod::pending(
            format!("{}/{}", set.uid, node.name).into(),
            ObjectName::new(Arc::clone(&set.name.namespace), name),
            now,
        )
    }
}
