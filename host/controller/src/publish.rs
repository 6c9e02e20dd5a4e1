//! Events on their way to the API server: few at a time, so that no flood of them crowds out what keeps a cluster running.
//!
//! What cannot be sent soon is dropped and counted: an event says what is true elsewhere, too, on objects, in logs or in figures.

use std::time::Instant;

use kube::Client;
use plimsoll_kube::event::{Notice, Publisher};
use tokio::task::JoinSet;

use crate::telemetry::Telemetry;

/// Events under way at the same time.
const UNDER_WAY: usize = 256;
/// Events a second, and at once after a pause, as client-go's.
const PACE: (f64, f64) = (10.0, 100.0);

/// Publishes events.
pub(crate) struct Publishing {
    publisher: Publisher,
    under_way: JoinSet<()>,
    allowance: Allowance,
    telemetry: Telemetry,
}

/// Events that may be sent now.
#[derive(Debug)]
struct Allowance {
    left: f64,
    at: Instant,
}

impl Allowance {
    fn full(now: Instant) -> Self {
        Self {
            left: PACE.1,
            at: now,
        }
    }

    /// Takes one, if there is any.
    fn take(&mut self, now: Instant) -> bool {
        let earned = now.duration_since(self.at).as_secs_f64() * PACE.0;
        self.left = (self.left + earned).min(PACE.1);
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
        Self {
            publisher: Publisher::new(client),
            under_way: JoinSet::new(),
            allowance: Allowance::full(Instant::now()),
            telemetry,
        }
    }

    /// Sends an event, unless too many are sent already.
    pub(crate) fn publish(&mut self, notice: Notice) {
        while self.under_way.try_join_next().is_some() {}
        let has_room = self.under_way.len() < UNDER_WAY;
        if !has_room || !self.allowance.take(Instant::now()) {
            count(&self.telemetry, "dropped");
            return;
        }
        let (publisher, telemetry) = (self.publisher.clone(), self.telemetry.clone());
        self.under_way.spawn(async move {
            match publisher.publish(&notice).await {
                Ok(()) => count(&telemetry, "published"),
                Err(error) => {
                    count(&telemetry, "failed");
                    tracing::warn!(%error, reason = notice.reason, "event not published");
                }
            }
        });
    }
}

fn count(telemetry: &Telemetry, outcome: &str) {
    telemetry.count("plimsoll_events_published_total", &[("outcome", outcome)]);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_flood_of_events_is_cut_and_the_next_second_has_some_again() {
        let now = Instant::now();
        let mut allowance = Allowance::full(now);
        let mut sent =
            |count: usize, at: Instant| (0..count).filter(|_| allowance.take(at)).count();
        assert_eq!(sent(1000, now), 100);
        assert_eq!(sent(1000, now + Duration::from_secs(1)), 10);
        assert_eq!(sent(1000, now + Duration::from_hours(1)), 100);
    }
}
