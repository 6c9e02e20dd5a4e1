//! The last calls of a module that serves or is asked in shadow, by which its Policy is ready or not.
//!
//! A Policy is not ready while the last three calls failed, or five of the last fifty did. It is ready again with the
//! first answer of the function that failed that leaves neither so, or once a module that was set aside is followed again. Whether a module is set aside is another matter,
//! which its breaker decides.

use crate::outcome::{Fault, Outcome};

/// Failures in a row after which a Policy is not ready.
const IN_A_ROW: u32 = 3;
/// Calls that count, the last of them.
const CALLS: u32 = 50;
/// Failures among these after which a Policy is not ready.
const FAILURES: u32 = 5;

/// How the last calls ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentCalls {
    /// One bit for each of the last [`CALLS`], the latest lowest: whether it failed.
    history: u64,
    /// Calls noted there, at most [`CALLS`].
    calls: u32,
    /// `true` if the last call failed, also for want of a machine with time, which the history leaves out.
    failed_last: bool,
    /// The last failure.
    fault: Option<Fault>,
    /// The function that failed last. Answers of others say nothing of it: a hook may have a function that works and one that does not.
    failed: Option<&'static str>,
}

impl RecentCalls {
    /// Takes note of a call of a function: it was answered, or it failed. What says nothing of the module, such as a machine without time, does not change
    /// whether its Policy is ready.
    pub fn note(&mut self, function: &'static str, fault: Option<&Fault>) {
        self.failed_last = fault.is_some();
        if fault.is_none() && self.failed.is_some_and(|failed| failed != function) {
            return;
        }
        let says = |outcome: Outcome| outcome.blames_module() || outcome == Outcome::PolicyError;
        if fault.is_some_and(|fault| !says(fault.outcome)) {
            return;
        }
        self.history = (self.history << 1 | u64::from(fault.is_some())) & ((1 << CALLS) - 1);
        self.calls = (self.calls + 1).min(CALLS);
        if let Some(fault) = fault {
            self.fault = Some(fault.clone());
            self.failed = Some(function);
        }
    }

    /// Forgets all calls: the module is followed again.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// `true` if the last call gave no answer, whatever the cause.
    pub fn failed_last(&self) -> bool {
        self.failed_last
    }

    /// The last failure; `None` before the first.
    pub fn last_fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// `true` if the Policy is not ready for these calls.
    pub fn is_failing(&self) -> bool {
        self.history.trailing_ones() >= IN_A_ROW || self.history.count_ones() >= FAILURES
    }

    /// Why a Policy is not ready, in words that follow the name of its module; `None` where these calls are no reason.
    pub fn failing(&self, hook: &str) -> Option<String> {
        let fault = self.fault.as_ref().filter(|_| self.is_failing())?;
        let (row, all) = (self.history.trailing_ones(), self.history.count_ones());
        let counted = if row >= IN_A_ROW {
            format!("failed its last {row} calls of hook {hook}")
        } else {
            format!(
                "failed {all} of its last {} calls of hook {hook}",
                self.calls
            )
        };
        Some(format!(
            "{counted}, the last one with {}: {fault}",
            fault.outcome
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(outcome: Outcome) -> Fault {
        Fault {
            outcome,
            sentence: "no answer".to_owned(),
        }
    }

    /// Ready or not after each of the calls, a letter each: an answer, a trap, a decline, and a machine without time.
    fn ready(calls: &str) -> String {
        let mut recent = RecentCalls::default();
        let after = calls.chars().map(|call| {
            recent.note(
                "price",
                match call {
                    't' => Some(fault(Outcome::Trap)),
                    'd' => Some(fault(Outcome::PolicyError)),
                    's' => Some(fault(Outcome::Saturated)),
                    _ => None,
                }
                .as_ref(),
            );
            if recent.is_failing() { '-' } else { '+' }
        });
        after.collect()
    }

    #[test]
    fn three_failures_in_a_row_are_too_many_until_the_next_answer() {
        assert_eq!(ready("tt.t.ttt"), "++++++--", "five of all count as well");
        assert_eq!(ready("ttt."), "++-+");
        assert_eq!(ready("tdt"), "++-", "who declines has not answered either");
        assert_eq!(
            ready("tstst"),
            "++++-",
            "a machine without time is no answer"
        );
    }

    #[test]
    fn an_answer_of_another_function_says_nothing_of_the_one_that_fails() {
        let mut recent = RecentCalls::default();
        for _ in 0..3 {
            recent.note("price", Some(&fault(Outcome::Trap)));
            recent.note("order", None);
        }
        assert!(recent.is_failing());
        recent.note("price", None);
        assert!(!recent.is_failing());
    }

    #[test]
    fn five_failures_of_fifty_are_too_many_until_fewer_are_left() {
        let one_in_ten = ".........t".repeat(5);
        assert_eq!(ready(&one_in_ten), "+".repeat(49) + "-");
        // The first of the five is forgotten with the fiftieth call after it.
        let answers = ".".repeat(12);
        let after = ready(&(one_in_ten + &answers));
        assert_eq!(after[50..], "-".repeat(9) + "+++");
    }

    #[test]
    fn the_words_name_the_hook_the_class_and_the_last_failure() {
        let mut recent = RecentCalls::default();
        for _ in 0..4 {
            recent.note("price", Some(&fault(Outcome::Fuel)));
        }
        assert_eq!(
            recent.failing("rank").as_deref(),
            Some("failed its last 4 calls of hook rank, the last one with fuel: no answer")
        );
        assert!(recent.failed_last());
        recent.note("price", None);
        recent.note("price", Some(&fault(Outcome::Trap)));
        assert_eq!(
            recent.failing("rank").as_deref(),
            Some("failed 5 of its last 6 calls of hook rank, the last one with trap: no answer")
        );
        (0..60).for_each(|_| recent.note("price", None));
        (0..5).for_each(|_| {
            recent.note("price", Some(&fault(Outcome::Trap)));
            recent.note("price", None);
        });
        assert_eq!(
            recent.failing("rank").as_deref(),
            Some("failed 5 of its last 50 calls of hook rank, the last one with trap: no answer")
        );
        recent.forget();
        assert_eq!(recent.failing("rank"), None);
    }

    #[test]
    fn a_call_without_room_on_the_machine_is_a_last_failure_all_the_same() {
        let mut recent = RecentCalls::default();
        for _ in 0..9 {
            recent.note("price", Some(&fault(Outcome::Saturated)));
        }
        assert!(recent.failed_last());
        assert_eq!(recent.failing("rank"), None);
        recent.note("price", None);
        assert!(!recent.failed_last());
        recent.note("price", Some(&fault(Outcome::Saturated)));
        recent.forget();
        assert!(!recent.failed_last());
    }
}
