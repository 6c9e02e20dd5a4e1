//! Orders under way: each a task, those about one object one after another, those to the API server and to the cloud in lanes of their own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::action::{ObjectKey, Order, Outcome, Request};
use plimsoll_kube::apply::{Preconditions, Writer};
use tokio::task::{Id, JoinSet};
use tokio::time::timeout;

use crate::clock::Clock;
use crate::lane::{Lane, Urgency};
use crate::provider::Provider;
use crate::telemetry::word;

/// Requests at the same time, to the API server and to the cloud.
const AT_ONCE: (usize, usize) = (64, 32);
/// After this long without an answer nobody knows how an order ended.
const PATIENCE: Duration = Duration::from_secs(30);

/// Carries orders out.
pub(crate) struct Orders {
    executor: Arc<Executor>,
    running: JoinSet<Outcome>,
    known: BTreeMap<Id, Arc<Order>>,
    /// Objects with an order under way, and the orders that wait for its end.
    waiting: BTreeMap<ObjectKey, VecDeque<Arc<Order>>>,
    writes: Lane<Arc<Order>>,
    calls: Lane<Arc<Order>>,
}

struct Executor {
    writer: Writer,
    provider: Arc<dyn Provider>,
    clock: Clock,
}

impl Orders {
    pub(crate) fn new(writer: Writer, provider: Arc<dyn Provider>, clock: Clock) -> Self {
        Self {
            executor: Arc::new(Executor {
                writer,
                provider,
                clock,
            }),
            running: JoinSet::new(),
            known: BTreeMap::new(),
            waiting: BTreeMap::new(),
            writes: Lane::new(AT_ONCE.0),
            calls: Lane::new(AT_ONCE.1),
        }
    }

    /// Takes an order. It begins as soon as its lane has room, unless another about the same object is under way.
    pub(crate) fn give(&mut self, order: Box<Order>) {
        let order: Arc<Order> = Arc::from(order);
        if let Some(queue) = self.waiting.get_mut(&order.object) {
            queue.push_back(order);
        } else {
            self.waiting.insert(order.object.clone(), VecDeque::new());
            self.admit(order);
        }
    }

    /// The next order that has ended; `None` when none is under way. Nothing is lost if the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<(Arc<Order>, Outcome)> {
        let (id, outcome) = match self.running.join_next_with_id().await? {
            Ok((id, outcome)) => (id, outcome),
            Err(error) => (error.id(), Outcome::Unknown),
        };
        let ended = self.known.remove(&id)?;
        self.lane(&ended).end();
        let waiting = self.waiting.get_mut(&ended.object);
        if let Some(order) = waiting.and_then(VecDeque::pop_front) {
            self.admit(order);
        } else {
            self.waiting.remove(&ended.object);
            self.begin();
        }
        Some((ended, outcome))
    }

    fn lane(&mut self, order: &Order) -> &mut Lane<Arc<Order>> {
        match order.request {
            Request::Write(_) => &mut self.writes,
            Request::Cloud(_) => &mut self.calls,
        }
    }

    fn admit(&mut self, order: Arc<Order>) {
        let urgency = Urgency::of(order.purpose);
        self.lane(&order).push(order, urgency);
        self.begin();
    }

    /// Begins what the lanes have room for.
    fn begin(&mut self) {
        while let Some(order) = self.writes.next().or_else(|| self.calls.next()) {
            let task = carry_out(Arc::clone(&self.executor), Arc::clone(&order));
            let handle = self.running.spawn(task);
            self.known.insert(handle.id(), order);
        }
    }
}

async fn carry_out(executor: Arc<Executor>, order: Arc<Order>) -> Outcome {
    let work = async {
        match &order.request {
            Request::Write(write) => {
                let now = executor.clock.now();
                let only = Preconditions::of(&order);
                executor.writer.write(write, only, now).await
            }
            Request::Cloud(call) => executor.provider.call(call).await,
        }
    };
    let outcome = timeout(PATIENCE, work).await.unwrap_or(Outcome::Unknown);
    tracing::debug!(
        object = ?order.object, purpose = ?order.purpose, attempt = order.attempt,
        outcome = words(&outcome), "order ended"
    );
    outcome
}

fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused(reason) => format!("refused: {reason:?}"),
        other => word(other).to_owned(),
    }
}
