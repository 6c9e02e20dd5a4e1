//! Orders under way: each a task, those about one object one after another, those to the API server and to the cloud in lanes of their own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_kube::apply::{Preconditions, Writer};
use plimsoll_model::action::{ObjectKey, Order, Outcome, Request};
use tokio::task::{Id, JoinSet};
use tokio::time::timeout;

use crate::clock::Clock;
use crate::lane::{Lane, Urgency};
use crate::metrics::reconciles::Controller;
use crate::provider::Provider;
use crate::telemetry::word;

/// Requests at the same time, to the API server and to the cloud.
const AT_ONCE: (usize, usize) = (64, 32);
/// After this long without an answer the outcome of an order is unknown.
const PATIENCE: Duration = Duration::from_secs(30);

/// Carries orders out.
pub(crate) struct Orders {
    executor: Arc<Executor>,
    running: JoinSet<(Outcome, Duration)>,
    known: BTreeMap<Id, Arc<Order>>,
    /// Objects with an order under way, and the orders that wait for its end.
    waiting: BTreeMap<ObjectKey, VecDeque<Arc<Order>>>,
    writes: Lane<Arc<Order>>,
    calls: Lane<Arc<Order>>,
}

/// An order that has ended.
#[derive(Debug)]
pub(crate) struct EndedOrder {
    pub(crate) order: Arc<Order>,
    pub(crate) outcome: Outcome,
    /// How long it was under way, its wait for its turn apart.
    pub(crate) took: Duration,
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
    pub(crate) async fn next(&mut self) -> Option<EndedOrder> {
        let (id, (outcome, took)) = match self.running.join_next_with_id().await? {
            Ok(ended) => ended,
            Err(error) => (error.id(), (Outcome::Unknown, Duration::ZERO)),
        };
        let ended = self.known.remove(&id)?;
        self.lane(&ended).end(Urgency::of(ended.purpose));
        let waiting = self.waiting.get_mut(&ended.object);
        if let Some(order) = waiting.and_then(VecDeque::pop_front) {
            self.admit(order);
        } else {
            self.waiting.remove(&ended.object);
            self.begin();
        }
        Some(EndedOrder {
            order: ended,
            outcome,
            took,
        })
    }

    /// Orders that wait for their turn, by Karpenter's controller that would give them.
    pub(crate) fn waiting(&self) -> Vec<(&'static str, usize)> {
        let mut waiting: BTreeMap<&'static str, usize> = BTreeMap::new();
        let behind = self.waiting.values().flatten();
        let lanes = self.writes.waiting().chain(self.calls.waiting());
        for order in behind.chain(lanes) {
            let name = Controller::of_order(order).name();
            *waiting.entry(name).or_default() += 1;
        }
        // Those of whom nothing waits are told, too.
        for name in Controller::of_orders().map(Controller::name) {
            waiting.entry(name).or_default();
        }
        waiting.into_iter().collect()
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
            let order = latest(&mut self.waiting, order);
            let task = carry_out(Arc::clone(&self.executor), Arc::clone(&order));
            let handle = self.running.spawn(task);
            self.known.insert(handle.id(), order);
        }
    }
}

/// Of an order and those that wait for its end, the last that is about the same; the ones before it are dropped. An order that is given
/// again replaces the one before, which waited for its turn for too long.
fn latest(
    waiting: &mut BTreeMap<ObjectKey, VecDeque<Arc<Order>>>,
    order: Arc<Order>,
) -> Arc<Order> {
    let Some(queue) = waiting.get_mut(&order.object) else {
        return order;
    };
    let is_same = |other: &Order| other.purpose == order.purpose && other.uid == order.uid;
    let last = queue.iter().rfind(|other| is_same(other)).cloned();
    queue.retain(|other| !is_same(other));
    last.unwrap_or(order)
}

async fn carry_out(executor: Arc<Executor>, order: Arc<Order>) -> (Outcome, Duration) {
    let begun = Instant::now();
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
    (outcome, begun.elapsed())
}

fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused(reason) => format!("refused: {reason:?}"),
        other => word(other).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_base::ids::ClaimName;
    use plimsoll_model::action::{ActionId, Purpose, Write};

    use super::*;

    #[test]
    fn of_what_was_given_again_meanwhile_the_last_is_carried_out() {
        let claim = ClaimName::from("a");
        let object = ObjectKey::Claim(claim.clone());
        let order = |purpose, attempt| {
            Arc::new(Order {
                id: ActionId::of(&object, None, purpose, attempt),
                object: object.clone(),
                uid: None,
                purpose,
                attempt,
                version: None,
                request: Request::Write(Write::ReadClaim(claim.clone())),
            })
        };
        let given = |attempts: &[(Purpose, u32)]| {
            let orders = attempts
                .iter()
                .map(|(purpose, attempt)| order(*purpose, *attempt));
            BTreeMap::from([(object.clone(), orders.collect())])
        };
        let (tag, mark) = (Purpose::MarkTagged, Purpose::MarkRegistered);

        let mut waiting = given(&[(tag, 1), (mark, 0), (tag, 2)]);
        assert_eq!(latest(&mut waiting, order(tag, 0)).attempt, 2);
        let left: Vec<Purpose> = waiting[&object].iter().map(|order| order.purpose).collect();
        assert_eq!(left, [mark]);
        assert_eq!(latest(&mut waiting, order(tag, 3)).attempt, 3);
        assert_eq!(latest(&mut BTreeMap::new(), order(tag, 4)).attempt, 4);
    }
}
