//! Processes of the engine: as a rule one. It may be stopped at any point and another started, be paused and woken, and see
//! the world late; then there may be two.
//!
//! What a process that is no more has sent may still arrive: its orders are carried out, and the answers are lost.

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::{Engine, Input};
use plimsoll_model::Object;
use plimsoll_model::action::Order;

use crate::api::Watched;
use crate::history::{History, coalesced};
use crate::planner::Planner;
use crate::queue::Entry;
use crate::run::{Run, input_of, new_engine};
use crate::world::Event;

/// The word that a process has of its own view once its watch is behind.
fn stale_view() -> Input {
    Input::Stale(["NodeClaim", "Node", "Pod"].map(Arc::from).to_vec())
}

/// Number of a process, in the order in which they start.
pub(crate) type ProcessId = u32;

/// An engine with what it waits for.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) engine: Engine,
    /// When it is woken next.
    pub(crate) wake: Option<Entry>,
    /// Events of the watch that it has not had yet; `None` while its watch keeps up.
    behind: Option<Vec<Watched>>,
    /// Inputs that wait for a process that is paused; `None` while it runs.
    paused: Option<Vec<Input>>,
}

impl Process {
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine,
            wake: None,
            behind: None,
            paused: None,
        }
    }

    /// The input that an event of the watch is; `None` where it is held back.
    pub(crate) fn sees(&mut self, watched: &Watched) -> Option<Input> {
        if let Some(behind) = &mut self.behind {
            behind.push(watched.clone());
            return None;
        }
        Some(input_of(watched.clone()))
    }

    /// An input for a process; `None` where it is paused, and has it later.
    pub(crate) fn hears(&mut self, input: Input) -> Option<Input> {
        match &mut self.paused {
            Some(waiting) => {
                waiting.push(input);
                None
            }
            None => Some(input),
        }
    }

    /// `true` if it neither hears nor does anything.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    fn knows(&self, object: &Object) -> bool {
        let cluster = self.engine.cluster();
        match object {
            Object::Claim(claim) => cluster.claims.get(&claim.name).is_some(),
            Object::Node(node) => cluster.nodes.get(&node.name).is_some(),
            Object::Pod(pod) => cluster.pods.get(&pod.name).is_some(),
            _ => true,
        }
    }
}

/// Fate of an order: as it should be, unless something is in the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// Carried out, and its outcome is heard.
    #[default]
    Done,
    /// Carried out, and the answer is lost.
    AnswerLost,
    /// Lost on its way.
    Lost,
    /// Given up for lost, and carried out so much later.
    Late(Span),
}

/// The objects that a new process begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstList {
    /// As they are.
    Present,
    /// As they were at an instant; the rest comes as events after so much time. Needs a history ([`Run::keep_history`]).
    Stale(Timestamp, Span),
}

impl<P: Planner> Run<P> {
    /// All that the processes hold, written down: what grows without end shows in its length.
    pub fn written_engine(&self) -> String {
        let engines = self.processes.values().map(|process| &process.engine);
        format!("{:?}", engines.collect::<Vec<_>>())
    }

    /// From now on the watch is remembered, so that a process can begin with an older list.
    pub fn keep_history(&mut self) {
        self.history = Some(History::since(self.world.api.list()));
    }

    /// The order that is carried out next, if that is the very next thing to happen.
    pub fn next_order(&self) -> Option<&Order> {
        match self.world.queue.first()? {
            Event::Execute(_, order) => Some(order),
            _ => None,
        }
    }

    /// Fate of the next order that is carried out.
    pub fn fate_of_next(&mut self, fate: Fate) {
        self.fate = fate;
    }

    /// The engine crashes: orders under way are lost, and another starts from the objects as they are.
    pub fn crash(&mut self) {
        self.stop();
        self.world.forget_orders();
        self.start(FirstList::Present);
    }

    /// All processes end. What they have sent stays under way.
    pub fn stop(&mut self) {
        for (_, process) in std::mem::take(&mut self.processes) {
            self.world.meter.disrupted(process.engine.disruptions());
            if let Some(wake) = process.wake {
                self.world.queue.cancel(wake);
            }
        }
    }

    /// The next order is lost with its sender.
    pub fn drop_next_order(&mut self) {
        if self.next_order().is_some() {
            self.world.queue.pop();
        }
    }

    /// Another process starts, from a list of the objects.
    pub fn start(&mut self, list: FirstList) {
        let now = self.world.now;
        let id = self.started;
        self.started += 1;
        let engine = new_engine(&self.recording, self.world.behaviour.seed);
        self.show_watched();
        let mut process = Process::new(engine);
        let stale = match (list, &self.history) {
            (FirstList::Stale(at, behind), Some(history)) => Some((history.at(at), behind)),
            _ => None,
        };
        let listed = match stale {
            Some(((listed, since), behind)) => {
                process.behind = Some(since);
                self.world.queue.push(now + behind, Event::CatchUp(id));
                listed
            }
            None => self.world.api.list(),
        };
        self.processes.insert(id, process);
        self.feed(id, Input::Catalogues(self.world.cloud.listed()), now);
        self.feed(id, self.world.told_classes(), now);
        if matches!(list, FirstList::Stale(..)) {
            self.feed(id, stale_view(), now);
        }
        for (object, version) in listed {
            self.feed(id, Input::Applied(object, version), now);
        }
        self.feed(id, Input::Synced, now);
        self.settle();
    }

    /// The watches of all processes are cut for some time, which each knows of; then it lists anew, and of what changed meanwhile
    /// sees the end alone.
    pub fn cut_watches(&mut self, time: Span) {
        let now = self.world.now;
        let ids: Vec<ProcessId> = self.processes.keys().copied().collect();
        for (id, process) in &mut self.processes {
            process.behind.get_or_insert_default();
            self.world.queue.push(now + time, Event::Relist(*id));
        }
        for id in ids {
            self.feed(id, stale_view(), now);
        }
    }

    /// The process that has the next order to carry out is paused before it, and all that reaches it waits; the order, and
    /// what it has under way already, which is carried out.
    pub fn pause_before_next(&mut self) -> Option<Paused> {
        self.next_order()?;
        let Some((_, Event::Execute(id, order))) = self.world.queue.pop() else {
            return None;
        };
        let process = self.processes.get_mut(&id)?;
        process.paused = Some(Vec::new());
        process.behind.get_or_insert_default();
        if let Some(wake) = process.wake.take() {
            self.world.queue.cancel(wake);
        }
        Some(Paused { id, order })
    }

    /// A process that was paused goes on where it stood: it sends what it was about to, hears what waited for it, and its
    /// watch catches up after some time.
    pub fn wake(&mut self, paused: Paused, behind: Span) {
        let Paused { id, order } = paused;
        let now = self.world.now;
        self.world.queue.push(now, Event::Execute(id, order));
        self.world.queue.push(now + behind, Event::CatchUp(id));
        let Some(process) = self.processes.get_mut(&id) else {
            return;
        };
        let waiting = process.paused.take().unwrap_or_default();
        for input in std::iter::once(stale_view()).chain(waiting) {
            self.feed(id, input, now);
        }
        self.settle();
    }

    /// The oldest process ends, as one does that finds its lease taken.
    pub fn stop_oldest(&mut self) {
        let Some((_, process)) = self.processes.pop_first() else {
            return;
        };
        self.world.meter.disrupted(process.engine.disruptions());
        if let Some(wake) = process.wake {
            self.world.queue.cancel(wake);
        }
    }

    /// A process has what its watch held back: all of it, or of each object the last.
    pub(crate) fn catch_up(&mut self, id: ProcessId, whole: bool) {
        let now = self.world.now;
        let Some(process) = self.processes.get_mut(&id) else {
            return;
        };
        let Some(mut events) = process.behind.take() else {
            return;
        };
        if !whole {
            let process = &*process;
            events = coalesced(events, |object| process.knows(object));
        }
        for watched in events {
            self.feed(id, input_of(watched), now);
        }
        self.feed(id, Input::Fresh, now);
    }
}

/// A process that stands still before an order.
#[derive(Clone, Debug)]
pub struct Paused {
    id: ProcessId,
    order: Box<Order>,
}

impl Paused {
    /// The order that it stands before.
    pub fn order(&self) -> &Order {
        &self.order
    }
}
