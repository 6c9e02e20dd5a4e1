//! One run: the engine and the world, event by event, until nothing is left to happen.
//!
//! At every instant: the world's events, then what the engine makes of them, then the scheduler, until all is quiet; then
//! the clock jumps to the next event. Nothing is done for time that merely passes.

use std::sync::Arc;

use plimsoll_core::action::{
    Action, ConsiderRequest, Event as Report, Order, Request, SolveRequest,
};
use plimsoll_core::engine::{Engine, Input};
use plimsoll_core::ids::NodeName;
use plimsoll_core::model::{Node, NodeClaim, Pod};
use plimsoll_core::time::{Span, Timestamp};

use crate::api::Watched;
use crate::card::ScoreCard;
use crate::floor::floors;
use crate::input::{Behaviour, Recording};
use crate::planner::Planner;
use crate::queue::Entry;
use crate::world::{Event, World};

/// A watch event that comes a second time comes this much later.
const LATE: Span = Span::from_millis(700);
/// Rounds within one instant after which the world must be quiet; more would be two parties undoing each other's work.
const ROUNDS: u32 = 10_000;
/// How long a cluster that goes on by itself is followed once its recording is over.
pub const REST: Span = Span::from_secs(3600);

/// A run that can be stopped and looked at.
#[derive(Debug)]
pub struct Run<P> {
    pub(crate) world: World,
    engine: Engine,
    planner: P,
    recording: Recording,
    wake: Option<Entry>,
    reports: Vec<Report>,
    /// Inputs of the engine since they were last taken; `None` where they are not kept.
    inputs: Option<Vec<(Timestamp, Input)>>,
}

impl<P: Planner> Run<P> {
    /// A run at its start.
    pub fn new(recording: Recording, behaviour: Behaviour, planner: P) -> Self {
        Self::start(recording, behaviour, planner, None)
    }

    /// The same, with every input of the engine kept for [`Run::take_inputs`].
    pub fn with_inputs_kept(recording: Recording, behaviour: Behaviour, planner: P) -> Self {
        Self::start(recording, behaviour, planner, Some(Vec::new()))
    }

    fn start(
        recording: Recording,
        behaviour: Behaviour,
        planner: P,
        inputs: Option<Vec<(Timestamp, Input)>>,
    ) -> Self {
        let world = World::new(&recording, behaviour);
        let mut run = Self {
            engine: new_engine(&recording, world.behaviour.seed),
            world,
            planner,
            recording,
            wake: None,
            reports: Vec::new(),
            inputs,
        };
        run.world.api.take_watched();
        run.start_engine();
        run.settle();
        run
    }

    /// The engine's inputs since they were last taken, with the instant of each, oldest first; none unless they are
    /// kept. An engine of the same settings, catalogues and seed that is handed them does the same.
    pub fn take_inputs(&mut self) -> Vec<(Timestamp, Input)> {
        self.inputs.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Runs to the end and closes the books. Where the recording names no end, that is when nothing is left to happen and no
    /// machine is paid for, and otherwise [`REST`] after the last thing that it says.
    pub fn finish(mut self) -> ScoreCard {
        let mut last = self.world.now;
        while let Some(at) = self.next_at() {
            if self.world.goes_on() {
                last = at;
            }
            if at > self.recording.end.unwrap_or(last + REST) {
                break;
            }
            self.step();
        }
        self.world.meter.disrupted(self.engine.disruptions());
        let at_rest = match self.recording.end {
            Some(end) => end,
            None if self.world.cloud.instances.is_empty() => self.world.now,
            None => last + REST,
        };
        let now = at_rest.max(self.world.now);
        let (work, listed) = self.world.meter.close_work(now);
        let floors = floors(work, listed, &self.recording, &mut self.planner, now);
        let (engine, mut world) = (self.engine, self.world);
        world
            .meter
            .held(&world.api, |pod| engine.held_by_ceiling(pod));
        world.meter.finish(&world.api, floors.as_deref(), now)
    }

    /// The present instant.
    pub fn now(&self) -> Timestamp {
        self.world.now
    }

    /// When something will happen next.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.world.queue.next_at()
    }

    /// Reports to people since the last call.
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

    /// Hands the engine an input that this world does not make by itself.
    pub fn hand_in(&mut self, input: Input) {
        self.feed(input, self.world.now);
        self.flush();
        self.settle();
    }

    /// A node reports its status once more, unchanged; nothing happens where there is no such node.
    pub fn report_status(&mut self, node: &NodeName) {
        if let Some(node) = self.world.api.nodes.get(node).cloned() {
            self.world.api.put_node(Node::clone(&node));
            self.flush();
            self.settle();
        }
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

    /// The score card so far.
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
        self.world.meter.disrupted(self.engine.disruptions());
        self.world.forget_orders();
        self.world.api.take_watched();
        self.engine = new_engine(&self.recording, self.world.behaviour.seed);
        self.start_engine();
        self.settle();
    }

    fn start_engine(&mut self) {
        let now = self.world.now;
        self.feed(Input::Catalogues(self.world.cloud.listed()), now);
        for (object, version) in self.world.api.list() {
            self.feed(Input::Applied(object, version), now);
        }
        self.feed(Input::Synced, now);
    }

    fn happen(&mut self, event: Event) {
        let now = self.world.now;
        match event {
            Event::Wake => {
                self.wake = None;
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
            let landings = self.engine.landings(self.world.now);
            self.world.schedule(landings);
            if !self.world.api.has_watched() && self.world.announcements.is_empty() {
                break;
            }
        }
        self.world.meter.measure(&mut self.world.api);
        self.set_wake();
    }

    /// There is one wake at most, so that none is left over when what it was for is no more.
    fn set_wake(&mut self) {
        let soonest = self.world.now + Span::from_millis(1);
        let at = self.engine.next_wake().map(|at| at.max(soonest));
        if at == self.wake.map(|entry| entry.at) {
            return;
        }
        if let Some(entry) = self.wake.take() {
            self.world.queue.cancel(entry);
        }
        self.wake = at.map(|at| self.world.queue.push(at, Event::Wake));
    }

    /// Hands the engine what the watch and the cloud have put out.
    fn flush(&mut self) {
        let now = self.world.now;
        self.world.api.show_budgets();
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
        if let Some(inputs) = &mut self.inputs {
            inputs.push((now, input.clone()));
        }
        for action in self.engine.handle(input, now) {
            match action {
                Action::Do(order) => self.send(order),
                Action::Solve(request) => self.solve(request),
                Action::Consider(request) => self.consider(*request),
                Action::Report(report) => self.reports.push(report),
                Action::Settle(settled) => self.world.meter.settled(settled),
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

    fn solve(&mut self, request: SolveRequest) {
        let planned = self.planner.plan(&request.snapshot);
        self.world
            .meter
            .decided(&request.snapshot, &planned.plan, &planned.faults);
        let (id, now) = (request.id, self.world.now);
        // The engine's next snapshot is made of this one once nobody reads it.
        drop(request);
        self.feed(Input::Solved(id, Box::new(planned.plan)), now);
    }
}

impl<P: Planner> Run<P> {
    fn consider(&mut self, request: ConsiderRequest) {
        let considered = self.planner.consider(&request);
        self.world.meter.faulted(&considered.faults);
        let (id, now) = (request.id, self.world.now);
        drop(request);
        let decision = Box::new(considered.decision);
        self.feed(Input::Considered(id, decision), now);
    }
}

fn new_engine(recording: &Recording, seed: u64) -> Engine {
    Engine::new(
        Arc::clone(&recording.settings),
        Arc::clone(&recording.catalogues),
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
