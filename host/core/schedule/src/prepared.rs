//! The first step of a decision: a snapshot read, prices still to come.

use std::sync::{Arc, OnceLock};

use plimsoll_hooks::rank::PriceQuestion;
use plimsoll_model::snapshot::Snapshot;

use super::batch::compile::{Compiled, compile};
use super::prices::question::{self, QuestionRows};
use super::prices::sale::Offers;

/// A decision half made: everything read, prices still to come.
pub struct Prepared<'s> {
    pub(crate) compiled: Compiled<'s>,
    question: OnceLock<Option<PriceQuestion>>,
}

impl<'s> Prepared<'s> {
    pub(crate) fn new(compiled: Compiled<'s>) -> Self {
        Self {
            compiled,
            question: OnceLock::new(),
        }
    }

    /// Question to the ranking policy; `None` when nothing can be bought.
    pub fn question(&self) -> Option<&PriceQuestion> {
        let ask = || question::question(&self.compiled);
        self.question.get_or_init(ask).as_ref()
    }

    /// Where the rows that can be bought stand in the question; `None` when there are none.
    pub(crate) fn question_rows(&self) -> Option<Arc<QuestionRows>> {
        question::slots(&self.compiled)
    }
}

/// Reads a snapshot and works out what has to be priced.
pub fn prepare(snapshot: &Snapshot) -> Prepared<'_> {
    prepare_with(snapshot, None)
}

/// The same with offers that were read before, which are not read again where they still hold. The decision is the same either
/// way.
pub(crate) fn prepare_with<'s>(
    snapshot: &'s Snapshot,
    earlier: Option<&Arc<Offers>>,
) -> Prepared<'s> {
    Prepared::new(compile(snapshot, earlier))
}
