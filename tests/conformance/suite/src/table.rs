//! The table: one row a spec, and the sum of it.

use std::fmt;

use crate::report::{Outcome, State};

/// Letters of a reason that a row shows; the whole of it is in the suite's output.
const MOST: usize = 240;

/// How many specs ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Passed, declined or not.
    pub(crate) passed: usize,
    /// Failed without a reason of ours.
    pub(crate) failed: usize,
    /// Failed, as a reason says.
    pub(crate) declined: usize,
}

impl Tally {
    /// Counts a spec; its row.
    pub(crate) fn add(&mut self, name: &str, outcome: &Outcome, reason: Option<&str>) -> String {
        let (count, verdict) = match (outcome.state, reason) {
            (State::Passed, _) => (&mut self.passed, "passed"),
            (_, Some(_)) => (&mut self.declined, "declined"),
            (State::Failed, None) => (&mut self.failed, "failed"),
            (State::TimedOut, None) => (&mut self.failed, "timed out"),
        };
        *count += 1;
        let why = match (outcome.state, reason) {
            (State::Passed, Some(_)) => "is declined, and passes",
            (State::Passed, None) => "",
            (_, Some(reason)) => reason,
            (_, None) => &outcome.why,
        };
        let why: String = why.chars().take(MOST).collect();
        let row = format!("{verdict:<9}  {name}");
        if why.is_empty() {
            row
        } else {
            format!("{row}\n           {why}")
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            declined,
        } = self;
        write!(out, "{passed} passed, {failed} failed, {declined} declined")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(state: State) -> Outcome {
        Outcome {
            state,
            why: "a_test.go:1: no node came".to_owned(),
        }
    }

    #[test]
    fn a_failure_counts_unless_there_is_a_reason() {
        let mut tally = Tally::default();
        tally.add("a", &ended(State::Passed), None);
        let passing = tally.add("b", &ended(State::Passed), Some("ours waits"));
        let failed = tally.add("c", &ended(State::Failed), None);
        let late = tally.add("d", &ended(State::TimedOut), None);
        let declined = tally.add("e", &ended(State::TimedOut), Some("ours waits"));
        assert_eq!(tally.to_string(), "2 passed, 2 failed, 1 declined");
        assert!(passing.contains("is declined, and passes"));
        assert!(failed.starts_with("failed     c\n") && failed.contains("no node came"));
        assert!(late.starts_with("timed out  d\n"));
        assert!(declined.starts_with("declined   e\n") && declined.contains("ours waits"));
    }
}
