//! The consolidation seam: which moves a consolidation policy is asked to value, and what the host makes of its values.
//!
//! Step before: moves found that are feasible and within every rule of the host. Step after: the best of them, as far as
//! budgets go, are validated and carried out.
//! Invariants:
//! - A question is plain data, whole and recordable; its columns are those of `wit/0.1`, one for one.
//! - An answer is untrusted until [`check_verdicts`] has read it: then it is whole nano-dollars in one total order.
//! - A policy can refuse moves and order them. It cannot make one: what is not in the question is not done.
//! - [`savings_threshold`] answers like the module `consolidate-savings-threshold`, to the bit, without any module.

mod answer;
mod check;
mod columns;
mod question;
mod threshold;

#[cfg(test)]
mod tests;

pub use answer::{ScoreAnswer, Verdict, Verdicts};
pub use check::{ScoreError, check_verdicts};
pub use columns::{MoveRow, Moves, NodeRow, NodeSignals, Nodes, Replacement, SIGNALS};
pub use question::{MoveKind, MoveRowError, ScoreQuestion, ScoreQuestionBuilder};
pub use threshold::{EMPTY, LITTLE, SAVES, SavingsThreshold, savings_threshold};
