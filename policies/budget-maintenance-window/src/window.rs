//! A window that opens on some days of the week, as people write it: `sat-sun 22:00-04:00`.

use plimsoll_sdk::budget::{LocalTime, TimeOfDay, Weekday};

const DAY: u32 = 24 * 60;

/// Opens at a time of day on some days of the week, and closes later that day or on the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    first: Weekday,
    last: Weekday,
    /// Minutes since midnight.
    opens: u32,
    /// Minutes since that midnight: more than a day has where it closes on the next.
    closes: u32,
}

impl Window {
    /// Reads `DAYS START-END`: days are `daily`, one such as `sat`, or a range such as `fri-mon`. An end that is not after the
    /// start is on the next day.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (days, times) = text.trim().split_once(' ')?;
        let (first, last) = match days.split_once('-') {
            Some((first, last)) => (Weekday::parse(first)?, Weekday::parse(last)?),
            None if days == "daily" => (Weekday::Monday, Weekday::Sunday),
            None => (Weekday::parse(days)?, Weekday::parse(days)?),
        };
        let (opens, closes) = times.trim().split_once('-')?;
        let (opens, closes) = (TimeOfDay::parse(opens)?, TimeOfDay::parse(closes)?);
        let (opens, closes) = (opens.minutes(), closes.minutes());
        let next_day = if closes > opens { 0 } else { DAY };
        (opens < DAY).then_some(Self {
            first,
            last,
            opens,
            closes: closes + next_day,
        })
    }

    /// Minutes until it closes, if it is open.
    pub(crate) fn open_for(&self, now: LocalTime) -> Option<u32> {
        let minute = now.time().minutes();
        let since_yesterday = minute + DAY;
        if self.opens_on(now.weekday()) && (self.opens..self.closes).contains(&minute) {
            Some(self.closes - minute)
        } else if self.opens_on(now.yesterday()) && since_yesterday < self.closes {
            Some(self.closes - since_yesterday)
        } else {
            None
        }
    }

    /// Minutes until it opens next, where it is closed.
    pub(crate) fn opens_in(&self, now: LocalTime) -> u32 {
        let today = Weekday::ALL.iter().position(|day| *day == now.weekday());
        let today = today.unwrap_or_default();
        let minute = now.time().minutes();
        let opening = (0..=7_u32).zip(Weekday::ALL.iter().cycle().skip(today));
        let ahead = opening
            .filter(|(_, day)| self.opens_on(**day))
            .map(|(days, _)| days * DAY + self.opens)
            .find(|opens| *opens > minute);
        ahead.map_or(DAY, |opens| opens - minute)
    }

    fn opens_on(&self, day: Weekday) -> bool {
        if self.first <= self.last {
            (self.first..=self.last).contains(&day)
        } else {
            day >= self.first || day <= self.last
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_window_is_not_read() {
        for text in [
            "sat",
            "sat 22:00",
            "sat 22:00-25:00",
            "weekend 22:00-23:00",
            "sat-holiday 22:00-23:00",
            "24:00-04:00",
            "sat 24:00-04:00",
            "",
        ] {
            assert_eq!(Window::parse(text), None, "{text}");
        }
    }
}
