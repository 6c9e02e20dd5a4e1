//! One run: the engine and the world, event by event, until nothing is left to happen.
//!
//! At every instant: the world's events, then what the engine makes of them, then the scheduler, until all is quiet; then
//! the clock jumps to the next event. Nothing is done for time that merely passes.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, PoolName, ProviderId};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_engine::{Engine, Input};
use plimsoll_model::action::{
    Action, ConsiderRequest, Event as Report, ObjectKey, Order, Outcome, Request, SolveRequest,
};
use plimsoll_model::{Node, NodeClaim, NodePool, Object, Pod, Version};

use crate::api::Watched;
use crate::card::ScoreCard;
use crate::floor::floors;
use crate::history::History;
use crate::input::{Behaviour, Recording};
use crate::ladder::Samples;
use crate::planner::Planner;
use crate::process::{Fate, FirstList, Process, ProcessId};
use crate::world::{Event, World};

/// A watch event that comes a second time comes this much later.
const LATE: Span = Span::from_millis(700);
/// Rounds within one instant after which the world must be quiet; more would be two parties undoing each other's work.
const ROUNDS: u32 = 10_000;
/// How long a cluster that goes on by itself is followed once its recording is over.
pub const REST: Span = Span::from_secs(3600);

/// A run that can be stopped and looked at.
#[derive(Clone, Debug)]
pub struct Run<P> {
    pub(crate) world: World,
    pub(crate) processes: BTreeMap<ProcessId, Process>,
    /// Number of processes that have started.
    pub(crate) started: ProcessId,
    /// Fate of the next order that is carried out.
    pub(crate) fate: Fate,
    /// `None` where it is not kept.
    pub(crate) history: Option<History>,
    pub(crate) planner: P,
    /// `None` where the planner appraises nothing.
    pub(crate) samples: Option<Samples>,
    pub(crate) recording: Arc<Recording>,
    reports: Vec<Report>,
    /// Inputs of the engine since they were last taken; `None` where they are not kept.
    inputs: Option<Vec<(Timestamp, Input)>>,
}

impl<P: Planner> Run<P> {
    /// A run at its start.
    pub fn new(recording: Recording, behaviour: Behaviour, planner: P) -> Self {
        Self::begin(recording, behaviour, planner, None)
    }

    /// The same, with every input of the engine kept for [`Run::take_inputs`].
    pub fn with_inputs_kept(recording: Recording, behaviour: Behaviour, planner: P) -> Self {
        Self::begin(recording, behaviour, planner, Some(Vec::new()))
    }

    fn begin(
        recording: Recording,
        behaviour: Behaviour,
        planner: P,
        inputs: Option<Vec<(Timestamp, Input)>>,
    ) -> Self {
        let world = World::new(&recording, behaviour);
        let last = recording.changes.last().map(|change| change.at);
        let end = recording.end.or(last).unwrap_or(recording.start);
        let samples = Some(Samples::over(recording.start, end));
        let mut run = Self {
            world,
            processes: BTreeMap::new(),
            started: 0,
            fate: Fate::default(),
            history: None,
            planner,
            samples,
            recording: Arc::new(recording),
            reports: Vec::new(),
            inputs,
        };
        run.start(FirstList::Present);
        run
    }

    /// The engine's inputs since they were last taken, with the instant of each, oldest first; none unless they are
    /// kept. An engine of the same settings, catalogues and seed that is handed them does the same.
    pub fn take_inputs(&mut self) -> Vec<(Timestamp, Input)> {
        self.inputs.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Runs to the end and closes the books. Where the recording names no end, that is when nothing is left to happen and no
    /// instance is paid for, and otherwise [`REST`] after the last thing that it says.
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
        for process in self.processes.values() {
            self.world.meter.disrupted(process.engine.disruptions());
        }
        let at_rest = match self.recording.end {
            Some(end) => end,
            None if self.world.cloud.instances.is_empty() => self.world.now,
            None => last + REST,
        };
        let now = at_rest.max(self.world.now);
        let (work, listed) = self.world.meter.close_work(now);
        let floors = floors(work, listed, &self.recording, &mut self.planner, now);
        let (processes, mut world) = (self.processes, self.world);
        let engines = processes.values().map(|process| &process.engine);
        world.meter.held(&world.api, |pod| {
            let mut engines = engines.clone();
            engines.find_map(|engine| engine.held_by_ceiling(pod))
        });
        let floors = floors.as_deref();
        world.meter.finish(&world.api, floors, self.samples, now)
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

    /// Hands every engine an input that this world does not make by itself.
    pub fn hand_in(&mut self, input: &Input) {
        let processes: Vec<ProcessId> = self.processes.keys().copied().collect();
        for process in processes {
            self.tell(process, input.clone(), self.world.now);
        }
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

    /// A pool by name.
    pub fn pool(&self, name: &str) -> Option<&Arc<NodePool>> {
        match self
            .world
            .api
            .other(&ObjectKey::Pool(PoolName::from(name)))?
        {
            Object::Pool(pool) => Some(pool),
            _ => None,
        }
    }

    /// Instances that run, or end just now.
    pub fn instance_count(&self) -> usize {
        self.world.cloud.instances.len()
    }

    /// Instances that run, or end just now, each with the claim that it was launched for, as that was then.
    pub fn instances(&self) -> impl Iterator<Item = (&ProviderId, &Arc<NodeClaim>)> {
        let instances = self.world.cloud.instances.iter();
        instances.map(|(id, instance)| (id, &instance.claim))
    }

    /// `true` if a node carries our finalizer.
    pub fn is_held(&self, node: &NodeName) -> bool {
        let node = self.world.api.nodes.get(node);
        node.is_some_and(|node| node.held)
    }

    /// Prices of the instances that run, or end just now, summed.
    pub fn price(&self) -> PricePerHour {
        let instances = self.world.cloud.instances.values();
        instances.map(|instance| instance.price).sum()
    }

    /// Version of the last change of any object.
    pub fn version(&self) -> Version {
        self.world.api.version()
    }

    /// The score card so far.
    pub fn counts(&self) -> &ScoreCard {
        self.world.meter.card()
    }

    /// Instances that the cloud sold for a claim which had been sold one before.
    pub fn double_launches(&self) -> u32 {
        self.world.cloud.double_launches
    }

    /// The next instant at which anything happens, with everything that happens then.
    pub fn step(&mut self) {
        let at = self.next_at();
        while at.is_some() && self.next_at() == at && self.step_event() {}
    }

    /// The very next thing that happens, and where it is the last of its instant what everyone makes of it; `false` where that
    /// ends an instant, or there is nothing left to happen.
    pub fn step_event(&mut self) -> bool {
        let Some((at, event)) = self.world.queue.pop() else {
            return false;
        };
        self.sample_until(at);
        self.world.meter.advance(at);
        self.world.now = at;
        self.happen(event);
        let goes_on = self.world.queue.next_at() == Some(at);
        if !goes_on {
            self.settle();
        }
        goes_on
    }

    fn happen(&mut self, event: Event) {
        let now = self.world.now;
        match event {
            Event::Wake(id) => {
                if let Some(process) = self.processes.get_mut(&id) {
                    process.wake = None;
                    self.feed(id, Input::Tick, now);
                }
            }
            Event::Execute(id, order) => {
                let outcome = match std::mem::take(&mut self.fate) {
                    Fate::Done => self.world.execute(&order),
                    Fate::AnswerLost => {
                        self.world.execute(&order);
                        Outcome::Unknown
                    }
                    Fate::Lost => Outcome::Unknown,
                    Fate::Late(later) => {
                        // Its answer is not waited for.
                        let event = Event::Execute(ProcessId::MAX, order.clone());
                        self.world.queue.push(now + later, event);
                        Outcome::Unknown
                    }
                };
                self.flush();
                self.tell(id, Input::Outcome(order.id, outcome), now);
            }
            Event::Late(watched) => {
                for id in self.ids() {
                    self.feed(id, input_of((*watched).clone()), now);
                }
            }
            Event::CatchUp(id) => self.catch_up(id, true),
            Event::Relist(id) => self.catch_up(id, false),
            other => self.world.happen(other),
        }
        self.flush();
    }

    /// Lets everyone react until all is quiet.
    pub(crate) fn settle(&mut self) {
        for _ in 0..ROUNDS {
            self.flush();
            let engine = self.processes.values().next_back();
            let landings = engine.map(|process| process.engine.landings(self.world.now));
            self.world.schedule(landings);
            if !self.world.api.has_watched() && self.world.announcements.is_empty() {
                break;
            }
        }
        self.world.meter.measure(&mut self.world.api);
        self.set_wakes();
    }

    /// There is one wake of a process at most, so that none is left over when what it was for is no more.
    fn set_wakes(&mut self) {
        let soonest = self.world.now + Span::from_millis(1);
        for (id, process) in &mut self.processes {
            let at = process.engine.next_wake().map(|at| at.max(soonest));
            if process.is_paused() || at == process.wake.map(|entry| entry.at) {
                continue;
            }
            if let Some(entry) = process.wake.take() {
                self.world.queue.cancel(entry);
            }
            process.wake = at.map(|at| self.world.queue.push(at, Event::Wake(*id)));
        }
    }

    fn ids(&self) -> Vec<ProcessId> {
        self.processes.keys().copied().collect()
    }

    /// Hands the engine what the watch and the cloud have put out.
    fn flush(&mut self) {
        let now = self.world.now;
        self.world.api.show_budgets();
        while self.world.api.has_watched() || !self.world.announcements.is_empty() {
            self.show_watched();
            for input in std::mem::take(&mut self.world.announcements) {
                for id in self.ids() {
                    self.tell(id, input.clone(), now);
                }
            }
        }
    }

    /// Hands each process what the watch has put out.
    pub(crate) fn show_watched(&mut self) {
        let now = self.world.now;
        for watched in self.world.api.take_watched() {
            if let Some(history) = &mut self.history {
                history.note(&watched, now);
            }
            if !self.processes.is_empty() {
                self.repeat_late(&watched);
            }
            for id in self.ids() {
                let process = self.processes.get_mut(&id);
                if let Some(input) = process.and_then(|process| process.sees(&watched)) {
                    self.feed(id, input, now);
                }
            }
        }
    }

    /// Hands a process an input that does not come by its watch, now or when it goes on.
    fn tell(&mut self, id: ProcessId, input: Input, now: Timestamp) {
        let process = self.processes.get_mut(&id);
        if let Some(input) = process.and_then(|process| process.hears(input)) {
            self.feed(id, input, now);
        }
    }

    fn repeat_late(&mut self, watched: &Watched) {
        let odds = self.world.behaviour.faults.repeated;
        if odds > 0 && self.world.random.happens("repeat", watched.version, odds) {
            let event = Event::Late(Box::new(watched.clone()));
            self.world.queue.push(self.world.now + LATE, event);
        }
    }

    pub(crate) fn feed(&mut self, id: ProcessId, input: Input, now: Timestamp) {
        let Some(process) = self.processes.get_mut(&id) else {
            return;
        };
        if let Some(inputs) = &mut self.inputs {
            inputs.push((now, input.clone()));
        }
        for action in process.engine.handle(input, now) {
            match action {
                Action::Do(order) => self.send(id, order),
                Action::Solve(request) => self.solve(id, request),
                Action::Consider(request) => self.consider(id, *request),
                Action::Report(report) => self.reports.push(report),
                Action::Begin(_) => {}
                Action::Settle(settled) => {
                    self.planner.settled(&settled);
                    self.world.meter.settled(*settled);
                }
            }
        }
    }

    fn send(&mut self, id: ProcessId, order: Box<Order>) {
        let behaviour = &self.world.behaviour;
        let takes = match &order.request {
            Request::Write(_) => behaviour.write,
            Request::Cloud(_) => behaviour.call,
        };
        let at = self.world.now + takes;
        self.world.queue.push(at, Event::Execute(id, order));
    }

    fn solve(&mut self, process: ProcessId, request: SolveRequest) {
        let planned = self.planner.plan(&request.snapshot);
        self.world
            .meter
            .decided(&request.snapshot, &planned.plan, &planned.faults);
        let (id, now) = (request.id, self.world.now);
        // The engine's next snapshot is made of this one once it is not read any more.
        drop(request);
        self.feed(process, Input::Solved(id, Box::new(planned.plan)), now);
    }
}

impl<P: Planner> Run<P> {
    fn consider(&mut self, process: ProcessId, request: ConsiderRequest) {
        let considered = self.planner.consider(&request);
        self.world.meter.faulted(&considered.faults);
        let (id, now) = (request.id, self.world.now);
        drop(request);
        let decision = Box::new(considered.decision);
        self.feed(process, Input::Considered(id, decision), now);
    }
}

pub(crate) fn new_engine(recording: &Recording, seed: u64) -> Engine {
    Engine::new(
        Arc::clone(&recording.settings),
        Arc::clone(&recording.catalogues),
        seed,
    )
}

pub(crate) fn input_of(watched: Watched) -> Input {
    if watched.deleted {
        Input::Deleted(watched.object, watched.version)
    } else {
        Input::Applied(watched.object, watched.version)
    }
}
