//! A policy's answer about one row of a question, with its reasons, as documents write it.

use plimsoll_policy::records::ExplainedRow;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer about one row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RowAnswer {
    /// The answer in words.
    pub(crate) answer: String,
    /// The reason's text.
    pub(crate) reason: String,
    /// The module's own explanation; may be empty.
    pub(crate) message: String,
    /// The parts of the answer.
    pub(crate) terms: Vec<Term>,
}

/// A part of an answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Term {
    /// Its name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: f64,
}

impl From<ExplainedRow> for RowAnswer {
    fn from(row: ExplainedRow) -> Self {
        let terms = row.terms.into_iter();
        Self {
            answer: row.answer,
            reason: row.reason,
            message: row.text,
            terms: terms.map(|(name, value)| Term { name, value }).collect(),
        }
    }
}
