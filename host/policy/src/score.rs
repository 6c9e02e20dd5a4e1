//! One round of consolidation: the core asks what moves are worth, a policy answers, and a policy that fails moves nothing.

use plimsoll_hooks::score::{
    SavingsThreshold, ScoreQuestion, Verdicts, check_verdicts, savings_threshold,
};

use crate::module::{ConsolidationModule, invalid};
use crate::named::Named;
use crate::outcome::Fault;

/// Who says what moves are worth: a module, or code of the host.
pub trait Consolidator: Named {
    /// Value of each move; fails where the policy gives none within the rules.
    fn score(&self, question: &ScoreQuestion) -> Result<Verdicts, Fault>;
}

impl Consolidator for ConsolidationModule {
    fn score(&self, question: &ScoreQuestion) -> Result<Verdicts, Fault> {
        let called = ConsolidationModule::score(self, question);
        called.result.map(|checked| checked.typed)
    }
}

/// The values built into the core, asked like a module: the twin of `consolidate-savings-threshold`.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn(pub SavingsThreshold);

impl Named for BuiltIn {
    fn name(&self) -> &'static str {
        "savings-threshold"
    }
}

impl Consolidator for BuiltIn {
    fn score(&self, question: &ScoreQuestion) -> Result<Verdicts, Fault> {
        let answer = savings_threshold(question, &self.0);
        check_verdicts(question, &answer).map_err(|error| invalid(&error))
    }
}

/// Verdicts on moves, and the fault of the policy while it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The verdicts; no move is worth it where the policy failed, since doing nothing is always safe.
    pub verdicts: Verdicts,
    /// Why there is no answer of the policy.
    pub fault: Option<Fault>,
    /// The fault as a sentence for people.
    pub note: Option<String>,
}

/// Asks what each move is worth. Without a move the policy is not asked.
pub fn score(consolidator: &(impl Consolidator + ?Sized), question: &ScoreQuestion) -> Scored {
    let moves = question.moves.len();
    let answer = match moves {
        0 => Ok(Verdicts::none(0)),
        _ => consolidator.score(question),
    };
    match answer {
        Ok(verdicts) => Scored {
            verdicts,
            fault: None,
            note: None,
        },
        Err(fault) => Scored {
            verdicts: Verdicts::none(moves),
            note: Some(format!(
                "policy {} failed to score: {fault}; no node is consolidated",
                consolidator.name()
            )),
            fault: Some(fault),
        },
    }
}
