//! Decisions that came to nothing because their maker failed: asked for again, ever later.
//!
//! The same world may make the planner fail again, so a failure puts off the next question, and failures in a row put it off longer. A decision
//! that is made ends that.

use plimsoll_base::time::{Span, Timestamp};

use super::Engine;
use super::provision::Provision;

/// Pause after a first failure.
const FIRST: Span = Span::from_secs(5);
/// The longest pause.
const LONGEST: Span = Span::from_secs(300);

/// Failures in a row of one kind of decision.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FailedDecisions {
    count: u32,
    until: Option<Timestamp>,
}

impl FailedDecisions {
    /// A decision has failed.
    pub(super) fn fail(&mut self, now: Timestamp) {
        let doubled = FIRST.millis() << self.count.min(16);
        self.count = self.count.saturating_add(1);
        self.until = Some(now + Span::from_millis(doubled.min(LONGEST.millis())));
    }

    /// A decision was made.
    pub(super) fn succeed(&mut self) {
        *self = Self::default();
    }

    /// `true` if none is asked for yet. Once the pause is over that stays so.
    pub(super) fn holds(&mut self, now: Timestamp) -> bool {
        self.until = self.until.filter(|until| now < *until);
        self.until.is_some()
    }

    /// `true` if the next is put off, as far as is known.
    pub(super) fn is_pausing(&self) -> bool {
        self.until.is_some()
    }

    /// A time, put off until the pause is over.
    pub(super) fn delays(&self, at: Timestamp) -> Timestamp {
        self.until.map_or(at, |until| until.max(at))
    }
}

impl Engine {
    /// The plan that was asked for cannot be made; any other is late and skipped. Its pods ask again.
    pub(super) fn unsolved(&mut self, id: u64, now: Timestamp) {
        let Provision {
            solving, failed, ..
        } = &mut self.provision;
        if solving.take_if(|solving| solving.id == id).is_some() {
            failed.fail(now);
            self.spare.decide_again();
            self.trigger_all(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_end_with_a_decision() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        let mut failed = FailedDecisions::default();
        let mut pauses = Vec::new();
        for _ in 0..9 {
            failed.fail(at(0));
            pauses.push(failed.delays(at(0)).since(at(0)).millis() / 1000);
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(failed.delays(at(400)), at(400));
        assert!(failed.holds(at(299)) && failed.is_pausing());
        assert!(!failed.holds(at(300)) && !failed.is_pausing());
        failed.succeed();
        failed.fail(at(0));
        assert_eq!(failed.delays(at(0)), at(5));
    }
}
