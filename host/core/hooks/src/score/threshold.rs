//! The built-in consolidation: a move is worth what it saves beyond a hurdle. The twin of the module
//! `consolidate-savings-threshold`; without a policy, consolidation takes a move at what it saves.
//!
//! An empty node has no hurdle: taking it away disturbs no pod. It is worth a nano-dollar at least, so that one of unknown
//! price is removed too.

use super::answer::ScoreAnswer;
use super::question::{MoveKind, ScoreQuestion};

/// Code of the reason "nothing but daemons runs there".
pub const EMPTY: u16 = 1;
/// Code of the reason "saves enough".
pub const SAVES: u16 = 2;
/// Code of the reason "saves too little".
pub const LITTLE: u16 = 3;

/// Least worth of an empty node, dollars per hour.
const LEAST: f64 = 1e-9;

/// How much a move has to save before it is worth anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SavingsThreshold {
    /// Dollars per hour, 0 or more.
    pub least_dollars: f64,
    /// Share of what the nodes that are removed cost, 0 to 1.
    pub least_share: f64,
}

impl Default for SavingsThreshold {
    /// Two cents an hour and a twentieth, whichever is more: the guard against churn.
    fn default() -> Self {
        Self {
            least_dollars: 0.02,
            least_share: 0.05,
        }
    }
}

/// Every move at what it saves beyond the hurdle.
pub fn savings_threshold(question: &ScoreQuestion, hurdle: &SavingsThreshold) -> ScoreAnswer {
    let mut answer = ScoreAnswer::default();
    for (row, &kind) in question.moves.kind.iter().enumerate() {
        let saving = question.saving(row);
        let (value, reason) = if kind == MoveKind::Empty as u8 {
            (saving.max(LEAST), EMPTY)
        } else {
            let share = hurdle.least_share * question.removed(row);
            let value = saving - hurdle.least_dollars.max(share);
            (value, if value > 0.0 { SAVES } else { LITTLE })
        };
        answer.value.push(value);
        answer.reason.push(reason);
    }
    answer
}
