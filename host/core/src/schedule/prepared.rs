//! The first step of a decision: a snapshot read, prices still to come.

use std::sync::Arc;

use super::batch::compile::{Compiled, compile};
use super::prices::question::{QuestionRows, question};
use super::prices::sale::Offers;
use crate::rank::PriceQuestion;
use crate::snapshot::Snapshot;

/// A decision half made: everything read, prices still to come.
pub struct Prepared<'s> {
    pub(crate) compiled: Compiled<'s>,
    pub(crate) question: Option<(PriceQuestion, Arc<QuestionRows>)>,
}

impl Prepared<'_> {
    /// Question to the ranking policy; `None` when nothing can be bought.
    pub fn question(&self) -> Option<&PriceQuestion> {
        self.question.as_ref().map(|(question, _)| question)
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
    let compiled = compile(snapshot, earlier);
    let question = question(&compiled);
    Prepared { compiled, question }
}
