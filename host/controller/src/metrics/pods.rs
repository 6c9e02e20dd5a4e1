//! Pods: where each is, and how long it took from its creation to a plan, a node and a running container.
//!
//! Times are counted of pods that were seen waiting; one that ran before this process began is no measure of anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName, Uid};
use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{Node, Owner, OwnerKind, Pod, PodPhase};

use super::exposition::Exposition;
use super::families;
use super::family::Family;
use super::histogram::Histogram;
use super::keyed::Counters;
use super::seconds;
use super::summary::Summary;

/// Figures of pods on their way, and of those that have arrived.
#[derive(Clone, Debug)]
pub(crate) struct PodMeters {
    waiting: BTreeMap<Uid, WaitingPod>,
    startup: Summary,
    bound: Histogram,
    planned_startup: Histogram,
    planned_bound: Histogram,
    decision: Histogram,
    drained: Counters<1>,
}

/// A pod that has not run yet.
#[derive(Clone, Debug)]
struct WaitingPod {
    name: ObjectName,
    created: Timestamp,
    seen: Timestamp,
    /// When a plan first spoke of it.
    decided: Option<Timestamp>,
    /// Since when plans have a place for it.
    planned: Option<Timestamp>,
    is_bound: bool,
}

impl Default for PodMeters {
    fn default() -> Self {
        let histogram = |family: &Family| Histogram::new(family.bounds());
        Self {
            waiting: BTreeMap::new(),
            startup: Summary::default(),
            bound: histogram(&families::POD_BOUND),
            planned_startup: histogram(&families::POD_PLANNED_STARTUP),
            planned_bound: histogram(&families::POD_PLANNED_BOUND),
            decision: histogram(&families::POD_DECISION),
            drained: Counters::default(),
        }
    }
}

impl PodMeters {
    /// A pod is so now.
    pub(crate) fn pod(&mut self, pod: &Pod, now: Timestamp) {
        if pod.phase == PodPhase::Pending && !self.waiting.contains_key(&pod.uid) {
            let waiting = WaitingPod {
                name: pod.name.clone(),
                created: pod.created,
                seen: now,
                decided: None,
                planned: None,
                is_bound: pod.node.is_some(),
            };
            self.waiting.insert(pod.uid.clone(), waiting);
            return;
        }
        let Some(own) = self.waiting.get_mut(&pod.uid) else {
            return;
        };
        if !own.is_bound && pod.node.is_some() {
            own.is_bound = true;
            self.bound.observe(seconds(now.since(own.created)));
            if let Some(planned) = own.planned {
                self.planned_bound.observe(seconds(now.since(planned)));
            }
        }
        if pod.is_terminal() {
            self.waiting.remove(&pod.uid);
        } else if pod.phase != PodPhase::Pending && pod.ready == Some(true) {
            self.startup.observe(seconds(now.since(own.created)), now);
            if let Some(planned) = own.planned {
                self.planned_startup.observe(seconds(now.since(planned)));
            }
            self.waiting.remove(&pod.uid);
        }
    }

    /// A pod is no more.
    pub(crate) fn gone(&mut self, pod: &Uid) {
        self.waiting.remove(pod);
    }

    /// A plan has spoken of pods: whether it has a place for each.
    pub(crate) fn decided(&mut self, pods: &[(Uid, bool)], now: Timestamp) {
        for (pod, is_placed) in pods {
            let Some(own) = self.waiting.get_mut(pod) else {
                continue;
            };
            if own.decided.is_none() {
                own.decided = Some(now);
                self.decision.observe(seconds(now.since(own.seen)));
            }
            own.planned = is_placed.then(|| own.planned.unwrap_or(now));
        }
    }

    /// A pod was evicted or deleted in the drain of its node, for a reason.
    pub(crate) fn drained(&mut self, reason: &Arc<str>) {
        self.drained.add([Arc::clone(reason)], 1);
    }

    pub(crate) fn write(&self, out: &mut Exposition, now: Timestamp) {
        out.family(&families::POD_STARTUP)
            .summary(&[], &self.startup, now);
        for (family, histogram) in [
            (&families::POD_BOUND, &self.bound),
            (&families::POD_PLANNED_STARTUP, &self.planned_startup),
            (&families::POD_PLANNED_BOUND, &self.planned_bound),
            (&families::POD_DECISION, &self.decision),
        ] {
            out.family(family).histogram(&[], histogram);
        }
        out.counters(&families::PODS_DRAINED, &self.drained);
    }

    /// Gauges of pods that have not run yet.
    pub(crate) fn write_waiting(&self, out: &mut Exposition, now: Timestamp) {
        let mut family =
            |family: &'static Family, since: &dyn Fn(&WaitingPod) -> Option<Timestamp>| {
                let mut samples = out.family(family);
                for pod in self.waiting.values() {
                    if let Some(since) = since(pod) {
                        let values = [&*pod.name.name, &*pod.name.namespace];
                        samples.sample(&values, seconds(now.since(since)));
                    }
                }
            };
        family(&families::POD_UNSTARTED, &|pod| Some(pod.created));
        family(&families::POD_UNBOUND, &|pod| {
            (!pod.is_bound).then_some(pod.created)
        });
        family(&families::POD_PLANNED_UNSTARTED, &|pod| pod.planned);
        family(&families::POD_PLANNED_UNBOUND, &|pod| {
            pod.planned.filter(|_| !pod.is_bound)
        });
        family(&families::POD_UNDECIDED, &|pod| {
            (pod.decided.is_none() && !pod.is_bound).then_some(pod.seen)
        });
    }
}

/// A series for each pod.
pub(crate) fn write(out: &mut Exposition, pods: &[Arc<Pod>], nodes: &[Arc<Node>]) {
    let nodes: BTreeMap<&NodeName, &Node> =
        nodes.iter().map(|node| (&node.name, &**node)).collect();
    let mut pods: Vec<&Pod> = pods.iter().map(AsRef::as_ref).collect();
    pods.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let mut samples = out.family(&families::POD_STATE);
    let flag = |is: bool| if is { "true" } else { "false" };
    for pod in pods {
        let node = pod.node.as_ref().and_then(|name| nodes.get(name));
        let label = |key: &str| {
            let value = node.and_then(|node| node.label(key));
            value.map_or("", |value| &**value)
        };
        let pool = label(labels::NODEPOOL);
        let owner = pod.owner.as_ref().and_then(|owner| path(pod, owner));
        let values = [
            &*pod.name.name,
            &*pod.name.namespace,
            owner.as_deref().unwrap_or_default(),
            pod.node.as_ref().map_or("", NodeName::as_str),
            flag(pod.node.is_some()),
            pool,
            label(labels::ZONE),
            label(labels::ARCH),
            label(labels::CAPACITY_TYPE),
            label(labels::INSTANCE_TYPE),
            phase(pod.phase),
            flag(pod.ready == Some(true)),
            flag(!pool.is_empty()),
        ];
        samples.sample(&values, 1.0);
    }
}

/// The path of a pod's owner at the API server; `None` for kinds whose group is not known.
fn path(pod: &Pod, owner: &Owner) -> Option<String> {
    let (version, kinds) = match owner.kind {
        OwnerKind::ReplicaSet => ("apps/v1", "replicasets"),
        OwnerKind::ReplicationController => ("v1", "replicationcontrollers"),
        OwnerKind::StatefulSet => ("apps/v1", "statefulsets"),
        OwnerKind::DaemonSet => ("apps/v1", "daemonsets"),
        OwnerKind::Job => ("batch/v1", "jobs"),
        OwnerKind::Node => ("v1", "nodes"),
        OwnerKind::Other | OwnerKind::CapacityBuffer => return None,
    };
    let (namespace, name) = (&pod.name.namespace, &owner.name);
    Some(format!(
        "/apis/{version}/namespaces/{namespace}/{kinds}/{name}"
    ))
}

const fn phase(phase: PodPhase) -> &'static str {
    match phase {
        PodPhase::Pending => "Pending",
        PodPhase::Running => "Running",
        PodPhase::Succeeded => "Succeeded",
        PodPhase::Failed => "Failed",
        PodPhase::Unknown => "Unknown",
    }
}
