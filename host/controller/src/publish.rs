//! Events on their way to the API server: few at a time, so that no flood of them crowds out what keeps a cluster running.
//!
//! What cannot be sent soon is dropped and counted: an event says what is true elsewhere, too, on objects, in logs or in figures.
//! Warnings have an allowance of their own, and half of each queue, which no number of normal events takes from them; nominations have a small
//! allowance, as Karpenter's.

use std::time::{Duration, Instant};

use kube::Client;
use plimsoll_base::event_reason::EventReason;
use plimsoll_kube::event::{Notice, Publisher};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::telemetry::Telemetry;

/// Events that wait to be sent; more than may be sent at once.
const AHEAD: usize = 256;
/// The longest that an event waits for its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Events of a type in a second, and at once after a pause, as client-go's.
const PACE: Pace = Pace {
    a_second: 10.0,
    at_once: 100.0,
};
/// The same for nominations, as Karpenter's.
const NOMINATIONS: Pace = Pace {
    a_second: 5.0,
    at_once: 10.0,
};

/// A way to the events of a process, for those beside its loop. Clones are one.
#[derive(Clone)]
pub struct Notices {
    sender: Sender<Notice>,
    telemetry: Telemetry,
}

impl Notices {
    /// A way, and its end at the loop.
    pub fn channel(telemetry: &Telemetry) -> (Self, Receiver<Notice>) {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let telemetry = telemetry.clone();
        (Self { sender, telemetry }, receiver)
    }

    /// Hands an event to the loop, which knows its object's uid; it is dropped where too many wait.
    pub(crate) fn publish(&self, notice: Notice) {
        if !has_room(&self.sender, notice.reason) || self.sender.try_send(notice).is_err() {
            count(&self.telemetry, "dropped");
        }
    }
}

/// Publishes events, one after the other.
pub(crate) struct Publishing {
    queue: Sender<Notice>,
    _worker: JoinSet<()>,
    allowances: Allowances,
    telemetry: Telemetry,
}

#[derive(Debug)]
struct Allowances {
    warnings: Allowance,
    normal: Allowance,
    nominations: Allowance,
}

#[derive(Clone, Copy, Debug)]
struct Pace {
    a_second: f64,
    at_once: f64,
}

/// Events that may be sent now.
#[derive(Debug)]
struct Allowance {
    pace: Pace,
    left: f64,
    at: Instant,
}

impl Allowances {
    fn full(now: Instant) -> Self {
        Self {
            warnings: Allowance::full(PACE, now),
            normal: Allowance::full(PACE, now),
            nominations: Allowance::full(NOMINATIONS, now),
        }
    }

    /// Takes one for an event of this reason, if there is any.
    fn take(&mut self, reason: EventReason, now: Instant) -> bool {
        let own = match reason {
            EventReason::Nominated => &mut self.nominations,
            reason if reason.is_warning() => &mut self.warnings,
            _ => &mut self.normal,
        };
        own.take(now)
    }
}

impl Allowance {
    fn full(pace: Pace, now: Instant) -> Self {
        Self {
            pace,
            left: pace.at_once,
            at: now,
        }
    }

    /// Takes one, if there is any.
    fn take(&mut self, now: Instant) -> bool {
        let earned = now.duration_since(self.at).as_secs_f64() * self.pace.a_second;
        self.left = (self.left + earned).min(self.pace.at_once);
        self.at = now;
        let may = self.left >= 1.0;
        if may {
            self.left -= 1.0;
        }
        may
    }
}

impl Publishing {
    pub(crate) fn new(client: Client, telemetry: Telemetry) -> Self {
        let (queue, waiting) = mpsc::channel(AHEAD);
        let mut worker = JoinSet::new();
        worker.spawn(publish(Publisher::new(client), waiting, telemetry.clone()));
        Self {
            queue,
            _worker: worker,
            allowances: Allowances::full(Instant::now()),
            telemetry,
        }
    }

    /// Sends an event, unless too many are sent already.
    pub(crate) fn publish(&mut self, notice: Notice) {
        let may = has_room(&self.queue, notice.reason)
            && self.allowances.take(notice.reason, Instant::now());
        if !may || self.queue.try_send(notice).is_err() {
            count(&self.telemetry, "dropped");
        }
    }
}

/// `true` if a queue has room for an event of this reason: half of it is kept for warnings.
fn has_room(queue: &Sender<Notice>, reason: EventReason) -> bool {
    let reserved = if reason.is_warning() { 0 } else { AHEAD / 2 };
    queue.capacity() > reserved
}

async fn publish(mut publisher: Publisher, mut waiting: Receiver<Notice>, telemetry: Telemetry) {
    while let Some(notice) = waiting.recv().await {
        let reason = notice.reason;
        match timeout(PATIENCE, publisher.publish(&notice)).await {
            Ok(Ok(())) => count(&telemetry, "published"),
            Ok(Err(error)) => {
                count(&telemetry, "failed");
                tracing::warn!(%error, %reason, "event not published");
            }
            Err(_) => {
                count(&telemetry, "failed");
                tracing::warn!(%reason, "event not published: no answer in {PATIENCE:?}");
            }
        }
    }
}

fn count(telemetry: &Telemetry, outcome: &str) {
    telemetry.count("plimsoll_events_published_total", &[("outcome", outcome)]);
}

#[cfg(test)]
mod tests {
    use plimsoll_api::Kind;

    use super::*;

    fn notice(reason: EventReason) -> Notice {
        Notice::new(Kind::Node, ("", "general-1"), reason, String::new())
    }

    #[test]
    fn normal_events_leave_half_of_the_queue_to_warnings() {
        let (queue, waiting) = mpsc::channel(AHEAD);
        let mut publishing = Publishing {
            queue,
            _worker: JoinSet::new(),
            allowances: Allowances::full(Instant::now()),
            telemetry: Telemetry::default(),
        };
        for _ in 0..AHEAD / 2 {
            let sent = publishing
                .queue
                .try_send(notice(EventReason::DisruptionBlocked));
            sent.expect("room");
        }
        publishing.publish(notice(EventReason::DisruptionBlocked));
        assert_eq!(waiting.len(), AHEAD / 2);
        publishing.publish(notice(EventReason::FailedScheduling));
        assert_eq!(waiting.len(), AHEAD / 2 + 1);

        let (notices, waiting) = Notices::channel(&Telemetry::default());
        for _ in 0..AHEAD {
            notices.publish(notice(EventReason::DisruptionBlocked));
        }
        assert_eq!(waiting.len(), AHEAD / 2);
        for _ in 0..AHEAD {
            notices.publish(notice(EventReason::FailedScheduling));
        }
        assert_eq!(waiting.len(), AHEAD);
    }

    #[test]
    fn a_flood_of_events_is_cut_and_the_next_second_has_some_again() {
        let now = Instant::now();
        let mut allowance = Allowance::full(PACE, now);
        let mut sent =
            |count: usize, at: Instant| (0..count).filter(|_| allowance.take(at)).count();
        assert_eq!(sent(1000, now), 100);
        assert_eq!(sent(1000, now + Duration::from_secs(1)), 10);
        assert_eq!(sent(1000, now + Duration::from_hours(1)), 100);
    }

    #[test]
    fn a_flood_of_nominations_takes_nothing_from_warnings() {
        let now = Instant::now();
        let mut allowances = Allowances::full(now);
        let mut sent =
            |reason: EventReason| (0..1000).filter(|_| allowances.take(reason, now)).count();
        assert_eq!(sent(EventReason::Nominated), 10);
        assert_eq!(sent(EventReason::DisruptionBlocked), 100);
        assert_eq!(sent(EventReason::FailedScheduling), 100);
        assert_eq!(sent(EventReason::SpotInterrupted), 0);
    }
}
