//! Nodes go in maintenance windows only. README.md says how windows are written.

mod window;

use std::time::Duration;

use plimsoll_sdk::budget::*;

use crate::window::Window;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Windows, each `DAYS START-END`, for instance `sat-sun 22:00-04:00` or `daily 01:00-05:00`.
    pub windows: Vec<String>,
    /// Whose clock the windows go by.
    #[setting(default = "UTC")]
    pub zone: TimeZone,
    /// `true` if empty nodes may be removed at any time.
    #[setting(default = true)]
    pub empty_at_any_time: bool,
    /// `true` if drifted nodes may be removed at any time.
    #[setting(default = false)]
    pub drifted_at_any_time: bool,
}

reasons! {
    OPEN = "a maintenance window is open",
    CLOSED = "no maintenance window is open",
    AT_ANY_TIME = "needs no window",
}

/// Only while a window is open.
#[derive(Debug)]
pub struct MaintenanceWindow;

impl Budget for MaintenanceWindow {
    type Settings = Options;

    fn allow(&self, pool: &Pool, options: &Options) -> Allowance {
        let needs_none = match pool.disruption() {
            Disruption::Emptiness => options.empty_at_any_time,
            Disruption::Drift => options.drifted_at_any_time,
            _ => false,
        };
        if needs_none {
            return Allowance::as_declared(AT_ANY_TIME);
        }
        let now = pool.local(&options.zone);
        let windows = || windows(options);
        let open_for = windows().filter_map(|window| window.open_for(now)).max();
        if let Some(minutes) = open_for {
            return Allowance::as_declared(OPEN).until(time(minutes));
        }
        let opens_in = windows().map(|window| window.opens_in(now)).min();
        Allowance::none(CLOSED).until(time(opens_in.unwrap_or(HOUR)))
    }

    fn validate(&self, options: &Options) -> Vec<Problem> {
        if options.windows.is_empty() {
            let message = "is empty, so no node would ever go; expected at least one window";
            return vec![Problem {
                path: String::from("windows"),
                message: String::from(message),
            }];
        }
        let reads = |text: &str| Window::parse(text).is_some();
        let expected = "DAYS START-END, for instance sat-sun 22:00-04:00 or daily 01:00-05:00";
        unreadable("windows", &options.windows, reads, expected)
    }
}

export_budget!(MaintenanceWindow);

/// Minutes of an hour: the clock may be set forward or back, so that no window is further than that from where it seems.
const HOUR: u32 = 60;

fn windows(options: &Options) -> impl Iterator<Item = Window> {
    let texts = options.windows.iter();
    texts.filter_map(|window| Window::parse(window))
}

/// When to ask again: at the next edge of a window, and hourly until then, since clocks are set forward and back.
fn time(minutes: u32) -> Duration {
    Duration::from_secs(u64::from(minutes.clamp(1, HOUR)) * 60)
}
