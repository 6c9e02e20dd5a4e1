//! The one place where time is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_base::time::Timestamp;

/// The wall clock, which for us never goes back: a step backwards holds still until it is made up for. Clones are one clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    last: Arc<AtomicI64>,
}

impl Clock {
    /// The present instant, no earlier than any that was read before.
    pub(crate) fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        self.at(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    fn at(&self, read: i64) -> Timestamp {
        let before = self.last.fetch_max(read, Ordering::Relaxed);
        Timestamp::from_millis(before.max(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_back_holds_still_for_every_clone() {
        let clock = Clock::default();
        let other = clock.clone();
        let millis = |clock: &Clock, read| clock.at(read).millis();
        assert_eq!(millis(&clock, 100), 100);
        assert_eq!(millis(&other, 70), 100);
        assert_eq!(millis(&other, 130), 130);
        assert_eq!(millis(&clock, 120), 130);
    }
}
