//! The budget seam: how many nodes policies let go now, and what is left of it beside what pools declare.
//!
//! Step before: what each pool's own budgets allow. Step after: candidates are chosen within what is granted.
//! Invariants:
//! - A question is plain data, whole and recordable; its columns are those of `wit/0.1`, one for one.
//! - An answer is untrusted until [`check_allowances`] has read it.
//! - Policies tighten and never widen: what is granted is the least of the declared budget and all answers ([`grant`]).
//! - A policy that failed allows nothing for emptiness and consolidation, and what is declared for drift ([`withheld`]): it
//!   must neither widen disruption nor hold back repairs of security.

mod answer;
mod check;
mod columns;
mod grant;
mod question;

#[cfg(test)]
mod tests;

pub use answer::{AllowAnswer, Allowance, Allowances};
pub use check::{check_allowances, withheld};
pub use columns::{BudgetRow, BudgetRows, SIGNALS};
pub use grant::{Grant, Grants, Limit, grant};
pub use question::{AllowQuestion, AllowQuestionBuilder};
