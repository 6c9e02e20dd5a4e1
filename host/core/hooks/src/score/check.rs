//! Reads a policy's values: lengths, numbers, range. Nothing of them is trusted before.
//!
//! The first violation ends the reading and names the move, the value and what was expected, because the reader of that
//! sentence is the policy's author. What passes is whole nano-dollars, so that the order is the same on every machine.

use plimsoll_base::units::{MAX_DOLLARS_PER_HOUR, PricePerHour};
use plimsoll_base::words;
use thiserror::Error;

use super::answer::{ScoreAnswer, Verdict, Verdicts};
use super::question::{MoveKind, ScoreQuestion};
use crate::hook::{WrongLength, check_lengths};

/// Why an answer is refused whole.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ScoreError {
    /// A column is shorter or longer than the question.
    #[error(transparent)]
    Length(#[from] WrongLength),
    /// A value is NaN, infinite or beyond any price.
    #[error(
        "row {row} ({what}): `value` is {value}; expected dollars per hour within plus or minus {MAX_DOLLARS_PER_HOUR}"
    )]
    Value {
        /// Row of the move.
        row: usize,
        /// The move in words.
        what: String,
        /// The value answered, in dollars per hour.
        value: f64,
    },
}

/// Checks values against their question and puts the moves that are worth it in order.
pub fn check_verdicts(
    question: &ScoreQuestion,
    answer: &ScoreAnswer,
) -> Result<Verdicts, ScoreError> {
    check_lengths(answer.lengths(), question.moves.len(), "moves")?;
    let read = |(row, (&value, &reason)): (usize, (&f64, &u16))| {
        let value = PricePerHour::from_dollars(value).ok_or_else(|| ScoreError::Value {
            row,
            what: describe(question, row),
            value,
        })?;
        Ok(Verdict { value, reason })
    };
    let rows = answer.value.iter().zip(&answer.reason).enumerate();
    rows.map(read).collect::<Result<_, _>>().map(Verdicts::of)
}

/// The move in words, for instance `replace node-1, node-2`.
fn describe(question: &ScoreQuestion, row: usize) -> String {
    let kind = match question.moves.kind.get(row).copied() {
        Some(code) if code == MoveKind::Empty as u8 => "remove the empty",
        Some(code) if code == MoveKind::Delete as u8 => "delete",
        _ => "replace",
    };
    let members = question.moves.members(row).iter();
    let names = members.map(|&node| question.node_name(node));
    format!("{kind} {}", words::shortened(names))
}
