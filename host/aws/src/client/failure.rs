//! Calls that failed.

use std::fmt;

use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};

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
        if !told.iter().any(|before| before.contains(&line)) {
            told.push(line);
        }
    }
    told.join(": ")
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
            "" => write!(f, "{action}: {message}"),
            code => write!(f, "{action}: {code}: {message}"),
        }
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn causes_are_told_once_and_on_one_line() {
        let inner = io::Error::other("none found. Attempted:\n  Environment: not set");
        let outer = io::Error::other(inner);
        assert_eq!(words(&outer), "none found. Attempted: Environment: not set");
    }
}
