//! Calls that failed.

use std::fmt;

use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};

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
                None => DisplayErrorContext(&error).to_string(),
            },
            status: error.raw_response().map(|answer| answer.status().as_u16()),
        }
    }

    /// The way to deal with it.
    pub fn class(&self) -> ErrorClass {
        ErrorClass::of(&self.code, self.status)
    }
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
