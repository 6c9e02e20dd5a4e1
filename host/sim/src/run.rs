//! One run: the engine and the world, event by event, until nothing is left to happen.
//!
//! At every instant: the world's events, then what the engine makes of them, then the scheduler, until all is quiet; then
//! the clock jumps to the next event. Nothing is done for time that merely passes.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_core::action::{Action, Event as Report, Order, Request, SolveRequest};
use plimsoll_core::engine::{Engine, Input};
use plimsoll_core::model::{Node, NodeClaim, OwnerKind, Pod};
use plimsoll_core::snapshot::{Objects, Snapshot};
use plimsoll_core::time::{Span, Timestamp};

use crate::api::Watched;
use crate::card::ScoreCard;
use crate::input::{Behaviour, Recording};
use crate::planner::Planner;
use crate::world::{Event, World};

/// A watch event that comes a second time comes this much later.
const LATE: Span = Span::from_millis(700);
/// Rounds within one instant after which the world must be quiet; more would be two parties undoing each other's work.
const ROUNDS: u32 = 10_000;

/// A run that can be stopped and looked at.
#[derive(Debug)]
pub struct Run<P> {
    pub(crate) world: World,
    engine: Engine,
    planner: P,
    recording: Recording,
    woken_at: BTreeSet<Timestamp>,
    bound_every: Option<Span>,
    bound_due: Timestamp,
    reports: Vec<Report>,
}

impl<P: Planner> Run<P> {
    /// A run at its start.
    pub fn new(recording: Recording, behaviour: Behaviour, planner: P) -> Self {
        let world = World::new(&recording, behaviour);
        let mut run = Self {
            engine: new_engine(&recording, world.behaviour.seed),
            bound_due: recording.start,
            world,
            planner,
            recording,
            woken_at: BTreeSet::new(),
            bound_every: None,
            reports: Vec::new(),
        };
        run.world.api.take_watched();
        run.start_engine();
        run.settle();
        run
    }

    /// Also integrates the planner's bound, computed anew at most once per span of virtual time.
    #[must_use]
    pub fn with_bound(mut self, every: Span) -> Self {
        self.bound_every = Some(every);
        self.measure();
        self
    }

    /// Runs to the end and closes the books.
    pub fn finish(mut self) -> ScoreCard {
        let end = self.recording.end;
        while let Some(at) = self.next_at() {
            if end.is_some_and(|end| at > end) {
                break;
            }
            self.step();
        }
        let now = end.unwrap_or(self.world.now).max(self.world.now);
        self.world.meter.finish(&self.world.api, now)
    }

    /// The present instant.
    pub fn now(&self) -> Timestamp {
        self.world.now
    }

    /// When something will happen next.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.world.queue.next_at()
    }

    /// What people were told since this was last asked.
    pub fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    /// Goes on until an instant, and stands there.
    pub fn run_until(&mut self, until: Timestamp) {
        while self.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.world.meter.advance(until);
        self.world.now = self.world.now.max(until);
    }

    /// Something happens now that is not in the recording.
    pub fn change(&mut self, change: crate::input::Change) {
        self.world.change(change);
        self.flush();
        self.settle();
    }

    /// Pods, by name.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.world.api.pods.values()
    }

    /// Nodes, by name.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.world.api.nodes.values()
    }

    /// NodeClaims, by name.
    pub fn claims(&self) -> impl Iterator<Item = &Arc<NodeClaim>> {
        self.world.api.claims.values()
    }

    /// Instances that run, or end just now.
    pub fn instance_count(&self) -> usize {
        self.world.cloud.instances.len()
    }

    /// What was counted so far.
    pub fn counts(&self) -> &ScoreCard {
        self.world.meter.card()
    }

    /// The next instant at which anything happens, with everything that happens then.
    pub fn step(&mut self) {
        let Some((at, event)) = self.world.queue.pop() else {
            return;
        };
        self.world.meter.advance(at);
        self.world.now = at;
        self.happen(event);
        while self.world.queue.next_at() == Some(at) {
            let Some((_, event)) = self.world.queue.pop() else {
                break;
            };
            self.happen(event);
        }
        self.settle();
    }

    /// The engine crashes: orders under way are lost, and another starts from the objects as they are.
    pub fn crash(&mut self) {
        self.world.forget_orders();
        self.world.api.take_watched();
        self.engine = new_engine(&self.recording, self.world.behaviour.seed);
        self.start_engine();
        self.settle();
    }

    fn start_engine(&mut self) {
        let now = self.world.now;
        let listed = Arc::clone(&self.world.cloud.catalogue);
        self.feed(Input::Catalogue(listed), now);
        for (object, version) in self.world.api.list() {
            self.feed(Input::Applied(object, version), now);
        }
        self.feed(Input::Synced, now);
    }

    fn happen(&mut self, event: Event) {
        let now = self.world.now;
        match event {
            Event::Wake => {
                self.woken_at.remove(&now);
                self.feed(Input::Tick, now);
            }
            Event::Execute(order) => {
                let outcome = self.world.execute(&order);
                self.flush();
                self.feed(Input::Outcome(order.id, outcome), now);
            }
            Event::Late(watched) => self.feed(input_of(*watched), now),
            other => self.world.happen(other),
        }
        self.flush();
    }

    /// Lets everyone react until all is quiet.
    fn settle(&mut self) {
        for _ in 0..ROUNDS {
            self.flush();
            let engine = &self.engine;
            self.world.schedule(|pod, node, meter| {
                if let Some(as_planned) = engine.is_promised(pod, node) {
                    meter.landed(as_planned);
                }
            });
            if !self.world.api.has_watched() && self.world.announcements.is_empty() {
                break;
            }
        }
        self.measure();
        if let Some(at) = self.engine.next_wake() {
            let at = at.max(self.world.now + Span::from_millis(1));
            if self.woken_at.insert(at) {
                self.world.queue.push(at, Event::Wake);
            }
        }
    }

    /// Hands the engine what the watch and the cloud have put out.
    fn flush(&mut self) {
        let now = self.world.now;
        while self.world.api.has_watched() || !self.world.announcements.is_empty() {
            for watched in self.world.api.take_watched() {
                self.repeat_late(&watched);
                self.feed(input_of(watched), now);
            }
            for input in std::mem::take(&mut self.world.announcements) {
                self.feed(input, now);
            }
        }
    }

    fn repeat_late(&mut self, watched: &Watched) {
        let odds = self.world.behaviour.faults.repeated;
        if odds > 0 && self.world.random.happens("repeat", watched.version, odds) {
            let event = Event::Late(Box::new(watched.clone()));
            self.world.queue.push(self.world.now + LATE, event);
        }
    }

    fn feed(&mut self, input: Input, now: Timestamp) {
        for action in self.engine.handle(input, now) {
            match action {
                Action::Do(order) => self.send(order),
                Action::Solve(request) => self.solve(&request),
                Action::Report(report) => self.reports.push(report),
            }
        }
    }

    fn send(&mut self, order: Box<Order>) {
        let behaviour = &self.world.behaviour;
        let takes = match &order.request {
            Request::Write(_) => behaviour.write,
            Request::Cloud(_) => behaviour.call,
        };
        let at = self.world.now + takes;
        self.world.queue.push(at, Event::Execute(order));
    }

    fn solve(&mut self, request: &SolveRequest) {
        let planned = self.planner.plan(&request.snapshot);
        self.world
            .meter
            .decided(&request.snapshot, &planned.plan, planned.faults);
        let now = self.world.now;
        self.feed(Input::Solved(request.id, Box::new(planned.plan)), now);
    }

    fn measure(&mut self) {
        self.world.meter.measure(&self.world.api);
        let now = self.world.now;
        let Some(every) = self.bound_every.filter(|_| now >= self.bound_due) else {
            return;
        };
        self.bound_due = now + every;
        let snapshot = self.live_pods();
        if let Some(bound) = self.planner.bound(&snapshot) {
            self.world.meter.set_bound(bound);
        }
    }

    /// All live pods as if none had a node: what a fleet bought now from nothing would have to hold.
    fn live_pods(&self) -> Snapshot {
        let daemon = |pod: &&Arc<Pod>| pod.is_owned_by(OwnerKind::DaemonSet);
        let pods = self.world.api.pods.values();
        let live = pods
            .filter(|pod| pod.is_active() && !daemon(pod))
            .map(|pod| {
                let mut pod = Pod::clone(pod);
                pod.node = None;
                pod.nominated = None;
                pod.unschedulable = true;
                Arc::new(pod)
            });
        let objects = Objects {
            pools: self.recording.objects.pools.clone(),
            daemon_sets: self.recording.objects.daemon_sets.clone(),
            pods: live.collect(),
            ..Objects::default()
        };
        Snapshot::new(
            self.world.now,
            self.world.behaviour.seed,
            Arc::clone(&self.recording.settings),
            Arc::clone(&self.world.cloud.catalogue),
            objects,
        )
    }
}

fn new_engine(recording: &Recording, seed: u64) -> Engine {
    Engine::new(
        Arc::clone(&recording.settings),
        Arc::clone(&recording.catalogue),
        seed,
    )
}

fn input_of(watched: Watched) -> Input {
    if watched.deleted {
        Input::Deleted(watched.object, watched.version)
    } else {
        Input::Applied(watched.object, watched.version)
    }
}
