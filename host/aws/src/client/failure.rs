//! Calls that failed.

use std::fmt;

use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};

use crate::credentials;
use crate::error::ErrorClass;

/// HTTP status of a request that took too long to come; others may send it for a call that was passed on.
const TIMED_OUT: u16 = 408;

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The action, as rights name it.
    pub action: &'static str,
    /// The error's code; empty where no answer came.
    pub code: String,
    /// Its message, or why no answer came.
    pub message: String,
    /// HTTP status of the answer; `None` where none came, or none that could be read: the call may have been carried out.
    pub status: Option<u16>,
}

impl CallError {
    /// Reads the errors of an action.
    pub(super) fn of<E>(action: &'static str) -> impl Fn(SdkError<E, HttpResponse>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        move |error| Self {
            action,
            code: error.code().unwrap_or_default().to_owned(),
            message: if let Some(message) = error.message() {
                message.to_owned()
            } else {
                let words = words(&error);
                credentials::missing(&words).map_or(words, str::to_owned)
            },
            status: status(&error),
        }
    }

    /// A call that was given up before it had an answer.
    pub(super) fn unanswered(action: &'static str) -> Self {
        Self {
            action,
            code: String::new(),
            message: "it was given up before an answer came".to_owned(),
            status: None,
        }
    }

    /// The way out where AWS does not take the call for ours: the clock, the credentials, the role; `None` for other errors.
    pub fn way_out(&self) -> Option<String> {
        credentials::way_out(&self.code, &self.message)
    }

    /// The way to deal with it.
    pub fn class(&self) -> ErrorClass {
        ErrorClass::of(&self.code, self.status)
    }

    /// `true` where AWS has answered that it did not carry out the call.
    pub fn is_refusal(&self) -> bool {
        self.status
            .is_some_and(|status| is_refusal(status, &self.code))
    }
}

/// The status of an answer to a call that failed. A call whose answer was cut, or said by its status that all went well, may have been
/// carried out.
fn status<E>(error: &SdkError<E, HttpResponse>) -> Option<u16> {
    let answer = match error {
        SdkError::ResponseError(_) => None,
        error => error.raw_response(),
    };
    let status = answer.map(|answer| answer.status().as_u16());
    status.filter(|status| !(200..300).contains(status))
}

/// `true` for an answer by which AWS says that it did not carry out a call: the caller's mistake, with a code of AWS's, since a proxy
/// may answer so for a call that it passed on; or too many requests.
pub(super) fn is_refusal(status: u16, code: &str) -> bool {
    let is_own = (400..500).contains(&status) && status != TIMED_OUT && !code.is_empty();
    is_own || ErrorClass::of(code, None) == ErrorClass::Throttled
}

/// The code in the text of an error of EC2.
pub(super) fn code_of(body: Option<&[u8]>) -> Option<String> {
    let text = String::from_utf8_lossy(body.unwrap_or_default());
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    Some(code.to_owned())
}

/// An error and its causes on one line, each told once.
fn words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut told: Vec<String> = Vec::new();
    for cause in causes {
        let lines = cause.to_string();
        let line: Vec<&str> = lines.lines().map(str::trim).collect();
        let line = line.join(" ");
        let line = plain(&line).unwrap_or(line);
        if !told.iter().any(|before| before.contains(&line)) {
            told.push(line);
        }
    }
    told.join(": ")
}

/// The code and message of an error that the SDK shows as a structure; `None` for other texts.
fn plain(line: &str) -> Option<String> {
    let shown = line.strip_prefix("Error { code: \"")?;
    let (code, rest) = shown.split_once("\", message: \"")?;
    let ends = ["\", aws_request_id", "\" }"];
    let message = ends.iter().find_map(|end| rest.split_once(end));
    message.map(|(message, _)| format!("{code}: {message}"))
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            action,
            code,
            message,
            ..
        } = self;
        match code.as_str() {
            "" => write!(f, "{action}: {message}")?,
            code => write!(f, "{action}: {code}: {message}")?,
        }
        match self.way_out() {
            Some(way_out) => write!(f, "; {way_out}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn what_the_sdk_shows_as_a_structure_is_told_in_words() {
        for (shown, told) in [
            (
                r#"Error { code: "AccessDenied", message: "Not authorized to perform it" }"#,
                Some("AccessDenied: Not authorized to perform it"),
            ),
            (
                r#"Error { code: "AccessDenied", message: "Not authorized", aws_request_id: "59d" }"#,
                Some("AccessDenied: Not authorized"),
            ),
            ("dispatch failure", None),
        ] {
            assert_eq!(plain(shown).as_deref(), told, "{shown}");
        }
    }

    #[test]
    fn only_an_answer_of_aws_own_says_that_a_call_was_not_carried_out() {
        for (status, code, expected) in [
            (400, "InvalidParameterValue", true),
            (403, "UnauthorizedOperation", true),
            (503, "RequestLimitExceeded", true),
            (403, "", false),
            (408, "RequestTimeout", false),
            (500, "InternalError", false),
            (502, "", false),
            (200, "", false),
        ] {
            assert_eq!(is_refusal(status, code), expected, "{status} {code}");
        }
        let body = b"<Response><Errors><Error><Code>InternalError</Code></Error></Errors>";
        assert_eq!(code_of(Some(body)).as_deref(), Some("InternalError"));
        assert_eq!(code_of(Some(b"<html>")), None);
    }

    #[test]
    fn causes_are_told_once_and_on_one_line() {
        let inner = io::Error::other("none found. Attempted:\n  Environment: not set");
        let outer = io::Error::other(inner);
        assert_eq!(words(&outer), "none found. Attempted: Environment: not set");
    }
}
