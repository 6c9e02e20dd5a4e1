//! Tests that cannot run on this machine say so where everybody sees it.

use std::io::Write as _;

/// Writes `NOT RUN: TEST: REASON` to standard error, past the test harness, which keeps what a passing test prints to itself.
/// `tests/run.py` counts such a test as skipped.
///
/// # Panics
///
/// When standard error is closed: a test that is skipped in silence would count as passed.
pub fn not_run(test: &str, reason: &str) {
    let line = format!("NOT RUN: {test}: {reason}\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("standard error takes a line");
}
