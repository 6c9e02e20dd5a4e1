//! Time zones and calendars for policies. The host knows the rules of each zone and says where its clock stands; here is
//! only arithmetic, so that no module carries tables of zones.

use crate::bindings::configure::plimsoll::policy::types::{Context, Setting};
use crate::settings::SettingValue;

const DAY: i64 = 86_400;

/// A time zone by its IANA name, for instance `Europe/Berlin`: a setting of that type. The host refuses names it does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZone {
    name: String,
}

impl TimeZone {
    /// The zone of that name.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
        }
    }

    /// Its IANA name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl SettingValue for TimeZone {
    const KIND: &'static str = "a time zone such as Europe/Berlin";

    fn from_setting(setting: &Setting) -> Option<Self> {
        match setting {
            Setting::Text(name) if !name.is_empty() => Some(Self::named(name)),
            _ => None,
        }
    }
}

/// Date and time of day somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Days since 1970-01-01 there.
    day: i64,
    /// Second of that day.
    second: u32,
}

impl LocalTime {
    /// Where the clock of a zone stands at the time of the question: the host tells of UTC and of the zones that are
    /// settings of the policy. Panics on any other, which would be taken for UTC in silence otherwise.
    #[expect(
        clippy::panic,
        reason = "a zone that is no setting is a mistake in the policy, and its answer would be wrong"
    )]
    pub(crate) fn of(context: &Context, zone: &TimeZone) -> Self {
        let known = context.zones.iter().find(|known| known.zone == zone.name);
        let offset = match known {
            Some(known) => i64::from(known.offset_minutes) * 60,
            None if zone.name == "UTC" => 0,
            None => panic!("time zone {} is no setting of this policy", zone.name),
        };
        Self::at(i64::try_from(context.now_unix_s).unwrap_or(i64::MAX / 2) + offset)
    }

    /// From seconds since 1970 of a clock that stands as the local one does.
    fn at(local_s: i64) -> Self {
        let second = u32::try_from(local_s.rem_euclid(DAY)).unwrap_or_default();
        Self {
            day: local_s.div_euclid(DAY),
            second,
        }
    }

    /// Day of the week.
    pub fn weekday(self) -> Weekday {
        Weekday::of(self.day)
    }

    /// Day of the week before: for what began yesterday.
    pub fn yesterday(self) -> Weekday {
        Weekday::of(self.day - 1)
    }

    /// Time of day, the seconds cut off.
    pub fn time(self) -> TimeOfDay {
        TimeOfDay {
            minute: self.second / 60,
        }
    }

    /// The date.
    pub fn date(self) -> Date {
        Date::of(self.day)
    }
}

/// Time of day, to the minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay {
    minute: u32,
}

impl TimeOfDay {
    /// Reads `22:30`; `24:00` is the end of a day.
    pub fn parse(text: &str) -> Option<Self> {
        let (hour, minute) = text.split_once(':')?;
        let (hour, minute) = (digits(hour, 2)?, digits(minute, 2)?);
        let fits = minute < 60 && (hour < 24 || (hour == 24 && minute == 0));
        fits.then_some(Self {
            minute: hour * 60 + minute,
        })
    }

    /// Minutes since midnight, 0 to 1,440.
    pub const fn minutes(self) -> u32 {
        self.minute
    }
}

/// Day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weekday {
    /// Monday.
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
}

impl Weekday {
    /// All seven, Monday first.
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// Reads `mon` to `sun`.
    pub fn parse(text: &str) -> Option<Self> {
        const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let place = NAMES.iter().position(|name| *name == text)?;
        Some(Self::ALL[place])
    }

    /// 1970-01-01 was a Thursday.
    fn of(day: i64) -> Self {
        let place = usize::try_from((day + 3).rem_euclid(7)).unwrap_or_default();
        Self::ALL[place % 7]
    }
}

/// A date of the Gregorian calendar; ordered as the calendar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i64,
    month: u32,
    day: u32,
}

impl Date {
    /// Reads `2026-12-24`, a day that the calendar has.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let year = i64::from(digits(parts.next()?, 4)?);
        let (month, day) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
        let date = Self { year, month, day };
        let known = parts.next().is_none()
            && (1..=12).contains(&month)
            && (1..=days_of(year, month)).contains(&day);
        known.then_some(date)
    }

    /// The year.
    pub const fn year(self) -> i64 {
        self.year
    }

    /// The month, 1 to 12.
    pub const fn month(self) -> u32 {
        self.month
    }

    /// The day of the month, from 1.
    pub const fn day(self) -> u32 {
        self.day
    }

    /// Days since 1970-01-01 of a date from then on.
    pub(crate) fn days(self) -> i64 {
        let years: i64 = (1970..self.year).map(days_of_year).sum();
        let months: u32 = (1..self.month).map(|month| days_of(self.year, month)).sum();
        years + i64::from(months + self.day) - 1
    }

    /// From days since 1970-01-01, year by year and month by month: a question is asked within a century of it.
    fn of(days: i64) -> Self {
        // 400 years have 146,097 days, whichever they are.
        let mut year = 1970 + days.div_euclid(146_097) * 400;
        let mut left = days.rem_euclid(146_097);
        while left >= days_of_year(year) {
            left -= days_of_year(year);
            year += 1;
        }
        let mut left = u32::try_from(left).unwrap_or_default();
        let mut month = 1;
        while left >= days_of(year, month) {
            left -= days_of(year, month);
            month += 1;
        }
        Self {
            year,
            month,
            day: left + 1,
        }
    }
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_of_year(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

const fn days_of(year: i64, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A number of exactly so many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let fits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_since_1970_are_dates() {
        for (days, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (20_779, "2026-11-22"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (-1, "1969-12-31"),
        ] {
            assert_eq!(Some(Date::of(days)), Date::parse(text), "{days}");
        }
    }

    #[test]
    fn the_week_goes_on_across_its_end() {
        let friday = LocalTime::at(1_782_500_000);
        assert_eq!(friday.weekday(), Weekday::Friday);
        assert_eq!(friday.yesterday(), Weekday::Thursday);
        assert_eq!(LocalTime::at(0).weekday(), Weekday::Thursday);
        assert_eq!(LocalTime::at(-1).weekday(), Weekday::Wednesday);
        assert_eq!(LocalTime::at(-1).time().minutes(), 1_439);
    }

    #[test]
    fn what_the_calendar_does_not_have_is_no_date() {
        for text in [
            "2026-02-29",
            "2026-13-01",
            "2026-1-01",
            "2026-12-32",
            "2026-12-24-1",
            "",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn times_of_day_have_two_digits_each_and_end_at_24() {
        let minutes = |text| TimeOfDay::parse(text).map(TimeOfDay::minutes);
        assert_eq!(minutes("22:30"), Some(1_350));
        assert_eq!(minutes("24:00"), Some(1_440));
        for text in ["24:01", "7:00", "07:60", "0700", "+7:00"] {
            assert_eq!(minutes(text), None, "{text}");
        }
    }
}
