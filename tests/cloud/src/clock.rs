//! The time that it is in the cloud: the machine's, ahead of it, or one that stands until a test moves it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// A time as RFC 3339 in UTC, with milliseconds; times before 1970 are taken as its beginning.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let milli = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar. Years begin with March inside, so that leap days are last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
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
