//! One line per kind of call: how long calls took, against the core doing the same, and what one of them used.

use std::time::{Duration, Instant};

use plimsoll_policy::Called;

/// Durations of a number of calls, shortest first.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn of(calls: usize, mut call: impl FnMut()) -> Self {
        let mut times: Vec<Duration> = (0..calls)
            .map(|_| {
                let start = Instant::now();
                call();
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        Self(times)
    }

    /// Microseconds within which this many of a hundred calls ended.
    fn micros(&self, percent: usize) -> f64 {
        self.0[(self.0.len() - 1) * percent / 100].as_secs_f64() * 1e6
    }
}

/// Names of the columns.
pub(crate) fn head() -> String {
    format!(
        "{:<32}{:>8}{:>8}{:>8}{:>8}{:>8}{:>12}{:>10}{:>9}{:>8}",
        "call",
        "rows",
        "min us",
        "p50 us",
        "p99 us",
        "ratio",
        "fuel",
        "fuel/row",
        "mem KiB",
        "bytes"
    )
}

/// A line without what a module used.
pub(crate) fn line(name: &str, rows: usize, times: &Times, native: &Times) -> String {
    let ratio = times.micros(50) / native.micros(50);
    format!(
        "{name:<32}{rows:>8}{:>8.0}{:>8.0}{:>8.0}{ratio:>8.1}",
        times.micros(0),
        times.micros(50),
        times.micros(99),
    )
}

/// Times of calls that all have to be answered, and what one of them used.
pub(crate) fn asked<T>(calls: usize, rows: usize, call: impl Fn() -> Called<T>) -> (Times, String) {
    let answered = |called: &Called<T>| assert!(called.result.is_ok(), "a shipped module answers");
    let times = Times::of(calls, || answered(&call()));
    let Called {
        fuel, memory_peak, ..
    } = call();
    let per_row = fuel as f64 / rows as f64;
    let used = format!("{fuel:>12}{per_row:>10.1}{:>9}", memory_peak >> 10);
    (times, used)
}
