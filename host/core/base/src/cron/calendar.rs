//! Days, months and weekdays of an instant, in UTC: what schedules are written in.
//!
//! The proleptic Gregorian calendar, by days since the epoch; no leap seconds, as in Unix time.

use crate::time::Timestamp;

const MINUTE: i64 = 60_000;
const MINUTES_PER_DAY: i64 = 24 * 60;

/// A day, counted from 1 January 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(i64);

/// A day as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    /// 1 to 12.
    pub(super) month: u32,
    /// 1 to 31.
    pub(super) day: u32,
    /// 0 is Sunday.
    pub(super) weekday: u32,
}

impl Day {
    /// The day of an instant, and the minute of that day in which it lies.
    pub(super) fn of(at: Timestamp) -> (Self, i64) {
        let minutes = at.millis().div_euclid(MINUTE);
        let day = minutes.div_euclid(MINUTES_PER_DAY);
        (Self(day), minutes.rem_euclid(MINUTES_PER_DAY))
    }

    /// The day after.
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The instant at which a minute of the day begins; `None` behind the last instant that there is.
    pub(super) fn at_minute(self, minute: i64) -> Option<Timestamp> {
        let minutes = self.0 * MINUTES_PER_DAY + minute;
        minutes.checked_mul(MINUTE).map(Timestamp::from_millis)
    }

    /// How it is written. Years begin in March here, so that the leap day is the last of its year.
    pub(super) fn date(self) -> Date {
        const DAYS_PER_ERA: i64 = 146_097;
        const EPOCH_FROM_MARCH_OF_YEAR_0: i64 = 719_468;
        let shifted = self.0 + EPOCH_FROM_MARCH_OF_YEAR_0;
        let of_era = shifted.rem_euclid(DAYS_PER_ERA);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        let small = |number: i64| u32::try_from(number).unwrap_or(0);
        Date {
            month: small(month),
            day: small(day),
            weekday: small((self.0 + 4).rem_euclid(7)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(seconds: i64) -> (u32, u32, u32) {
        let (day, _) = Day::of(Timestamp::from_millis(seconds * 1000));
        let date = day.date();
        (date.month, date.day, date.weekday)
    }

    #[test]
    fn known_days_are_read_right() {
        assert_eq!(date(0), (1, 1, 4), "1 January 1970 was a Thursday");
        assert_eq!(date(951_782_400), (2, 29, 2), "29 February 2000, Tuesday");
        assert_eq!(
            date(1_709_164_800),
            (2, 29, 4),
            "29 February 2024, Thursday"
        );
        assert_eq!(date(1_772_323_200), (3, 1, 0), "1 March 2026, Sunday");
        assert_eq!(date(-86_400), (12, 31, 3), "31 December 1969, Wednesday");
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut day = Day(-200_000);
        for _ in 0..300_000 {
            let (before, after) = (day.date(), day.next().date());
            assert_eq!(after.weekday, (before.weekday + 1) % 7);
            if after.day == 1 {
                assert_eq!(after.month, before.month % 12 + 1);
                assert!((28..=31).contains(&before.day));
            } else {
                assert_eq!((after.month, after.day), (before.month, before.day + 1));
            }
            day = day.next();
        }
    }

    #[test]
    fn a_minute_of_a_day_is_an_instant_again() {
        let at = Timestamp::from_millis(1_709_164_800_000 + 61 * 60_000);
        let (day, minute) = Day::of(at);
        assert_eq!(minute, 61);
        assert_eq!(day.at_minute(minute), Some(at));
    }
}
