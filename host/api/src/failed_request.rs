//! The next step after a request that failed, read from the API server's answer.

use plimsoll_core::action::{Outcome, Reason};

/// Longest text of the API server's that is handed on, in characters.
const MESSAGE: usize = 300;

/// How an order ended whose request was answered with an HTTP status of 400 or above, and the server's words. A server that broke
/// may have done what was asked: that is [`Outcome::Unknown`].
pub fn failed_request(code: u16, message: &str) -> Outcome {
    let words = || message.chars().take(MESSAGE).collect();
    match code {
        404 => Outcome::Refused(Reason::NotFound),
        409 => Outcome::Conflict,
        429 => Outcome::Refused(Reason::Blocked(words())),
        400..500 => Outcome::Refused(Reason::Other(words())),
        _ => Outcome::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(code: u16) -> Outcome {
        failed_request(code, "x")
    }

    #[test]
    fn an_answer_sorts_a_failure_by_what_is_done_next() {
        assert_eq!(ends(404), Outcome::Refused(Reason::NotFound));
        assert_eq!(ends(409), Outcome::Conflict);
        assert_eq!(ends(429), Outcome::Refused(Reason::Blocked("x".to_owned())));
        assert_eq!(ends(422), Outcome::Refused(Reason::Other("x".to_owned())));
    }

    #[test]
    fn a_server_that_broke_may_have_done_it() {
        assert_eq!(ends(500), Outcome::Unknown);
        assert_eq!(ends(504), Outcome::Unknown);
    }

    #[test]
    fn only_the_beginning_of_long_words_is_handed_on() {
        let refused = failed_request(400, &"é".repeat(400));
        assert_eq!(refused, Outcome::Refused(Reason::Other("é".repeat(300))));
    }
}
