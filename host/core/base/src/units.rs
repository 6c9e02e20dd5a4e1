//! Money, as an integer number of nano-dollars per hour, so that sums do not depend on their order.
//!
//! CPU and memory amounts live in [`crate::resources`]; time in [`crate::time`].

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};

const NANOS_PER_DOLLAR: f64 = 1e9;

/// The largest price a policy or a price list may name, in dollars per hour.
pub const MAX_DOLLARS_PER_HOUR: f64 = 100_000.0;

/// Dollars per hour for one node, in nano-dollars. May be negative as a difference.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PricePerHour(i64);

impl PricePerHour {
    /// Nothing at all.
    pub const ZERO: Self = Self(0);

    /// From whole nano-dollars per hour.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// From dollars per hour, rounded to the nearest nano-dollar; `None` for NaN, infinity and anything outside
    /// plus or minus [`MAX_DOLLARS_PER_HOUR`].
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        if dollars.is_finite() && dollars.abs() <= MAX_DOLLARS_PER_HOUR {
            let nanos = nearest(dollars.abs() * NANOS_PER_DOLLAR);
            Some(Self(if dollars < 0.0 { -nanos } else { nanos }))
        } else {
            None
        }
    }

    /// The same of what is known to lie in 0 to [`MAX_DOLLARS_PER_HOUR`].
    pub fn of_valid_dollars(dollars: f64) -> Self {
        Self(nearest(dollars * NANOS_PER_DOLLAR))
    }

    /// Whole nano-dollars per hour.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Dollars per hour, for people and for the columns that policies read.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / NANOS_PER_DOLLAR
    }
}

/// The nearest whole number, halves up, of a float of 0 to 1e14, which its mantissa can hold. Written out, since the processors
/// we build for have no instruction for it and thousands of prices are read per question: beside a large enough float nothing
/// is left of a fraction, and its last bits are the whole number, a half rounded to the even side.
fn nearest(value: f64) -> i64 {
    const LARGE: f64 = (1_u64 << 52) as f64;
    let beside = value + LARGE;
    let whole = beside.to_bits().wrapping_sub(LARGE.to_bits());
    let rest = value - (beside - LARGE);
    whole.cast_signed().wrapping_add(i64::from(rest >= 0.5))
}

impl fmt::Display for PricePerHour {
    /// `$0.0960/h`, `-$0.0960/h`; with a plus sign asked for, `+$0.0960/h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.0 {
            ..0 => "-",
            _ if f.sign_plus() => "+",
            _ => "",
        };
        write!(f, "{sign}${:.4}/h", self.dollars().abs())
    }
}

impl Add for PricePerHour {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for PricePerHour {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for PricePerHour {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<i64> for PricePerHour {
    type Output = Self;
    fn mul(self, times: i64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Sum for PricePerHour {
    fn sum<I: Iterator<Item = Self>>(prices: I) -> Self {
        prices.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_with_its_sign_in_front() {
        let shown = |nanos| {
            let price = PricePerHour::from_nanos(nanos);
            [price.to_string(), format!("{price:+}")]
        };
        assert_eq!(shown(38_000_000), ["$0.0380/h", "+$0.0380/h"]);
        assert_eq!(shown(-25_000_000), ["-$0.0250/h", "-$0.0250/h"]);
    }

    #[test]
    fn dollars_round_to_the_nearest_nano_dollar() {
        assert_eq!(
            PricePerHour::from_dollars(0.096).map(PricePerHour::nanos),
            Some(96_000_000)
        );
        assert_eq!(
            PricePerHour::from_dollars(1e-9).map(PricePerHour::nanos),
            Some(1)
        );
        assert_eq!(
            PricePerHour::from_dollars(-0.096).map(PricePerHour::nanos),
            Some(-96_000_000)
        );
    }

    #[test]
    fn halves_round_up_as_everywhere_else() {
        let close = [
            0.0,
            0.5,
            0.499_999_999_999_999_94,
            1.5,
            2.5,
            99_999_999_999_999.5,
        ];
        let spread = (0..10_000).map(|step| f64::from(step) * 9_876_543.21 + 0.3);
        for value in close.into_iter().chain(spread) {
            assert!(
                (nearest(value) as f64 - value.round()).abs() < 0.5,
                "{value}"
            );
        }
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for dollars in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 100_000.1] {
            assert_eq!(PricePerHour::from_dollars(dollars), None, "{dollars}");
        }
    }
}
