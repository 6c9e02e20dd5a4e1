//! The interruption queue, as classes tell of it: one that cannot be read is told on every class, since its instances are taken back unheard.
//!
//! Launches do not wait for it: `Ready` does not depend on this condition.

use super::conditions::Finding;
use crate::client::CallError;
use crate::error::ErrorClass;

/// The queue, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum QueueStanding {
    /// Nothing was heard of it yet.
    #[default]
    Unasked,
    /// None is named.
    Unnamed,
    /// Its messages are read.
    Heard,
    /// It cannot be read until a person changes something.
    Unusable {
        /// In Pascal case, as the condition names it.
        reason: &'static str,
        /// A sentence, with the way out.
        message: String,
        /// The action that failed.
        action: &'static str,
    },
    /// It did not answer this time, in words.
    Unanswered(String),
}

impl QueueStanding {
    /// The queue of a name after an error of a call to it.
    pub fn after(name: &str, region: &str, error: &CallError) -> Self {
        // Without the message where the code says all: a denial is worded differently each time.
        let (action, code) = (error.action, error.code.as_str());
        let unusable = |reason, words: String| Self::Unusable {
            reason,
            message: format!("INTERRUPTION_QUEUE is \"{name}\": {action}: {words}"),
            action,
        };
        if let Some(way_out) = error.way_out() {
            return Self::Unanswered(format!("{action}: {way_out}"));
        }
        match error.class() {
            ErrorClass::NotFound => unusable(
                "QueueNotFound",
                format!("{code}; expected the name of a queue of this account in {region}"),
            ),
            ErrorClass::Denied => unusable(
                "QueueDenied",
                format!(
                    "{code}; expected the controller's role to be allowed it, as charts/aws/policy.json says"
                ),
            ),
            ErrorClass::Throttled | ErrorClass::ServerFault => {
                Self::Unanswered(format!("{action}: {code}"))
            }
            _ if code.is_empty() => Self::Unanswered(format!("{action}: no answer")),
            _ => unusable(
                "QueueUnusable",
                format!(
                    "{code}: {}; expected the name of a queue of this account in {region}",
                    error.message
                ),
            ),
        }
    }

    /// `true` if its messages are read and may not be deleted.
    pub fn is_of_deletion(&self) -> bool {
        matches!(self, Self::Unusable { action, .. } if *action == "sqs:DeleteMessage")
    }

    pub(super) fn finding(&self) -> Finding {
        match self {
            Self::Unasked => Finding::Unchanged(String::new()),
            Self::Unnamed => Finding::Fails(
                "NoQueue",
                "no interruption queue: spot instances that are taken back are heard of when they are gone; expected the name of one as INTERRUPTION_QUEUE".to_owned(),
            ),
            Self::Heard => Finding::Holds,
            Self::Unusable {
                reason, message, ..
            } => Finding::Fails(reason, message.clone()),
            Self::Unanswered(words) => Finding::Unchanged(words.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: &str, status: Option<u16>) -> CallError {
        CallError {
            action: "sqs:GetQueueUrl",
            code: code.to_owned(),
            message: "words".to_owned(),
            status,
        }
    }

    #[test]
    fn a_queue_that_cannot_be_read_is_told_with_the_way_out() {
        for (code, reason, words) in [
            (
                "QueueDoesNotExist",
                "QueueNotFound",
                "INTERRUPTION_QUEUE is \"demo\": sqs:GetQueueUrl: QueueDoesNotExist; expected the name of a queue of this account in us-east-1",
            ),
            (
                "AccessDenied",
                "QueueDenied",
                "INTERRUPTION_QUEUE is \"demo\": sqs:GetQueueUrl: AccessDenied; expected the controller's role to be allowed it, as charts/aws/policy.json says",
            ),
            (
                "InvalidAddress",
                "QueueUnusable",
                "INTERRUPTION_QUEUE is \"demo\": sqs:GetQueueUrl: InvalidAddress: words; expected the name of a queue of this account in us-east-1",
            ),
        ] {
            let standing = QueueStanding::after("demo", "us-east-1", &error(code, Some(400)));
            let expected = Finding::Fails(reason, words.to_owned());
            assert_eq!(standing.finding(), expected, "{code}");
        }
    }

    #[test]
    fn no_queue_is_told_as_well_as_one_that_is_read() {
        let Finding::Fails(reason, words) = QueueStanding::Unnamed.finding() else {
            unreachable!("a fault")
        };
        assert_eq!(reason, "NoQueue");
        assert!(
            words.ends_with("expected the name of one as INTERRUPTION_QUEUE"),
            "{words}"
        );
        assert_eq!(QueueStanding::Heard.finding(), Finding::Holds);
        assert_eq!(
            QueueStanding::Unasked.finding(),
            Finding::Unchanged(String::new())
        );
    }

    #[test]
    fn a_queue_that_does_not_answer_stays_what_it_was() {
        for (code, status, words) in [
            (
                "ThrottlingException",
                Some(400),
                "sqs:GetQueueUrl: ThrottlingException",
            ),
            (
                "InternalFailure",
                Some(500),
                "sqs:GetQueueUrl: InternalFailure",
            ),
            ("", None, "sqs:GetQueueUrl: no answer"),
        ] {
            let standing = QueueStanding::after("demo", "us-east-1", &error(code, status));
            let expected = Finding::Unchanged(words.to_owned());
            assert_eq!(standing.finding(), expected, "{code}");
        }
        let clock = error("RequestExpired", Some(400));
        let QueueStanding::Unanswered(words) = QueueStanding::after("demo", "us-east-1", &clock)
        else {
            unreachable!("an answer that says nothing of the queue")
        };
        assert!(words.contains("set the clock"), "{words}");
    }
}
