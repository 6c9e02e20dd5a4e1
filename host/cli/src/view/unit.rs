//! Numbers as documents write them: dollars, percentages, durations, instants.

use std::borrow::Cow;
use std::fmt;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_snapshot::section::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// Nano-dollars in a dollar.
const NANOS: f64 = 1e9;

/// Dollars as a number, exact to nine decimals up to nine million dollars; beyond, to fifteen digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dollars(i64);

impl Dollars {
    /// From nano-dollars.
    pub(crate) const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A rate in words: as a price, `$0.0960/h`.
    pub(crate) const fn per_hour(self) -> PricePerHour {
        PricePerHour::from_nanos(self.0)
    }
}

impl From<PricePerHour> for Dollars {
    fn from(price: PricePerHour) -> Self {
        Self(price.nanos())
    }
}

impl fmt::Display for Dollars {
    /// `0.0960`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4}", self.0 as f64 / NANOS)
    }
}

impl Serialize for Dollars {
    /// The double nearest to the amount, which is written with the fewest digits that name it: those of the amount, as long as
    /// there are no more than fifteen.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / NANOS)
    }
}

impl JsonSchema for Dollars {
    fn schema_name() -> Cow<'static, str> {
        "Dollars".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "description": "Dollars, exact to nine decimals."})
    }
}

/// A percentage with one decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Percent(i64);

/// Thousandths of a whole as a percentage.
pub(crate) const fn percent(thousandths: i64) -> Percent {
    Percent(thousandths)
}

/// The percentage that a part is of a whole; `None` where the whole is nothing.
pub(crate) fn share_of(part: u64, whole: u64) -> Option<Percent> {
    plimsoll_sim::thousandths(part, whole).map(Percent)
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / 10.0)
    }
}

impl JsonSchema for Percent {
    fn schema_name() -> Cow<'static, str> {
        "Percent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "description": "Percent, with one decimal."})
    }
}

/// An instant, such as `2026-01-31T09:00:00Z`.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Instant(String);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An instant as documents write it.
pub(crate) fn instant(instant: Timestamp) -> Instant {
    Instant(plimsoll_api::write::instant(instant))
}

impl JsonSchema for Instant {
    fn schema_name() -> Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// A duration such as `90s` written as `1m30s`.
pub(crate) const fn duration(span: Span) -> Duration {
    Duration(span)
}

/// Microseconds as a duration, such as `43.1us`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Micros(pub(crate) f64);

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.1}us", self.0))
    }
}

impl JsonSchema for Micros {
    fn schema_name() -> Cow<'static, str> {
        "Micros".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": r"^[0-9]+\.[0-9]us$"})
    }
}

/// Thousandths as a number.
pub(crate) fn thousandths(thousandths: i64) -> f64 {
    thousandths as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(nanos: i64) -> String {
        serde_json::to_string(&Dollars::from_nanos(nanos)).expect("a number")
    }

    #[test]
    fn dollars_keep_every_nano_dollar() {
        assert_eq!(written(96_000_000), "0.096");
        assert_eq!(written(-1), "-1e-9");
        assert_eq!(written(3_506_614_207_331), "3506.614207331");
        let mut nanos: i64 = 1;
        while nanos < 3_800_000_000_000_000 {
            for amount in [nanos, nanos + 1, nanos * 7 / 3, -nanos] {
                let read: f64 = written(amount).parse().expect("a number");
                let digits = format!("{read:.9}").replace('.', "");
                assert_eq!(digits.parse::<i64>().ok(), Some(amount));
            }
            nanos = nanos * 3 / 2 + 1;
        }
    }

    #[test]
    fn a_share_of_nothing_is_none() {
        assert_eq!(share_of(1, 3), Some(Percent(333)));
        assert_eq!(share_of(2, 3), Some(Percent(667)));
        assert_eq!(share_of(0, 0), None);
    }
}
