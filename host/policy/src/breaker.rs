//! The circuit breaker of one module: from how its calls ended, and when, to whether it is asked and followed.
//!
//! ```text
//!            it fails too often              its time is over
//! followed ─────────────────────► set aside ──────────────────► on trial
//!     ▲                               ▲    it fails: twice as long  │
//!     │                               └─────────────────────────────┤
//!     └──────────────────────────────────── three answers in a row ─┘
//! ```
//!
//! Invariants:
//! - Instants are handed in; the same calls at the same instants lead to the same state.
//! - Only what blames the module counts ([`Outcome::blames_module`]), and one question asked over and over counts once among those that
//!   set it aside quickly: a single odd pod does not switch a policy off. One that answers no question in between is set aside all the same.
//! - A module on trial is asked, but not followed: it comes back by what it would have said.
//! - However often it failed, a module that answers is followed again after at most [`LONGEST`] and three calls.

use std::collections::VecDeque;
use std::fmt;

use plimsoll_base::time::{Span, Timestamp};

use crate::outcome::Outcome;

/// Different questions that a module fails on within [`WITHIN`] until it is set aside. This and the share below are the rule of the
/// interface's section on failures.
const QUESTIONS: usize = 5;
/// How long a failure is remembered for that.
const WITHIN: Span = Span::from_secs(60);
/// Calls over which the share of failures is taken.
const CALLS: u32 = 50;
/// Failures among these until it is set aside: a fifth.
const FAILURES: u32 = 10;
/// Failures in a row, whatever the questions, until a module is set aside: it answers nothing else.
const IN_A_ROW: u32 = 10;
/// How long a module is set aside that was followed until then.
pub(crate) const SHORTEST: Span = Span::from_secs(5 * 60);
/// How long it is set aside at most, however often it fails on trial.
pub(crate) const LONGEST: Span = Span::from_secs(60 * 60);
/// Answers in a row on trial after which it is followed again.
pub(crate) const ANSWERS: u32 = 3;

/// Treatment of a module in one decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is asked, and its answer counts.
    Followed,
    /// It is asked to see whether it answers again; its answer does not count.
    OnTrial,
    /// It is not asked.
    SetAside,
}

/// Change that a call brought to the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It is set aside for so long, for that reason.
    SetAside(Cause, Span),
    /// It is followed again.
    Returned,
}

/// Why a module is set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It failed on so many different questions within a minute.
    Questions,
    /// It failed in a fifth of its last calls.
    Share,
    /// It failed in so many calls in a row.
    Row,
    /// It failed on trial.
    Relapse,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Questions => {
                write!(
                    f,
                    "it failed on {QUESTIONS} different questions within {WITHIN}"
                )
            }
            Self::Share => write!(f, "it failed in {FAILURES} of its last {CALLS} calls"),
            Self::Row => write!(f, "it failed {IN_A_ROW} calls in a row"),
            Self::Relapse => f.write_str("it failed on trial"),
        }
    }
}

/// The health of one module.
#[derive(Debug, Clone)]
pub(crate) enum Breaker {
    /// Its answers count.
    Followed(Record),
    /// It was set aside at an instant for a span; after that it has given so many answers on trial.
    SetAside {
        since: Timestamp,
        span: Span,
        answers: u32,
    },
}

/// How the last calls of a module that is followed ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// Questions that it failed on, each once, with the instant of the latest failure; the latest last. Never more than [`QUESTIONS`].
    failed: VecDeque<(Timestamp, u64)>,
    /// One bit for each of the last [`CALLS`] calls, the latest lowest: whether it failed.
    history: u64,
    /// Calls in `history`.
    calls: u32,
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Followed(Record::default())
    }
}

impl Breaker {
    /// The breaker of a module that was set aside before it came here: it is tried as one that was set aside at this instant.
    pub(crate) const fn set_aside_at(since: Timestamp) -> Self {
        Self::SetAside {
            since,
            span: SHORTEST,
            answers: 0,
        }
    }

    /// Treatment of the module in a decision at `now`.
    pub(crate) fn admission(&self, now: Timestamp) -> Admission {
        match self {
            Self::Followed(_) => Admission::Followed,
            // Where the clock went back, it is not known how long it has been: it is tried, which does no harm.
            Self::SetAside { since, span, .. } if *since <= now && now < *since + *span => {
                Admission::SetAside
            }
            Self::SetAside { .. } => Admission::OnTrial,
        }
    }

    /// Takes note of how a call ended that was made under `admission` in a decision at `now`. `question` tells questions apart, and is
    /// asked for only where the call failed.
    pub(crate) fn note(
        &mut self,
        admission: Admission,
        now: Timestamp,
        outcome: Outcome,
        question: impl FnOnce() -> u64,
    ) -> Option<Turn> {
        let failed = outcome.blames_module();
        let answered = matches!(outcome, Outcome::Ok | Outcome::PolicyError);
        // Calls that say nothing of the module, and those that began before it was set aside or tried, change nothing.
        let is_current = admission == self.admission(now) && admission != Admission::SetAside;
        if !is_current || !(failed || answered) {
            return None;
        }
        match self {
            Self::Followed(record) => {
                let cause = record.note(now, failed.then(question))?;
                Some(self.set_aside(now, SHORTEST, cause))
            }
            Self::SetAside { span, .. } if failed => {
                let longer = (*span + *span).min(LONGEST);
                Some(self.set_aside(now, longer, Cause::Relapse))
            }
            Self::SetAside { answers, .. } => {
                *answers += 1;
                (*answers >= ANSWERS).then(|| {
                    *self = Self::default();
                    Turn::Returned
                })
            }
        }
    }

    fn set_aside(&mut self, since: Timestamp, span: Span, cause: Cause) -> Turn {
        *self = Self::SetAside {
            since,
            span,
            answers: 0,
        };
        Turn::SetAside(cause, span)
    }
}

impl Record {
    /// Takes note of a call that failed on a question, or of one that did not; why that was one too many, where it was.
    fn note(&mut self, now: Timestamp, failed: Option<u64>) -> Option<Cause> {
        self.history = (self.history << 1 | u64::from(failed.is_some())) & ((1 << CALLS) - 1);
        self.calls = (self.calls + 1).min(CALLS);
        let question = failed?;
        self.failed
            .retain(|(at, known)| *known != question && now.since(*at) < WITHIN);
        self.failed.push_back((now, question));
        if self.failed.len() >= QUESTIONS {
            return Some(Cause::Questions);
        }
        if self.calls == CALLS && self.history.count_ones() >= FAILURES {
            return Some(Cause::Share);
        }
        (self.history.trailing_ones() >= IN_A_ROW).then_some(Cause::Row)
    }
}

#[cfg(test)]
mod tests;
