//! A consolidation policy's answer per move, and the columns it becomes.

use crate::bindings::consolidator::exports::plimsoll::policy::consolidator::Verdicts;
use crate::reason::Reason;

/// Next to nothing, in dollars per hour, but enough for the host to do a move.
///
/// A move that is to be done in any case is worth `mv.saving().max(LEAST_WORTH)`: so an empty node of unknown price is
/// removed.
pub const LEAST_WORTH: f64 = 1e-9;

/// Value of a move, in dollars per hour, with its reason.
///
/// The host wants finite values within plus or minus 100,000; else the whole answer is refused, and no move is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    value: f64,
    reason: Reason,
}

impl Verdict {
    /// Worth that much; 0 and less is not done.
    pub const fn dollars(per_hour: f64, reason: Reason) -> Self {
        Self {
            value: per_hour,
            reason,
        }
    }

    /// Not to be done, whatever it saves.
    pub const fn refuse(reason: Reason) -> Self {
        Self::dollars(0.0, reason)
    }

    /// Dollars per hour.
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// The reason.
    pub const fn reason(&self) -> Reason {
        self.reason
    }
}

/// All verdicts of a call, in the order of the table's moves.
#[derive(Debug)]
pub struct VerdictAnswer {
    columns: Verdicts,
}

impl VerdictAnswer {
    /// An empty answer with room for `moves`.
    pub fn with_capacity(moves: usize) -> Self {
        Self {
            columns: Verdicts {
                value: Vec::with_capacity(moves),
                reason: Vec::with_capacity(moves),
            },
        }
    }

    /// Adds the verdict on the next move.
    pub fn push(&mut self, verdict: Verdict) {
        self.columns.value.push(verdict.value);
        self.columns.reason.push(verdict.reason.0);
    }

    /// The verdict on a move.
    pub fn get(&self, row: usize) -> Option<Verdict> {
        Some(Verdict {
            value: *self.columns.value.get(row)?,
            reason: Reason(*self.columns.reason.get(row)?),
        })
    }

    pub(crate) fn into_columns(self) -> Verdicts {
        self.columns
    }
}
