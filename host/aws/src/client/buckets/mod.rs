//! The buckets of an account: a call of EC2 waits here for its turn, instead of being throttled there.
//!
//! EC2 throttles each account in each region by a bucket of tokens for each operation, and operations that begin or end instances by a second
//! one for the instances of a call (<https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html>, where the numbers below are from).
//! Reads therefore cost no token of `TerminateInstances` or `CreateFleet`; but an end follows a read of its instance, and a launch a look at
//! its template, and before the buckets of those the more urgent goes first.
//!
//! Fleets are in no table of instances. Where EC2 cannot give one all that it asked for, it says so in its answer, which counts as throttling.
//! Others call with the tokens of the same account, and limits are raised and lowered: where EC2 throttles all the same, ours slows down by
//! halves, as that page and the SDK's adaptive mode advise, and comes back with each answer.

mod bucket;
mod line;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;
use tokio::time::timeout;

use bucket::{Bucket, Rate};
use line::{Line, Place, Turn};

pub(crate) use line::Urgency;

/// The second bucket of `TerminateInstances`: a token for each instance.
pub(super) const ENDED: &str = "instances of ec2:TerminateInstances";

/// The bucket of an account with default limits, by the name of an action or [`ENDED`].
fn published(name: &str) -> Rate {
    let rate = |per_second: u32, burst: u32| Rate { per_second, burst };
    match name {
        "ec2:TerminateInstances" => rate(5, 100),
        ENDED => rate(20, 1_000),
        "ec2:RunInstances" => rate(2, 5),
        "ec2:CreateTags" => rate(10, 100),
        // Asked with a filter or by pages; without either some are answered half as often.
        name if name.starts_with("ec2:Describe") => rate(20, 100),
        _ => rate(5, 50),
    }
}

/// Ours holds less by what comes back in half a second: a call may be under way so much shorter than those before it.
fn rate(name: &str) -> Rate {
    let Rate { per_second, burst } = published(name);
    Rate {
        per_second,
        burst: burst - per_second.div_ceil(2),
    }
}

/// A line, and those in it who sleep until they are told that they are the first.
#[derive(Debug)]
struct Queue {
    line: Line,
    asleep: BTreeMap<Place, Arc<Notify>>,
}

/// Lines before all buckets.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    queues: Mutex<BTreeMap<&'static str, Queue>>,
}

impl Buckets {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, name: &'static str, act: impl FnOnce(&mut Queue, Instant) -> T) -> T {
        let mut queues = self.lock();
        let now = Instant::now();
        let queue = queues.entry(name).or_insert_with(|| Queue {
            line: Line::new(Bucket::full(rate(name), now)),
            asleep: BTreeMap::new(),
        });
        act(queue, now)
    }

    /// Waits for tokens of a bucket, and takes them. Nothing is taken if the wait is given up.
    pub(super) async fn turn(&self, name: &'static str, urgency: Urgency, tokens: u32) {
        let waiting = Waiting::join(self, name, urgency, tokens);
        loop {
            match self.with(name, |queue, now| queue.line.ask(waiting.place, now)) {
                Turn::Now => return,
                // Past the time or told of a change, it is asked again.
                Turn::In(wait) => drop(timeout(wait, waiting.first.notified()).await),
                Turn::Behind => waiting.first.notified().await,
            }
        }
    }

    /// Whole tokens of a bucket that are there now.
    pub(super) fn left(&self, name: &'static str) -> usize {
        let left = self.with(name, |queue, now| queue.line.bucket.whole(now));
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// EC2 has throttled a call that was sent then.
    pub(super) fn throttled(&self, name: &'static str, sent: Instant) {
        self.with(name, |queue, now| queue.line.bucket.throttled(sent, now));
        tracing::debug!(bucket = name, "EC2 throttles");
    }

    /// EC2 has answered a call.
    pub(super) fn answered(&self, name: &'static str) {
        self.with(name, |queue, now| queue.line.bucket.answered(now));
    }
}

/// Somebody in a line, until dropped.
struct Waiting<'b> {
    buckets: &'b Buckets,
    name: &'static str,
    place: Place,
    /// Told once it is the first.
    first: Arc<Notify>,
}

impl<'b> Waiting<'b> {
    fn join(buckets: &'b Buckets, name: &'static str, urgency: Urgency, tokens: u32) -> Self {
        let first = Arc::new(Notify::new());
        let place = buckets.with(name, |queue, _| {
            let place = queue.line.join(urgency, tokens);
            queue.asleep.insert(place, Arc::clone(&first));
            place
        });
        Self {
            buckets,
            name,
            place,
            first,
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.buckets.with(self.name, |queue, _| {
            queue.line.leave(self.place);
            queue.asleep.remove(&self.place);
            let next = queue.line.first();
            if let Some(first) = next.and_then(|place| queue.asleep.get(&place)) {
                first.notify_one();
            }
        });
    }
}

#[cfg(test)]
mod tests;
