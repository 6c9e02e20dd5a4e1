//! Everything outside the engine: API server, cloud, kubelets, scheduler, workloads, on one clock.
//!
//! The world acts on its own events and carries out the engine's orders. It tells the engine nothing but watch events,
//! outcomes and the cloud's announcements.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName, ProviderId, Uid};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::{Input, Landings};
use plimsoll_model::action::{ActionId, Order};
use plimsoll_model::{ClassRef, Node, NodeClaim, Object, Pod, PodPhase, PodVolume};

use crate::api::{Api, Watched};
use crate::cloud::Cloud;
use crate::input::{Behaviour, Change, Recording};
use crate::meter::Meter;
use crate::process::ProcessId;
use crate::queue::Queue;
use crate::random::Random;
use crate::scheduler::{Attempt, Scheduler};
use crate::workload::Workloads;

/// Message of a plugin that keeps a pod from every node.
const REFUSED: &str = "a plugin refuses all nodes";

/// Something that will happen.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// From the recording.
    Change(Box<Change>),
    /// An engine asked to be woken.
    Wake(ProcessId),
    /// An order of a process reaches its addressee.
    Execute(ProcessId, Box<Order>),
    /// A watch event arrives late.
    Late(Box<Watched>),
    /// The watch of a process brings all that it held back.
    CatchUp(ProcessId),
    /// The watch of a process lists anew.
    Relist(ProcessId),
    /// An instance's node appears.
    Boot(ProviderId),
    /// A node becomes ready.
    Ready(NodeName),
    /// A task has run its time.
    Ends(ObjectName, Uid),
    /// A pod that was asked to go is gone.
    PodGone(ObjectName, Uid),
    /// The cloud announces that it takes an instance back.
    Notice(ProviderId),
    /// An instance is no more: taken back, or ended as asked.
    InstanceGone(ProviderId),
    /// Replicas follow their load.
    Autoscale,
    /// A node whose owner, of this uid, is gone is collected as garbage.
    Collect(NodeName, Uid),
}

/// The world.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) random: Random,
    pub(crate) behaviour: Behaviour,
    pub(crate) api: Api,
    pub(crate) cloud: Cloud,
    pub(crate) queue: Queue<Event>,
    pub(crate) scheduler: Scheduler,
    pub(crate) workloads: Workloads,
    pub(crate) meter: Meter,
    /// Pods that end by themselves.
    pub(crate) tasks: BTreeMap<ObjectName, Task>,
    /// Inputs from the cloud for the engine.
    pub(crate) announcements: Vec<Input>,
    /// Classes that pools name, and whether each can be used.
    pub(crate) classes: BTreeMap<ClassRef, bool>,
    /// How often orders have been met that may go wrong.
    pub(crate) met: BTreeMap<ActionId, u32>,
}

impl World {
    /// The world of a recording at its start.
    pub(crate) fn new(recording: &Recording, behaviour: Behaviour) -> Self {
        let mut world = Self {
            now: recording.start,
            random: Random::new(behaviour.seed),
            behaviour,
            api: Api::default(),
            cloud: Cloud::new(Arc::clone(&recording.catalogues), recording.overlaid()),
            queue: Queue::default(),
            scheduler: Scheduler::default(),
            workloads: Workloads::of(recording),
            meter: Meter::new(recording.start, Arc::clone(&recording.catalogues)),
            tasks: BTreeMap::new(),
            announcements: Vec::new(),
            classes: BTreeMap::new(),
            met: BTreeMap::new(),
        };
        world.fill(recording);
        for timed in &recording.changes {
            let at = timed.at.max(recording.start);
            let change = Event::Change(Box::new(timed.change.clone()));
            world.queue.push(at, change);
        }
        world
    }

    fn fill(&mut self, recording: &Recording) {
        let objects = &recording.objects;
        for object in objects.iter() {
            if !matches!(object, Object::Claim(_) | Object::Node(_) | Object::Pod(_)) {
                if let Object::Pool(pool) = &object {
                    let is_ready = self.classes.entry(pool.class.clone()).or_insert(true);
                    *is_ready &= pool.ready;
                }
                self.api.put_other(object);
            }
        }
        for claim in &objects.claims {
            let held = true;
            self.api.put_claim(NodeClaim {
                held,
                ..NodeClaim::clone(claim)
            });
        }
        for node in &objects.nodes {
            let held = self.adopt_node(node);
            self.api.put_node(Node {
                held,
                ..Node::clone(node)
            });
        }
        for (name, runs_for) in &recording.running {
            self.tasks.insert(name.clone(), Task::of(*runs_for));
        }
        for pod in &objects.pods {
            if !pod.is_terminal() && !pod.is_spare() {
                let mut pod = Pod::clone(pod);
                // Who does not say since when it waits does so from now on.
                if pod.node.is_none() && pod.created == Timestamp::default() {
                    pod.created = self.now;
                }
                self.arrive(pod);
            }
        }
        self.scheduler.try_all();
    }

    /// A pod comes into being.
    pub(crate) fn arrive(&mut self, mut pod: Pod) {
        pod.untried = pod.node.is_none() && !pod.unschedulable;
        self.meter.arrived(&pod);
        if pod.node.is_some() {
            self.meter.runs(&pod, self.now);
            self.schedule_end(&pod);
        } else {
            self.scheduler.try_pod(&pod.name);
        }
        self.api.put_pod(pod);
    }

    /// Where a task has a time to run, it ends by itself.
    pub(crate) fn schedule_end(&mut self, pod: &Pod) {
        if let Some(task) = self.tasks.get_mut(&pod.name) {
            let end = self.now + task.runs_for;
            task.ends = Some(end);
            let event = Event::Ends(pod.name.clone(), pod.uid.clone());
            self.queue.push(end, event);
        }
    }

    /// Lets the scheduler try what there is to try; binds and failures become visible at once. `landings` tells how each
    /// binding stands to the plan; `None` where there is no planner.
    pub(crate) fn schedule(&mut self, mut landings: Option<Landings<'_>>) {
        let queue = self.scheduler.take_queue(&self.api);
        let mut failed: Vec<Arc<Pod>> = Vec::new();
        for (name, scope) in queue {
            let Some(pod) = self.api.pods.get(&name).cloned() else {
                continue;
            };
            if self.scheduler.refuses(&pod, &self.api) {
                self.fail(&pod, Some(REFUSED));
                continue;
            }
            // Its twin failed a moment ago, and nothing has become freer since.
            let hopeless =
                pod.nominated.is_none() && failed.last().is_some_and(|twin| is_twin(twin, &pod));
            let attempt = if hopeless {
                Attempt::Fail
            } else {
                let honours = self.behaviour.nominations;
                self.scheduler
                    .attempt(&pod, &scope, &self.api, honours, self.random)
            };
            match attempt {
                Attempt::Bind(node) => {
                    let landing = landings.as_mut();
                    if let Some(landing) = landing.and_then(|it| it.of(&pod, &node)) {
                        self.meter.landed(&pod, landing);
                    }
                    self.bind(&pod, node);
                }
                Attempt::Fail => {
                    self.fail(&pod, None);
                    failed.push(pod);
                }
            }
        }
    }

    fn bind(&mut self, pod: &Pod, node: NodeName) {
        let mut bound = pod.clone();
        bound.node = Some(node);
        bound.nominated = None;
        (bound.unschedulable, bound.untried) = (false, false);
        bound.scheduler_message = None;
        bound.phase = PodPhase::Running;
        bound.ready = Some(true);
        bound.started = Some(self.now);
        self.meter.bound(&bound, self.now);
        self.schedule_end(&bound);
        self.api.put_pod(bound);
    }

    fn fail(&mut self, pod: &Pod, message: Option<&str>) {
        if pod.unschedulable && pod.nominated.is_none() {
            return;
        }
        let mut failed = pod.clone();
        (failed.unschedulable, failed.untried) = (true, false);
        failed.scheduler_message = message.map(Arc::from);
        if failed.nominated.take().is_some() {
            self.meter.dropped_nomination();
        }
        self.api.put_pod(failed);
    }

    /// Asks a pod to go; it is gone after its grace.
    pub(crate) fn ask_to_go(&mut self, name: &ObjectName) -> bool {
        self.ask_to_go_within(name, self.behaviour.grace)
    }

    /// The same with another time to end; of one that is deleting already never a later one.
    pub(crate) fn ask_to_go_within(&mut self, name: &ObjectName, grace: Span) -> bool {
        let gone_by = self.now + grace;
        let Some(pod) = self.api.pods.get(name) else {
            return false;
        };
        if pod.deleting.is_some_and(|before| before <= gone_by) {
            return true;
        }
        if pod.node.is_none() {
            let uid = pod.uid.clone();
            self.pod_gone(name, &uid);
            return true;
        }
        let mut going = Pod::clone(pod);
        going.deleting = Some(gone_by);
        let event = Event::PodGone(name.clone(), going.uid.clone());
        self.queue.push(gone_by, event);
        self.api.put_pod(going);
        true
    }

    /// A pod is gone; its owner makes another where it must.
    pub(crate) fn pod_gone(&mut self, name: &ObjectName, uid: &Uid) {
        let is_it = self.api.pods.get(name).is_some_and(|pod| pod.uid == *uid);
        if !is_it {
            return;
        }
        let Some(pod) = self.api.remove_pod(name) else {
            return;
        };
        self.meter.gone(&pod, self.now);
        self.scheduler.left(&pod);
        self.replace(&pod);
    }

    /// A task has run its time, unless it was moved meanwhile.
    pub(crate) fn end_task(&mut self, name: &ObjectName, uid: &Uid) {
        let is_it = self
            .api
            .pods
            .get(name)
            .is_some_and(|pod| pod.uid == *uid && pod.is_active());
        if !is_it {
            return;
        }
        self.tasks.remove(name);
        if let Some(pod) = self.api.remove_pod(name) {
            self.meter.completed(&pod, self.now);
            self.workloads.forget(&pod);
            self.scheduler.left(&pod);
        }
    }
}

/// A pod that ends by itself, and how long it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// How long it runs from when it starts here.
    runs_for: Span,
    /// When it ends, once it has started.
    ends: Option<Timestamp>,
}

impl Task {
    /// Runs for so long once it has started.
    pub(crate) const fn of(runs_for: Span) -> Self {
        Self {
            runs_for,
            ends: None,
        }
    }

    /// The same begun anew, or with what is left of its time.
    pub(crate) fn again(self, anew: bool, now: Timestamp) -> Self {
        let end = self.ends.filter(|_| !anew);
        Self::of(end.map_or(self.runs_for, |end| end.since(now)))
    }
}

/// `true` if two pods would meet the same fate. Claims that are made for each pod may be anywhere.
fn is_twin(a: &Pod, b: &Pod) -> bool {
    let of_its_own = |volume: &PodVolume| matches!(volume, PodVolume::Ephemeral(_));
    a.name.namespace == b.name.namespace
        && !a.spec.volumes.iter().any(of_its_own)
        && a.labels == b.labels
        && (Arc::ptr_eq(&a.spec, &b.spec) || a.spec == b.spec)
}

impl World {
    /// Something happens without an order.
    pub(crate) fn happen(&mut self, event: Event) {
        match event {
            Event::Change(change) => self.change(*change),
            Event::Boot(id) => self.boot(&id),
            Event::Ready(node) => self.ready(&node),
            Event::Ends(pod, uid) => self.end_task(&pod, &uid),
            Event::PodGone(pod, uid) => self.pod_gone(&pod, &uid),
            Event::Notice(id) => self.notice(&id),
            Event::InstanceGone(id) => self.instance_gone(&id),
            Event::Autoscale => self.autoscale(),
            Event::Collect(node, owner) => self.collect(&node, &owner),
            // These are the run's own.
            Event::Wake(_)
            | Event::Execute(..)
            | Event::Late(_)
            | Event::CatchUp(_)
            | Event::Relist(_) => {}
        }
    }

    /// `true` if anything of the recording is still to happen: a change, the end of a task, a step of replicas.
    pub(crate) fn goes_on(&self) -> bool {
        let of_recording =
            |event: &Event| matches!(event, Event::Change(_) | Event::Ends(..) | Event::Autoscale);
        self.queue.holds(of_recording)
    }

    /// Orders under way are lost with their sender.
    pub(crate) fn forget_orders(&mut self) {
        self.queue
            .retain(|event| !matches!(event, Event::Execute(..) | Event::Late(_)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_task_counts_from_when_it_started_here() {
        let at = |minutes: i64| Timestamp::from_millis(minutes * 60_000);
        let hour = Task::of(Span::from_secs(3600));
        let started = Task {
            ends: Some(at(70)),
            ..hour
        };
        assert_eq!(started.again(false, at(50)).runs_for, Span::from_secs(1200));
        assert_eq!(started.again(true, at(50)).runs_for, hour.runs_for);
        assert_eq!(hour.again(false, at(50)).runs_for, hour.runs_for);
    }
}
