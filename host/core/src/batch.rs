//! The moment for a decision on waiting pods: after an idle time without new ones, or after a longest wait.
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
}

impl Batch {
    /// A pod, or a node about to go, asks for a decision. The first opens the window; one that is new to the window
    /// restarts its quiet time; the same again changes nothing.
    pub fn trigger(&mut self, uid: &Uid, now: Timestamp) {
        let window = self.window.get_or_insert_with(|| Window {
            opened: now,
            last: now,
            seen: BTreeSet::new(),
        });
        if window.seen.insert(uid.clone()) {
            window.last = now;
        }
    }

    /// When the window ends: `idle` after its last new trigger, at most `max` after its first. `None` when none is open.
    pub fn ends_at(&self, idle: Span, max: Span) -> Option<Timestamp> {
        self.window
            .as_ref()
            .map(|window| (window.last + idle).min(window.opened + max))
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
    fn a_closed_window_forgets_its_triggers() {
        let mut batch = Batch::default();
        batch.trigger(&Uid::from("a"), Timestamp::default());
        batch.close();
        assert_eq!(batch.ends_at(Span::ZERO, Span::ZERO), None);
    }
}
