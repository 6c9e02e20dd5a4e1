//! An error in one field of one object.
//!
//! A sentence that begins with the field's path; the reader puts the object's kind and name before it.

use std::fmt;

use plimsoll_base::quantity::QuantityError;
use plimsoll_base::requirement::RequirementError;
use thiserror::Error;

/// A field that says something impossible.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}{problem}")]
pub struct FieldError {
    /// The field, such as `spec.containers[0].resources.requests.cpu`.
    pub path: String,
    /// The fault found there.
    pub problem: FieldProblem,
}

/// The fault of a field. The text continues a sentence that the path begins.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FieldProblem {
    /// No quantity, a negative one, or one beyond counting.
    #[error(" {0}")]
    Quantity(QuantityError),
    /// The field must be there.
    #[error(" is missing; expected {expected}")]
    Missing {
        /// The value that was expected, in words.
        expected: &'static str,
    },
    /// The field has a value outside what is allowed.
    #[error(" is \"{value}\"; expected {expected}")]
    Unexpected {
        /// The value.
        value: String,
        /// The values that are allowed, in words.
        expected: &'static str,
    },
    /// A requirement that no label can be held against.
    #[error(": {0}")]
    Requirement(RequirementError),
    /// The field has the wrong type, in the words of the parser.
    #[error(" {0}")]
    Type(String),
}

impl FieldError {
    /// A value outside what is allowed.
    pub fn unexpected(path: &str, value: impl fmt::Display, expected: &'static str) -> Self {
        Self {
            path: path.to_owned(),
            problem: FieldProblem::Unexpected {
                value: value.to_string(),
                expected,
            },
        }
    }

    /// A field that must be there and is not.
    pub fn missing(path: &str, expected: &'static str) -> Self {
        Self {
            path: path.to_owned(),
            problem: FieldProblem::Missing { expected },
        }
    }

    /// The same error, seen from one level further out.
    #[must_use]
    pub fn within(mut self, outer: impl fmt::Display) -> Self {
        self.path = match self.path.as_str() {
            "" => outer.to_string(),
            inner if inner.starts_with('[') => format!("{outer}{inner}"),
            inner => format!("{outer}.{inner}"),
        };
        self
    }
}

/// Adds the outer path to the error of a result.
pub(crate) trait Within<T> {
    /// The same result, its error seen from one level further out.
    fn within(self, outer: impl fmt::Display) -> Result<T, FieldError>;
}

impl<T> Within<T> for Result<T, FieldError> {
    fn within(self, outer: impl fmt::Display) -> Result<T, FieldError> {
        self.map_err(|error| error.within(outer))
    }
}

impl From<QuantityError> for FieldError {
    fn from(error: QuantityError) -> Self {
        Self {
            path: String::new(),
            problem: FieldProblem::Quantity(error),
        }
    }
}

impl From<RequirementError> for FieldError {
    fn from(error: RequirementError) -> Self {
        Self {
            path: String::new(),
            problem: FieldProblem::Requirement(error),
        }
    }
}
