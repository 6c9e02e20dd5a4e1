//! Patience with an API server that is busy, for commands that people wait for: it is told that a request is tried again, and after a
//! while the server's own words are the answer.
//!
//! The client's own way is 15 attempts over minutes, in silence. The controller has neither: its engine tries again by itself.

use std::time::Duration;

use kube::Error;
use tokio::time::{Instant, sleep};

/// How long a server may go on being busy, from its first such answer after one that was none.
const TIMEOUT: Duration = Duration::from_secs(30);
/// First and longest pause before a request is tried again, where the server names none.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// Too many requests, unavailable, and a gateway's timeout.
const BUSY: [u16; 3] = [429, 503, 504];

/// Patience of one command with one server.
pub struct Patience<Tell> {
    tell: Tell,
    /// When the server was found busy first, and how often since.
    busy: Option<(Instant, u32)>,
}

impl<Tell: FnMut(&str)> Patience<Tell> {
    /// Patience that hands what it has to say to `tell`.
    pub fn new(tell: Tell) -> Self {
        Self { tell, busy: None }
    }

    /// The answer to a request, tried again while the server is busy and patience lasts; then its words.
    pub async fn ask<T>(
        &mut self,
        mut request: impl AsyncFnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            let error = match request().await {
                Ok(answer) => {
                    self.busy = None;
                    return Ok(answer);
                }
                Err(error) => error,
            };
            let Some(pause) = self.pause(&error) else {
                return Err(error);
            };
            sleep(pause).await;
        }
    }

    /// The pause before the next attempt; `None` where there is none.
    fn pause(&mut self, error: &Error) -> Option<Duration> {
        let Error::Api(status) = error else {
            return None;
        };
        if !BUSY.contains(&status.code) {
            return None;
        }
        let is_first = self.busy.is_none();
        let (since, attempts) = self.busy.get_or_insert((Instant::now(), 0));
        let (first, longest) = PAUSES;
        let own = longest.min(first * (1 << (*attempts).min(8)));
        *attempts += 1;
        let details = status.details.as_ref();
        let asked = details.map_or(0, |details| details.retry_after_seconds);
        let pause = own.max(Duration::from_secs(asked.into()));
        let left = TIMEOUT.saturating_sub(since.elapsed());
        let busy = format!(
            "the API server is busy ({}: {})",
            status.code, status.message
        );
        if pause > left {
            let why = if asked > 0 && own <= left {
                format!("it asks to come back in {asked} s")
            } else {
                format!("it has been for {} s", since.elapsed().as_secs())
            };
            (self.tell)(&format!("{busy}; given up, since {why}"));
            return None;
        }
        if is_first {
            let most = TIMEOUT.as_secs();
            (self.tell)(&format!("{busy}; tried again for at most {most} s"));
        }
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use serde_json::json;

    use super::*;

    fn busy(code: u16, retry_after: u32) -> Error {
        let status = json!({
            "status": "Failure", "message": "etcdserver: overloaded", "code": code,
            "details": {"retryAfterSeconds": retry_after},
        });
        let status: Status = serde_json::from_value(status).expect("a status");
        Error::Api(status.boxed())
    }

    /// Requests that a command made of a server, what it was told, whether it got an answer, and how many seconds that took.
    async fn asked(answers: impl Fn(u32) -> Result<(), Error>) -> (u32, Vec<String>, bool, u64) {
        let begun = Instant::now();
        let (mut requests, mut told) = (0, Vec::new());
        let mut patience = Patience::new(|words: &str| told.push(words.to_owned()));
        let answer = patience.ask(async || {
            requests += 1;
            answers(requests)
        });
        let is_answered = answer.await.is_ok();
        (requests, told, is_answered, begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_busy_for_a_while_is_asked_again_and_that_is_told_once() {
        let (requests, told, is_answered, _) = asked(|request| match request {
            1..4 => Err(busy(503, 0)),
            _ => Ok(()),
        })
        .await;
        assert_eq!((requests, is_answered), (4, true));
        let words =
            "the API server is busy (503: etcdserver: overloaded); tried again for at most 30 s";
        assert_eq!(told, [words]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_stays_busy_is_given_up_within_half_a_minute_with_its_words() {
        for code in BUSY {
            let (requests, told, is_answered, seconds) = asked(|_| Err(busy(code, 0))).await;
            assert!(!is_answered && requests > 5, "{requests}");
            assert!((20..=30).contains(&seconds), "{seconds}");
            let last = told.last().expect("told");
            assert!(
                last.contains("etcdserver: overloaded") && last.contains("given up"),
                "{last}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_names_a_time_is_asked_then_or_given_up_at_once() {
        let (requests, _, _, seconds) = asked(|request| match request {
            1 => Err(busy(429, 7)),
            _ => Ok(()),
        })
        .await;
        assert_eq!((requests, seconds), (2, 7));
        let (requests, told, _, seconds) = asked(|_| Err(busy(429, 3600))).await;
        assert_eq!((requests, seconds), (1, 0));
        let end = "given up, since it asks to come back in 3600 s";
        assert!(told[0].ends_with(end), "{told:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn other_failures_are_answers() {
        let (requests, told, is_answered, _) = asked(|_| Err(busy(403, 0))).await;
        assert_eq!((requests, told.len(), is_answered), (1, 0, false));
    }
}
