//! Calls that failed.

use std::fmt;

use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};

use crate::credentials;
use crate::error::ErrorClass;

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The action, as rights name it.
    pub action: &'static str,
    /// The error's code; empty where no answer came.
    pub code: String,
    /// Its message, or why no answer came.
    pub message: String,
    /// HTTP status of the answer.
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
            message: match error.message() {
                Some(message) => message.to_owned(),
                None => words(&error),
            },
            status: error.raw_response().map(|answer| answer.status().as_u16()),
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
    fn causes_are_told_once_and_on_one_line() {
        let inner = io::Error::other("none found. Attempted:\n  Environment: not set");
        let outer = io::Error::other(inner);
        assert_eq!(words(&outer), "none found. Attempted: Environment: not set");
    }
}
