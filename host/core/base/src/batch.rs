//! The moment for a decision on waiting pods: after an idle time without new ones, or after a longest wait.
//!
//! A scheduler that is behind finds what waits one by one, for longer than any idle time: then the decision waits, within the longest
//! wait, until it has tried what was there when the idle time ended.
//!
//! The window only says when to decide; the decision then looks at all waiting pods. The step before is the engine's
//! state, which says which pods trigger; the step after is freezing a snapshot.

use std::collections::BTreeSet;

use crate::ids::Uid;
use crate::time::{Span, Timestamp};

/// Triggers gathered for the next decision.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    window: Option<Window>,
}

#[derive(Clone, Debug)]
struct Window {
    opened: Timestamp,
    last: Timestamp,
    seen: BTreeSet<Uid>,
    /// When the idle time ended, while the scheduler is behind.
    held: Option<Timestamp>,
    /// When it ends whatever else happens.
    ends: Option<Timestamp>,
}

impl Window {
    fn quiet_at(&self, idle: Span) -> Timestamp {
        self.held.unwrap_or(self.last + idle)
    }
}

impl Batch {
    /// A pod, or a node about to go, asks for a decision. The first opens the window; one that is new to the window
    /// restarts its quiet time; the same again changes nothing.
    pub fn trigger(&mut self, uid: &Uid, now: Timestamp) {
        let window = self.window.get_or_insert_with(|| Window {
            opened: now,
            last: now,
            seen: BTreeSet::new(),
            held: None,
            ends: None,
        });
        if window.seen.insert(uid.clone()) {
            window.last = now;
        }
    }

    /// When the window ends if nothing happens until then: `idle` after its last new trigger, at most `max` after its first, which
    /// it is as well while the scheduler is behind. `None` when none is open.
    pub fn ends_at(&self, idle: Span, max: Span) -> Option<Timestamp> {
        let window = self.window.as_ref()?;
        let latest = window.opened + max;
        if let Some(ends) = window.ends {
            return Some(ends.min(latest));
        }
        Some(match window.held {
            Some(_) => latest,
            None => latest.min(window.quiet_at(idle)),
        })
    }

    /// `true` if the window ends now. `is_behind` says whether the scheduler has yet to try a pod that was there at an instant.
    pub fn is_due(
        &mut self,
        idle: Span,
        max: Span,
        now: Timestamp,
        is_behind: impl FnOnce(Timestamp) -> bool,
    ) -> bool {
        let Some(window) = &mut self.window else {
            return false;
        };
        if now >= window.ends.unwrap_or(window.opened + max) {
            return true;
        }
        let quiet = window.quiet_at(idle);
        if quiet > now {
            return false;
        }
        let waits = is_behind(quiet);
        window.held = waits.then_some(quiet);
        !waits
    }

    /// Has the window end at that time, if one is open: what is decided has changed, and more pods are not waited for.
    pub fn end_at(&mut self, at: Timestamp) {
        if let Some(window) = &mut self.window {
            window.ends = Some(at);
        }
    }

    /// Ends the window. The triggers are forgotten, whatever comes of the decision.
    pub fn close(&mut self) {
        self.window = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(idle: i64, max: i64, triggers: &[(&str, i64)]) -> i64 {
        let (idle, max) = (Span::from_secs(idle), Span::from_secs(max));
        let mut batch = Batch::default();
        for (uid, second) in triggers {
            let now = Timestamp::from_millis(second * 1000);
            if batch.ends_at(idle, max).is_some_and(|end| end <= now) {
                break;
            }
            batch.trigger(&Uid::from(*uid), now);
        }
        batch.ends_at(idle, max).expect("a window is open").millis() / 1000
    }

    #[test]
    fn the_same_pod_again_does_not_extend_the_window() {
        assert_eq!(ends(5, 10, &[("a", 0), ("a", 3)]), 5);
    }

    #[test]
    fn another_pod_restarts_the_quiet_time() {
        assert_eq!(ends(5, 10, &[("a", 0), ("b", 3)]), 8);
    }

    #[test]
    fn a_steady_stream_is_cut_at_the_longest_wait() {
        assert_eq!(ends(5, 10, &[("a", 0), ("b", 4), ("c", 8), ("d", 12)]), 10);
    }

    #[test]
    fn a_scheduler_that_is_behind_is_waited_for_until_the_longest_wait() {
        let second = |second: i64| Timestamp::from_millis(second * 1000);
        let (idle, max) = (Span::from_secs(1), Span::from_secs(10));
        let mut batch = Batch::default();
        batch.trigger(&Uid::from("a"), second(0));
        assert!(!batch.is_due(idle, max, second(0), |_| true));
        assert_eq!(batch.ends_at(idle, max), Some(second(1)));
        assert!(!batch.is_due(idle, max, second(1), |at| at == second(1)));
        assert_eq!(batch.ends_at(idle, max), Some(second(10)));
        // One that is found meanwhile does not move the instant that counts.
        batch.trigger(&Uid::from("b"), second(3));
        assert!(!batch.is_due(idle, max, second(3), |at| at == second(1)));
        assert!(batch.clone().is_due(idle, max, second(3), |_| false));
        assert!(batch.is_due(idle, max, second(10), |_| true));
    }

    #[test]
    fn a_window_whose_end_is_set_ends_then_though_the_scheduler_is_behind() {
        let second = |second: i64| Timestamp::from_millis(second * 1000);
        let (idle, max) = (Span::from_secs(1), Span::from_secs(10));
        let mut batch = Batch::default();
        batch.end_at(second(0));
        assert_eq!(batch.ends_at(idle, max), None);
        batch.trigger(&Uid::from("a"), second(0));
        batch.end_at(second(0));
        assert_eq!(batch.ends_at(idle, max), Some(second(0)));
        assert!(batch.is_due(idle, max, second(0), |_| true));
    }

    #[test]
    fn a_closed_window_forgets_its_triggers() {
        let mut batch = Batch::default();
        batch.trigger(&Uid::from("a"), Timestamp::default());
        batch.close();
        assert_eq!(batch.ends_at(Span::ZERO, Span::ZERO), None);
    }
}
