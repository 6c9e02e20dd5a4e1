//! The one place where time is read.

use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_core::time::Timestamp;

/// The wall clock, which for us never goes back: a step backwards holds still until it is made up for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    last: Timestamp,
}

impl Clock {
    /// The present instant.
    pub(crate) fn now(&mut self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        let read = Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX));
        self.last = self.last.max(read);
        self.last
    }
}
