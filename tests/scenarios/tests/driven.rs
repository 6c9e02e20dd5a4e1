//! An engine that a test hands inputs, on a clock of the test's own.

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::{Engine, Input};
use plimsoll_model::Version;
use plimsoll_model::action::{Action, ConsiderRequest, Event, Order, Purpose, SolveRequest};
use plimsoll_oracles::fixture::ClusterFixture;

/// An engine, its time, and the actions that were not looked at yet.
pub(crate) struct Driven {
    pub(crate) engine: Engine,
    pub(crate) now: Timestamp,
    pub(crate) actions: Vec<Action>,
}

impl Driven {
    pub(crate) fn start(fixture: ClusterFixture, now: Timestamp) -> Self {
        let (objects, catalogues, settings) = fixture.parts();
        let mut driven = Self {
            engine: Engine::new(settings.into(), catalogues.into(), 1),
            now,
            actions: Vec::new(),
        };
        for object in objects.iter() {
            driven.hand_in(Input::Applied(object, Version(1)));
        }
        driven.hand_in(Input::Synced);
        driven
    }

    pub(crate) fn hand_in(&mut self, input: Input) {
        let actions = self.engine.handle(input, self.now);
        self.actions.extend(actions);
    }

    /// The next action of a kind, and its instant; `None` where none comes within the time.
    pub(crate) fn next<T>(
        &mut self,
        within: Span,
        wanted: impl Fn(Action) -> Option<T>,
    ) -> Option<T> {
        let end = self.now + within;
        loop {
            let actions = std::mem::take(&mut self.actions);
            if let Some(found) = actions.into_iter().find_map(&wanted) {
                return Some(found);
            }
            let wake = self.engine.next_wake()?;
            if wake > end {
                return None;
            }
            self.now = wake.max(self.now + Span::from_millis(1));
            self.hand_in(Input::Tick);
        }
    }

    /// Reports since the last look, of one reason.
    pub(crate) fn reports(&mut self, reason: &str) -> Vec<Event> {
        let actions = std::mem::take(&mut self.actions).into_iter();
        let reports = actions.filter_map(|action| match action {
            Action::Report(event) if event.reason.as_str() == reason => Some(event),
            _ => None,
        });
        reports.collect()
    }

    /// Plans for the next question and hands the plan in.
    pub(crate) fn plan(&mut self) {
        let request = self.next(Span::from_secs(60), solve).expect("a question");
        self.plan_of(&request);
    }

    /// Plans for a question and hands the plan in.
    pub(crate) fn plan_of(&mut self, request: &SolveRequest) {
        let plan = plimsoll_schedule::plan(&request.snapshot);
        self.hand_in(Input::Solved(request.id, Box::new(plan)));
    }
}

/// The question of an action, if it is one about waiting pods.
pub(crate) fn solve(action: Action) -> Option<SolveRequest> {
    match action {
        Action::Solve(request) => Some(request),
        _ => None,
    }
}

/// The question of an action, if it is one about disruption.
pub(crate) fn consider(action: Action) -> Option<Box<ConsiderRequest>> {
    match action {
        Action::Consider(request) => Some(request),
        _ => None,
    }
}

/// The order of an action, if it has this purpose.
pub(crate) fn ordered(action: Action, purpose: Purpose) -> Option<Box<Order>> {
    match action {
        Action::Do(order) if order.purpose == purpose => Some(order),
        _ => None,
    }
}
