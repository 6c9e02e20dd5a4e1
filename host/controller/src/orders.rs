//! Orders under way: each a task, those about one object one after another.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::action::{ActionId, ObjectKey, Order, Outcome, Request};
use plimsoll_kube::apply::{Preconditions, Writer};
use plimsoll_kwok::Kwok;
use tokio::sync::Semaphore;
use tokio::task::{Id, JoinSet};
use tokio::time::timeout;

use crate::clock::Clock;

/// Requests at the same time.
const AT_ONCE: usize = 64;
/// After this long without an answer nobody knows how an order ended.
const PATIENCE: Duration = Duration::from_secs(30);

/// Carries orders out.
pub(crate) struct Orders {
    executor: Arc<Executor>,
    running: JoinSet<Outcome>,
    known: BTreeMap<Id, (ObjectKey, ActionId)>,
    /// Objects with an order under way, and the orders that wait for its end.
    waiting: BTreeMap<ObjectKey, VecDeque<Box<Order>>>,
}

struct Executor {
    writer: Writer,
    provider: Kwok,
    permits: Semaphore,
}

impl Orders {
    pub(crate) fn new(writer: Writer, provider: Kwok) -> Self {
        Self {
            executor: Arc::new(Executor {
                writer,
                provider,
                permits: Semaphore::new(AT_ONCE),
            }),
            running: JoinSet::new(),
            known: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Takes an order. It begins at once unless another about the same object is under way.
    pub(crate) fn give(&mut self, order: Box<Order>) {
        if let Some(queue) = self.waiting.get_mut(&order.object) {
            queue.push_back(order);
        } else {
            self.waiting.insert(order.object.clone(), VecDeque::new());
            self.begin(order);
        }
    }

    /// The next order that has ended; `None` when none is under way. Nothing is lost if the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<(ActionId, Outcome)> {
        let (id, outcome) = match self.running.join_next_with_id().await? {
            Ok((id, outcome)) => (id, outcome),
            Err(error) => (error.id(), Outcome::Unknown),
        };
        let (object, action) = self.known.remove(&id)?;
        match self.waiting.get_mut(&object).and_then(VecDeque::pop_front) {
            Some(order) => self.begin(order),
            None => {
                self.waiting.remove(&object);
            }
        }
        Some((action, outcome))
    }

    fn begin(&mut self, order: Box<Order>) {
        let named = (order.object.clone(), order.id);
        let task = carry_out(Arc::clone(&self.executor), order);
        let handle = self.running.spawn(task);
        self.known.insert(handle.id(), named);
    }
}

async fn carry_out(executor: Arc<Executor>, order: Box<Order>) -> Outcome {
    let Ok(_permit) = executor.permits.acquire().await else {
        return Outcome::Unknown;
    };
    let work = async {
        match &order.request {
            Request::Write(write) => {
                let now = Clock::default().now();
                let only = Preconditions::of(&order);
                executor.writer.write(write, only, now).await
            }
            Request::Cloud(call) => executor.provider.call(call).await,
        }
    };
    let outcome = timeout(PATIENCE, work).await.unwrap_or(Outcome::Unknown);
    tracing::info!(
        object = ?order.object, purpose = ?order.purpose, attempt = order.attempt,
        outcome = word(&outcome), "order ended"
    );
    outcome
}

fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(_) => "done".to_owned(),
        Outcome::Refused(reason) => format!("refused: {reason:?}"),
        Outcome::Conflict => "conflict".to_owned(),
        Outcome::Unknown => "unknown".to_owned(),
    }
}
