//! A question of any hook, read back from a record: whole before anybody looks into it.

use plimsoll_hooks::allow::AllowQuestion;
use plimsoll_hooks::hook::Context;
use plimsoll_hooks::rank::{OrderQuestion, PriceQuestion};
use plimsoll_hooks::score::ScoreQuestion;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::form::Call;
use super::whole::{self, Torn};
use crate::words;

/// Question that a module was asked.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the types say what each one is")]
pub enum Question {
    Price(PriceQuestion),
    Order(OrderQuestion),
    Score(Box<ScoreQuestion>),
    Allow(AllowQuestion),
}

/// Why a value is no question.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// It lacks a column, or has one of another kind.
    #[error("is no {} question", .call.label())]
    Read {
        /// Function that the line names.
        call: Call,
        /// The parser's error.
        #[source]
        source: serde_json::Error,
    },
    /// Its columns do not fit each other.
    #[error(transparent)]
    Torn(#[from] Torn),
}

impl Question {
    /// Reads a question and refuses one whose columns do not fit each other.
    pub(super) fn read(call: Call, value: Value) -> Result<Self, QuestionError> {
        fn typed<T: DeserializeOwned>(call: Call, value: Value) -> Result<T, QuestionError> {
            serde_json::from_value(value).map_err(|source| QuestionError::Read { call, source })
        }
        let question = match call {
            Call::Price => Self::Price(typed(call, value)?),
            Call::Order => Self::Order(typed(call, value)?),
            Call::Score => Self::Score(Box::new(typed(call, value)?)),
            Call::Allow => Self::Allow(typed(call, value)?),
        };
        whole::check(&question)?;
        Ok(question)
    }

    /// Time and seed.
    pub fn context(&self) -> Context {
        match self {
            Self::Price(question) => question.context,
            Self::Order(question) => question.context,
            Self::Score(question) => question.context,
            Self::Allow(question) => question.context,
        }
    }

    /// Rows that an answer has.
    pub fn len(&self) -> usize {
        match self {
            Self::Price(question) => question.pools.cand.len(),
            Self::Order(question) => question.claims.cand.len(),
            Self::Score(question) => question.moves.len(),
            Self::Allow(question) => question.pools.len(),
        }
    }

    /// `true` if nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row in words, such as `general, m5.large, us-east-1a, spot`; empty for one that is not there.
    pub fn row(&self, row: usize) -> String {
        match self {
            Self::Price(question) => words::price_words(question, row),
            Self::Order(question) => words::order_words(question, row),
            Self::Score(question) => words::move_words(question, row),
            Self::Allow(question) => words::budget_words(question, row),
        }
    }
}
