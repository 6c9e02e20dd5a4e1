//! Nodes go inside of windows only, by the clock of their zone, across midnight and across the week's end.

use std::time::Duration;

use budget_maintenance_window::{MaintenanceWindow, Options};
use plimsoll_sdk::budget::{Allowance, Budget as _, TimeZone};
use plimsoll_sdk::testing::Pools;

fn options(windows: &[&str]) -> Options {
    Options {
        windows: windows.iter().map(|text| (*text).to_owned()).collect(),
        zone: TimeZone::named("Europe/Berlin"),
        empty_at_any_time: true,
        drifted_at_any_time: false,
    }
}

/// Emptiness, consolidation and drift, an hour ahead of UTC.
fn allowances(date: &str, utc: &str, windows: &[&str]) -> Vec<Allowance> {
    let pools = Pools::at(date, utc)
        .zone(&TimeZone::named("Europe/Berlin"), 60)
        .pool("general", 20);
    pools.allowances(&MaintenanceWindow, &options(windows))
}

#[track_caller]
fn check(date: &str, utc: &str, windows: &[&str], open: bool) {
    let allowances = allowances(date, utc, windows);
    let expected = if open { u32::MAX } else { 0 };
    assert_eq!(allowances[1].count(), expected);
    assert_eq!(allowances[2].count(), expected);
    assert_eq!(allowances[0].count(), u32::MAX);
}

#[test]
fn a_window_opens_and_closes_by_the_clock_of_its_zone() {
    // 2026-11-21 is a Saturday.
    for (utc, open) in [
        ("20:59", false),
        ("21:00", true),
        ("22:29", true),
        ("22:30", false),
    ] {
        check("2026-11-21", utc, &["sat 22:00-23:30"], open);
    }
}

#[test]
fn a_window_goes_on_after_midnight() {
    let windows = ["sat 22:00-04:00"];
    check("2026-11-21", "23:00", &windows, true);
    check("2026-11-22", "02:59", &windows, true);
    check("2026-11-22", "03:00", &windows, false);
    check("2026-11-20", "23:30", &windows, false);
}

#[test]
fn days_go_on_across_the_end_of_the_week() {
    let windows = ["fri-mon 08:00-09:00"];
    for (date, open) in [
        ("2026-11-19", false),
        ("2026-11-20", true),
        ("2026-11-22", true),
        ("2026-11-23", true),
        ("2026-11-24", false),
    ] {
        check(date, "07:30", &windows, open);
    }
}

#[test]
fn any_of_several_windows_will_do_and_a_day_can_be_whole() {
    let windows = ["wed 10:00-11:00", "sun 00:00-24:00"];
    check("2026-11-22", "12:00", &windows, true);
    check("2026-11-18", "09:30", &windows, true);
    check("2026-11-18", "12:00", &windows, false);
}

#[test]
fn the_host_asks_again_at_the_edge_and_at_least_hourly() {
    let again = |utc| {
        let pools = Pools::at("2026-11-21", utc).pool("general", 1);
        let table = pools.table();
        let row = table.row(1).expect("a pool has three rows");
        let zone = TimeZone::named("UTC");
        let options = Options {
            zone,
            ..options(&["sat 22:00-23:30"])
        };
        MaintenanceWindow.allow(&row, &options).recheck_after()
    };
    let minutes = |count: u64| Some(Duration::from_secs(count * 60));
    assert_eq!(again("21:48"), minutes(12));
    assert_eq!(again("22:50"), minutes(40));
    assert_eq!(again("23:30"), minutes(60));
}

#[test]
fn windows_that_cannot_be_read_are_refused_by_name() {
    let problems = |windows: &[&str]| MaintenanceWindow.validate(&options(windows));
    assert!(problems(&["daily 01:00-05:00"]).is_empty());
    let empty = problems(&[]);
    assert_eq!(empty[0].path, "windows");
    let wrong = problems(&["daily 01:00-05:00", "weekends 1am"]);
    assert_eq!(wrong.len(), 1);
    assert!(
        wrong[0]
            .message
            .starts_with("has \"weekends 1am\"; expected DAYS START-END")
    );
}
