//! The time that it is in the cloud: the machine's, ahead of it, or one that stands until a test moves it.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;

/// A clock. By default it is the machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    stands_at: Option<SystemTime>,
    ahead: Duration,
}

impl Clock {
    /// One that stands at a time until it is moved.
    pub fn standing_at(time: SystemTime) -> Self {
        Self {
            stands_at: Some(time),
            ahead: Duration::ZERO,
        }
    }

    /// The time.
    pub fn now(&self) -> SystemTime {
        self.stands_at.unwrap_or_else(SystemTime::now) + self.ahead
    }

    /// Moves it on.
    pub fn advance(&mut self, by: Duration) {
        self.ahead += by;
    }
}

/// A time as RFC 3339 in UTC, with milliseconds.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default();
    format!("{time:.3}")
}

/// The same in whole seconds, as events of EventBridge have it.
pub(crate) fn whole_seconds(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default();
    format!("{time:.0}")
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_123, "2000-02-29T00:00:00.123Z"),
            (1_767_322_985_000, "2026-01-02T03:03:05.000Z"),
            (1_772_323_199_999, "2026-02-28T23:59:59.999Z"),
            (1_772_323_200_000, "2026-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn a_clock_that_stands_goes_on_when_it_is_moved() {
        let mut clock = Clock::standing_at(UNIX_EPOCH);
        assert_eq!(clock.now(), UNIX_EPOCH);
        clock.advance(Duration::from_secs(7));
        assert_eq!(clock.now(), UNIX_EPOCH + Duration::from_secs(7));
    }
}
