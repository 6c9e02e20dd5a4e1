//! A question of any hook, read back from a record: whole before anybody looks into it.

use plimsoll_core::allow::AllowQuestion;
use plimsoll_core::hook::Context;
use plimsoll_core::rank::{OrderQuestion, PriceQuestion, Tables};
use plimsoll_core::score::ScoreQuestion;
use plimsoll_core::words::shortened;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::form::Call;
use super::whole::{self, Torn};

/// What a module was asked.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the types say what each one is")]
pub enum Question {
    Price(PriceQuestion),
    Order(OrderQuestion),
    Score(ScoreQuestion),
    Allow(AllowQuestion),
}

/// Why a value is no question.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// It lacks a column, or has one of another kind.
    #[error("is no {} question", .call.label())]
    Read {
        /// What it should be.
        call: Call,
        /// Why.
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
            Call::Score => Self::Score(typed(call, value)?),
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

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row in words: `general, m5.large, us-east-1a, spot`; empty for one that is not there.
    pub fn row(&self, row: usize) -> String {
        if row >= self.len() {
            return String::new();
        }
        let words = self.words(row);
        crate::text::clean(&words, crate::text::NAME)
    }

    fn words(&self, row: usize) -> String {
        match self {
            Self::Price(question) => {
                let pools = &question.pools;
                let pool = pools.name.get(owner(&pools.cand_ends, row));
                let pool = pool.and_then(|name| question.tables.symbols.get(*name));
                candidate(&question.tables, pools.cand[row], pool.unwrap_or("?"))
            }
            Self::Order(question) => {
                let claim = owner(&question.claims.cand_ends, row);
                let tables = &question.tables;
                candidate(tables, question.claims.cand[row], &format!("claim {claim}"))
            }
            Self::Score(question) => {
                let kind = match question.moves.kind[row] {
                    0 => "remove empty",
                    1 => "delete",
                    _ => "replace",
                };
                let members = question.moves.members(row).iter();
                let members = shortened(members.map(|node| question.node_name(*node)));
                format!("{kind} {members}")
            }
            Self::Allow(question) => {
                let name = question.symbols.get(question.pools.name[row]);
                let reason = match question.pools.reason[row] {
                    0 => "empty",
                    1 => "consolidation",
                    2 => "drift",
                    _ => "other",
                };
                format!("{}, {reason}", name.unwrap_or("?"))
            }
        }
    }
}

/// Whose part of a joined column a row lies in.
fn owner(ends: &[u32], row: usize) -> usize {
    ends.partition_point(|&end| end as usize <= row)
}

fn candidate(tables: &Tables, offering: u32, owner: &str) -> String {
    let capacity = tables.catalogue.o_capacity.get(offering as usize);
    let capacity = match capacity {
        Some(0) => "on-demand",
        Some(1) => "spot",
        Some(2) => "reserved",
        _ => "other",
    };
    let (name, zone) = (tables.type_name(offering), tables.zone(offering));
    format!("{owner}, {name}, {zone}, {capacity}")
}
