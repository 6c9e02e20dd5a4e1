//! Cron schedules: five fields or a macro, always in UTC. Budgets begin to hold by them, and windows of buffers open.
//!
//! Grammar and rules are Karpenter's. Lists, ranges and steps; names of months and weekdays in any case; `?` is `*`;
//! `n/s` is `n` to the largest by `s`; weekdays are 0 to 6; a range that runs backwards is an error. Where both day fields
//! are restricted either may match, otherwise both must; a star with a step above one counts as restricted.

mod calendar;

use thiserror::Error;

use crate::time::{Span, Timestamp};
use calendar::{Date, Day};

/// Days searched for the next hit: five years with their leap days.
const HORIZON_DAYS: u32 = 5 * 366;

/// Field of a [`ScheduleError`] that is about no field alone.
pub const WHOLE: &str = "the whole";

/// A schedule that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("schedule {text:?}: {field} is {found:?}, expected {expected}")]
pub struct ScheduleError {
    /// The whole schedule.
    pub text: String,
    /// The part at fault.
    pub field: &'static str,
    /// The text found in the field.
    pub found: String,
    /// The forms that the field takes, in words.
    pub expected: String,
}

/// Instants at which something begins, at the start of a minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
}

/// The values that one field allows, as bits, and whether it was a plain star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    bits: u64,
    star: bool,
}

/// Bounds and names of one field.
struct CronField {
    name: &'static str,
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const MINUTES: CronField = CronField::numbers("the minute", 0, 59);
const HOURS: CronField = CronField::numbers("the hour", 0, 23);
const DAYS: CronField = CronField::numbers("the day of the month", 1, 31);
const MONTHS: CronField = CronField {
    names: &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
    ..CronField::numbers("the month", 1, 12)
};
const WEEKDAYS: CronField = CronField {
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    ..CronField::numbers("the day of the week", 0, 6)
};
/// Macros and the fields they stand for.
const MACROS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl Schedule {
    /// Reads a schedule.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        let known = MACROS.iter().find(|(name, _)| *name == text.trim());
        let fields: Vec<&str> = known
            .map_or(text, |(_, meaning)| meaning)
            .split_whitespace()
            .collect();
        let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
            return Err(ScheduleError {
                text: text.to_owned(),
                field: WHOLE,
                found: text.to_owned(),
                expected: "five fields or a macro such as @daily".to_owned(),
            });
        };
        let read = |kind: &CronField, field: &str| {
            kind.read(field).map_err(|expected| ScheduleError {
                text: text.to_owned(),
                field: kind.name,
                found: field.to_owned(),
                expected,
            })
        };
        Ok(Self {
            minutes: read(&MINUTES, minutes)?,
            hours: read(&HOURS, hours)?,
            days: read(&DAYS, days)?,
            months: read(&MONTHS, months)?,
            weekdays: read(&WEEKDAYS, weekdays)?,
        })
    }

    /// The first hit after an instant; `None` when there is none for about five years.
    pub fn next_after(&self, at: Timestamp) -> Option<Timestamp> {
        let (mut day, minute) = Day::of(at);
        let mut first = minute + 1;
        for _ in 0..HORIZON_DAYS {
            if self.is_on(day.date())
                && let Some(minute) = self.minute_from(first)
            {
                return day.at_minute(minute);
            }
            day = day.next();
            first = 0;
        }
        None
    }

    /// `true` if a window of this length that begins at each hit is open. A schedule that never comes counts as open: a budget
    /// that can never hold was not meant to allow everything.
    pub fn is_open(&self, length: Span, now: Timestamp) -> bool {
        self.next_after(now - length).is_none_or(|hit| hit <= now)
    }

    /// An instant after `now` until which [`Schedule::is_open`] stays as it is; it may be so longer.
    pub fn settled_until(&self, length: Span, now: Timestamp) -> Option<Timestamp> {
        let leaves = self
            .next_after(now - length)
            .filter(|hit| *hit <= now)
            .map(|hit| hit + length);
        // At the end of time a window has no end that is after now.
        let changes = leaves.into_iter().chain(self.next_after(now));
        changes.filter(|change| *change > now).min()
    }

    fn is_on(&self, date: Date) -> bool {
        let (day, weekday) = (self.days.has(date.day), self.weekdays.has(date.weekday));
        let day_is_on = if self.days.star || self.weekdays.star {
            day && weekday
        } else {
            day || weekday
        };
        self.months.has(date.month) && day_is_on
    }

    /// The first minute of a matching day from a minute on.
    fn minute_from(&self, first: i64) -> Option<i64> {
        (first..24 * 60).find(|minute| {
            let part = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
            self.hours.has(part(minute / 60)) && self.minutes.has(part(minute % 60))
        })
    }
}

impl Field {
    fn has(self, value: u32) -> bool {
        value < 64 && self.bits & (1 << value) != 0
    }
}

impl CronField {
    const fn numbers(name: &'static str, least: u32, most: u32) -> Self {
        Self {
            name,
            least,
            most,
            names: &[],
        }
    }

    /// Reads a list; what was expected where it makes no sense.
    fn read(&self, text: &str) -> Result<Field, String> {
        let mut field = Field {
            bits: 0,
            star: false,
        };
        for entry in text.split(',') {
            let (range, step) = match entry.split_once('/') {
                Some((range, step)) => (range, Some(step)),
                None => (entry, None),
            };
            let every = range == "*" || range == "?";
            let (from, to) = match range.split_once('-') {
                _ if every => (self.least, self.most),
                Some((from, to)) => (self.value(from)?, self.value(to)?),
                None if step.is_some() => (self.value(range)?, self.most),
                None => (self.value(range)?, self.value(range)?),
            };
            let step: u32 = step.map_or(Ok(1), |step| {
                let step = step.parse().ok().filter(|step| *step > 0);
                step.ok_or_else(|| "a step of at least 1".to_owned())
            })?;
            if from > to {
                return Err("a range that runs forwards".to_owned());
            }
            field.star |= every && step == 1;
            for value in (from..=to).step_by(step as usize) {
                field.bits |= 1 << value;
            }
        }
        Ok(field)
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let named = self
            .names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(text))
            .and_then(|at| u32::try_from(at).ok())
            .map(|at| at + self.least);
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = named.or_else(|| text.parse().ok().filter(|_| digits));
        number
            .filter(|number| (self.least..=self.most).contains(number))
            .ok_or_else(|| format!("{} to {}", self.least, self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-02 is a Monday.
    const MONDAY: i64 = 1_772_409_600;
    const HOUR: i64 = 3600;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn next(text: &str, after: i64) -> Option<i64> {
        let schedule = Schedule::parse(text).unwrap();
        schedule
            .next_after(at(after))
            .map(|hit| hit.millis() / 1000)
    }

    #[test]
    fn behind_the_last_instant_nothing_comes() {
        let schedule = Schedule::parse("* * * * *").unwrap();
        let last = Timestamp::from_millis(i64::MAX);
        assert_eq!(schedule.next_after(last), None);
        assert!(schedule.is_open(Span::ZERO, last));
        let hour = Span::from_secs(HOUR);
        assert!(schedule.is_open(hour, last));
        assert_eq!(schedule.settled_until(hour, last), None);
    }

    #[test]
    fn the_next_hit_comes_strictly_after() {
        assert_eq!(next("0 9 * * *", MONDAY), Some(MONDAY + 9 * HOUR));
        let nine = MONDAY + 9 * HOUR;
        assert_eq!(next("0 9 * * *", nine), Some(nine + 24 * HOUR));
        assert_eq!(next("0 9 * * *", nine - 1), Some(nine));
    }

    #[test]
    fn lists_ranges_steps_and_names_are_understood() {
        assert_eq!(next("0 9 * * TUE", MONDAY), Some(MONDAY + 33 * HOUR));
        assert_eq!(
            next("30 8-10 * mar mon-fri", MONDAY),
            Some(MONDAY + 8 * HOUR + 1800)
        );
        assert_eq!(next("*/20 * * * *", MONDAY), Some(MONDAY + 1200));
        assert_eq!(next("50/5 * * * *", MONDAY), Some(MONDAY + 3000));
        assert_eq!(next("5,10 ? ? * ?", MONDAY), Some(MONDAY + 300));
        assert_eq!(next("@hourly", MONDAY), Some(MONDAY + HOUR));
        assert_eq!(next("@weekly", MONDAY), Some(MONDAY + 6 * 24 * HOUR));
    }

    /// The third is a Tuesday, the second a Monday.
    #[test]
    fn of_two_restricted_day_fields_either_is_enough() {
        assert_eq!(next("0 0 3 * wed", MONDAY), Some(MONDAY + 24 * HOUR));
        assert_eq!(next("0 0 * * wed", MONDAY), Some(MONDAY + 48 * HOUR));
        let stepped = next("0 0 */2 * tue", MONDAY);
        assert_eq!(
            stepped,
            Some(MONDAY + 24 * HOUR),
            "a stepped star is restricted"
        );
        assert_eq!(next("0 0 */1 * wed", MONDAY), Some(MONDAY + 48 * HOUR));
    }

    #[test]
    fn what_is_no_schedule_is_named() {
        for (text, part) in [
            ("0 0 * * 7", "the day of the week"),
            ("60 * * * *", "the minute"),
            ("0 0 * * tue-mon", "runs forwards"),
            ("* * * *", "five fields"),
            ("*/0 * * * *", "a step"),
            ("+1 * * * *", "the minute"),
            ("@reboot", "five fields"),
            ("TZ=Europe/Paris 0 0 * * *", "five fields"),
        ] {
            let error = Schedule::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_window_is_open_from_its_hit_until_its_length_is_over() {
        let schedule = Schedule::parse("0 9 * * *").unwrap();
        let eight_hours = Span::from_secs(8 * HOUR);
        let open = |seconds| schedule.is_open(eight_hours, at(seconds));
        assert!(!open(MONDAY + 9 * HOUR - 1));
        assert!(open(MONDAY + 9 * HOUR));
        assert!(open(MONDAY + 17 * HOUR - 1));
        assert!(!open(MONDAY + 17 * HOUR));
        let settled = schedule.settled_until(eight_hours, at(MONDAY + 10 * HOUR));
        assert_eq!(settled, Some(at(MONDAY + 17 * HOUR)));
        let settled = schedule.settled_until(eight_hours, at(MONDAY + 18 * HOUR));
        assert_eq!(settled, Some(at(MONDAY + 33 * HOUR)));
    }

    #[test]
    fn windows_longer_than_their_period_never_close() {
        let schedule = Schedule::parse("@hourly").unwrap();
        let ever =
            (0..180).all(|minute| schedule.is_open(Span::from_secs(2 * HOUR), at(minute * 60)));
        assert!(ever);
    }

    #[test]
    fn a_schedule_that_never_comes_counts_as_open() {
        let schedule = Schedule::parse("0 0 30 2 *").unwrap();
        assert!(schedule.is_open(Span::from_secs(HOUR), at(MONDAY)));
    }

    #[test]
    fn a_leap_day_is_found() {
        assert_eq!(
            next("0 0 29 2 *", MONDAY),
            Some(1_835_395_200),
            "29 February 2028"
        );
    }
}
