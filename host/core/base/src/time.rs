//! Instants and spans, handed in and never read from a clock.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// An instant: milliseconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// A span of time in milliseconds; never negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Span(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The span from `earlier` to here; nothing when `earlier` is later.
    pub fn since(self, earlier: Self) -> Span {
        Span::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// From milliseconds; a negative number counts as nothing.
    pub const fn from_millis(millis: i64) -> Self {
        Self(if millis < 0 { 0 } else { millis })
    }

    /// From seconds; a negative number counts as nothing.
    pub const fn from_secs(seconds: i64) -> Self {
        Self::from_millis(seconds.saturating_mul(1000))
    }

    /// Milliseconds.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Hours, for money.
    pub fn hours(self) -> f64 {
        self.0 as f64 / 3_600_000.0
    }
}

impl Add<Span> for Timestamp {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Timestamp {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Span {
    /// `45s`, `2m30s`, `3h`, `1.5s`: the two largest units that are not nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 60_000 {
            return if self.0 % 1000 == 0 {
                write!(f, "{}s", self.0 / 1000)
            } else {
                write!(f, "{:.1}s", self.0 as f64 / 1000.0)
            };
        }
        let seconds = self.0 / 1000;
        let units = [(86_400, "d"), (3600, "h"), (60, "m"), (1, "s")];
        let mut rest = seconds;
        let mut shown = 0;
        for (size, unit) in units {
            let count = rest / size;
            rest %= size;
            if count > 0 {
                write!(f, "{count}{unit}")?;
                shown += 1;
            }
            if shown == 2 || (shown == 1 && count == 0) {
                break;
            }
        }
        Ok(())
    }
}
