//! No node goes on the days of a freeze. README.md says how freezes are written.

use std::time::Duration;

use plimsoll_sdk::budget::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Freezes, each a day such as `2026-11-27` or the first and the last day such as `2026-12-20..2027-01-02`.
    pub freezes: Vec<String>,
    /// Whose calendar the freezes go by.
    #[setting(default = "UTC")]
    pub zone: TimeZone,
    /// `true` if empty nodes stay too.
    #[setting(default = false)]
    pub keep_empty: bool,
    /// `true` if drifted nodes stay too.
    #[setting(default = true)]
    pub keep_drifted: bool,
}

reasons! { FROZEN = "a freeze is on", FREE = "no freeze is on", EXEMPT = "freezes do not hold it back" }

/// Days on which nothing moves.
#[derive(Debug)]
pub struct FreezeCalendar;

impl Budget for FreezeCalendar {
    type Settings = Options;

    fn allow(&self, pool: &Pool, options: &Options) -> Allowance {
        let stays = match pool.disruption() {
            Disruption::Emptiness => options.keep_empty,
            Disruption::Drift => options.keep_drifted,
            _ => true,
        };
        if !stays {
            return Allowance::as_declared(EXEMPT);
        }
        let now = pool.local(&options.zone);
        let mut freezes = options.freezes.iter().filter_map(|text| freeze(text));
        let today = now.date();
        let allowance = if freezes.any(|(first, last)| (first..=last).contains(&today)) {
            Allowance::none(FROZEN)
        } else {
            Allowance::as_declared(FREE)
        };
        allowance.until(to_the_hour(now))
    }

    fn validate(&self, options: &Options) -> Vec<Problem> {
        let expected = "a day such as 2026-11-27, or the first and the last one such as 2026-12-20..2027-01-02";
        unreadable(
            "freezes",
            &options.freezes,
            |text| freeze(text).is_some(),
            expected,
        )
    }
}

export_budget!(FreezeCalendar);

/// First and last day of a freeze.
fn freeze(text: &str) -> Option<(Date, Date)> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (Date::parse(first.trim())?, Date::parse(last.trim())?);
    (first <= last).then_some((first, last))
}

/// Days begin on the hour, whenever clocks are set forward or back.
fn to_the_hour(now: LocalTime) -> Duration {
    let minutes = 60 - now.time().minutes() % 60;
    Duration::from_secs(u64::from(minutes) * 60)
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Pools;

    use super::*;

    fn options(freezes: &[&str]) -> Options {
        Options {
            freezes: freezes.iter().map(|text| (*text).to_owned()).collect(),
            zone: TimeZone::named("Asia/Tokyo"),
            keep_empty: false,
            keep_drifted: true,
        }
    }

    #[track_caller]
    fn check(date: &str, utc: &str, frozen: bool) {
        let pools = Pools::at(date, utc)
            .zone(&TimeZone::named("Asia/Tokyo"), 540)
            .pool("general", 20);
        let options = options(&["2026-11-27", "2026-12-20..2027-01-02"]);
        let allowances = pools.allowances(&FreezeCalendar, &options);
        let counts: Vec<u32> = allowances.iter().map(Allowance::count).collect();
        let most = if frozen { 0 } else { u32::MAX };
        assert_eq!(counts, [u32::MAX, most, most]);
    }

    #[test]
    fn a_freeze_begins_and_ends_at_midnight_of_its_zone() {
        check("2026-11-26", "14:59", false);
        check("2026-11-26", "15:00", true);
        check("2026-11-27", "14:59", true);
        check("2026-11-27", "15:00", false);
    }

    #[test]
    fn a_freeze_of_several_days_goes_on_over_the_end_of_the_year() {
        check("2026-12-19", "14:00", false);
        check("2026-12-31", "23:00", true);
        check("2027-01-02", "14:59", true);
        check("2027-01-02", "15:00", false);
    }

    #[test]
    fn days_that_the_calendar_does_not_have_are_refused_by_name() {
        let refused = |freezes: &[&str]| FreezeCalendar.validate(&options(freezes)).len();
        assert_eq!(refused(&["2026-11-27", "2028-02-29 .. 2028-03-01"]), 0);
        assert_eq!(
            refused(&["2026-02-29", "christmas", "2027-01-02..2026-12-20"]),
            3
        );
    }
}
