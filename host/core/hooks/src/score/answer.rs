//! A consolidation policy's answer, as it comes and once checked.

use plimsoll_base::units::PricePerHour;
use serde::{Deserialize, Serialize};

/// Answer to a score question: columns parallel to its moves. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreAnswer {
    /// Net benefit, dollars per hour; 0 and less is not done.
    pub value: Vec<f64>,
    /// Code of the reason, from the policy's own table.
    pub reason: Vec<u16>,
}

impl ScoreAnswer {
    /// Columns with their rows, in the words of the interface.
    pub(super) fn lengths(&self) -> [(&'static str, usize); 2] {
        [("value", self.value.len()), ("reason", self.reason.len())]
    }
}

/// Value of one move, with the reason the policy gave for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Net benefit of the move, after whatever the policy charges for disruption.
    pub value: PricePerHour,
    /// Code of the reason, from the policy's own table.
    pub reason: u16,
}

/// Checked values of all moves, and the order in which they may be done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// One per move of the question.
    pub rows: Vec<Verdict>,
    /// Rows of the moves that are worth more than nothing, best first; of equal ones the first of the question.
    pub worth: Vec<usize>,
}

impl Verdicts {
    /// No move is worth it: what follows a policy that failed.
    pub fn none(moves: usize) -> Self {
        Self {
            rows: vec![Verdict::default(); moves],
            worth: Vec::new(),
        }
    }

    /// Verdicts on all moves of a question, in its order.
    pub fn of(rows: Vec<Verdict>) -> Self {
        let is_worth_it = |&row: &usize| rows[row].value > PricePerHour::ZERO;
        let mut worth: Vec<usize> = (0..rows.len()).filter(is_worth_it).collect();
        // Stable, so that the question's canonical order decides between equals.
        worth.sort_by_key(|&row| std::cmp::Reverse(rows[row].value));
        Self { rows, worth }
    }
}
