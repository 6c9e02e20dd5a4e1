//! Requests that failed at the API server, sorted by what is to be done next.
//!
//! A conflict leads to a new decision; a throttled request waits; one that a budget blocks or the server rejects is reported; one that the
//! server may have carried out is read back.

use plimsoll_base::time::Span;
use plimsoll_model::action::{Outcome, Reason};

/// Longest text of the API server's that is handed on, in characters.
const MESSAGE: usize = 300;
/// The cause by which an API server marks an eviction that a disruption budget holds up.
const DISRUPTION_BUDGET: &str = "DisruptionBudget";
/// Words of an API server that evicts no pod that several disruption budgets select; it gives them as if it had broken.
const SEVERAL_BUDGETS: &str = "more than one PodDisruptionBudget";
/// Words of an API server that evicts no pod of a budget while 2,000 evictions wait for the budget's controller; it says forbidden.
const UNCONFIRMED: &str = "too many evictions not confirmed";

/// An answer with an HTTP status of 400 or above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedRequest<'a> {
    /// The HTTP status.
    pub code: u16,
    /// The server's words.
    pub message: &'a str,
    /// Reasons of the causes that its details name.
    pub causes: Vec<&'a str>,
    /// Seconds after which to come again; zero where the server does not say.
    pub retry_after: u32,
}

impl FailedRequest<'_> {
    /// How the order ended. A server that broke may have done what was asked: that is [`Outcome::Unknown`].
    pub fn outcome(&self) -> Outcome {
        let words = || self.message.chars().take(MESSAGE).collect();
        let reason = match self.code {
            404 => Reason::NotFound,
            409 => return Outcome::Conflict,
            429 if self.causes.contains(&DISRUPTION_BUDGET) => Reason::Blocked(words()),
            429 => {
                let seconds = i64::from(self.retry_after);
                Reason::Throttled((seconds > 0).then(|| Span::from_secs(seconds)))
            }
            500 if self.message.contains(SEVERAL_BUDGETS) => Reason::Blocked(words()),
            403 if self.message.contains(UNCONFIRMED) => Reason::Blocked(words()),
            408 => return Outcome::Unknown,
            400..500 => Reason::Rejected(words()),
            _ => return Outcome::Unknown,
        };
        Outcome::Refused(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: u16) -> FailedRequest<'static> {
        FailedRequest {
            code,
            message: "x",
            ..FailedRequest::default()
        }
    }

    #[test]
    fn an_answer_sorts_a_failure_by_what_is_done_next() {
        let rejected = Outcome::Refused(Reason::Rejected("x".to_owned()));
        for code in [400, 401, 403, 413, 422] {
            assert_eq!(failed(code).outcome(), rejected, "{code}");
        }
        let refused = Outcome::Refused;
        assert_eq!(failed(404).outcome(), refused(Reason::NotFound));
        assert_eq!(failed(409).outcome(), Outcome::Conflict);
        assert_eq!(failed(429).outcome(), refused(Reason::Throttled(None)));
    }

    #[test]
    fn a_budget_that_holds_an_eviction_up_is_told_from_too_many_requests() {
        let busy = FailedRequest {
            retry_after: 7,
            ..failed(429)
        };
        let throttled = Reason::Throttled(Some(Span::from_secs(7)));
        assert_eq!(busy.outcome(), Outcome::Refused(throttled));
        let budget = FailedRequest {
            causes: vec![DISRUPTION_BUDGET],
            ..busy
        };
        let blocked = Reason::Blocked("x".to_owned());
        assert_eq!(budget.outcome(), Outcome::Refused(blocked));
    }

    #[test]
    fn a_pod_of_several_budgets_is_not_evicted_whoever_asks() {
        let words = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        let several = FailedRequest {
            message: words,
            ..failed(500)
        };
        let blocked = Reason::Blocked(words.to_owned());
        assert_eq!(several.outcome(), Outcome::Refused(blocked));
    }

    #[test]
    fn a_budget_with_too_many_unconfirmed_evictions_is_waited_for() {
        let words =
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        let full = FailedRequest {
            message: words,
            ..failed(403)
        };
        let blocked = Reason::Blocked(words.to_owned());
        assert_eq!(full.outcome(), Outcome::Refused(blocked));
    }

    #[test]
    fn a_server_that_broke_may_have_done_it() {
        for code in [408, 500, 503, 504] {
            assert_eq!(failed(code).outcome(), Outcome::Unknown, "{code}");
        }
    }

    #[test]
    fn only_the_beginning_of_long_words_is_handed_on() {
        let words = "é".repeat(400);
        let long = FailedRequest {
            message: &words,
            ..failed(400)
        };
        let rejected = Reason::Rejected("é".repeat(300));
        assert_eq!(long.outcome(), Outcome::Refused(rejected));
    }
}
