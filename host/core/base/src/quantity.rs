//! Kubernetes quantities such as `250m`, `1.5Gi` or `2e3`, read exactly.
//!
//! An amount is an `i64` in the smallest unit the scheduler counts: milli-cores for cpu, whole units (bytes, pods,
//! devices) for everything else. What is finer than that is rounded up, as the API server does.

use thiserror::Error;

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// Not a number with an optional suffix.
    #[error("\"{0}\" is not a quantity; expected a number such as 2, 1.5, 250m or 4Gi")]
    Malformed(String),
    /// Below zero.
    #[error("is \"{0}\"; a quantity must not be negative")]
    Negative(String),
    /// More than an `i64` of the smallest unit.
    #[error("is \"{0}\", more than can be counted (9.2e18)")]
    TooLarge(String),
}

/// Digits after the decimal point beyond which nothing changes a rounded-up `i64`.
const MAX_DIGITS: usize = 30;

/// Reads a quantity in thousandths, for cpu.
pub fn parse_milli(text: &str) -> Result<i64, QuantityError> {
    parse_scaled(text, 3)
}

/// Reads a quantity in whole units, for memory, pods and devices.
pub fn parse_units(text: &str) -> Result<i64, QuantityError> {
    parse_scaled(text, 0)
}

/// Reads `text` in units of 10^-`scale`, rounding up.
fn parse_scaled(text: &str, scale: i32) -> Result<i64, QuantityError> {
    let malformed = || QuantityError::Malformed(text.to_owned());
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let number_end = unsigned
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(number_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(malformed());
    }
    let (two, ten) = exponents(suffix).ok_or_else(malformed)?;
    let digits: String = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    if negative {
        return Err(QuantityError::Negative(text.to_owned()));
    }
    let too_large = || QuantityError::TooLarge(text.to_owned());
    let kept = digits.len().min(MAX_DIGITS);
    let dropped = digits.len() - kept;
    let mut mantissa: i128 = digits[..kept].parse().map_err(|_| malformed())?;
    if digits[kept..].bytes().any(|digit| digit != b'0') {
        mantissa += 1;
    }
    let fraction_digits = i32::try_from(fraction.len()).map_err(|_| malformed())?;
    let dropped = i32::try_from(dropped).map_err(|_| malformed())?;
    let power = ten
        .saturating_add(scale)
        .saturating_add(dropped)
        .saturating_sub(fraction_digits);
    scaled_up(mantissa, two, power).ok_or_else(too_large)
}

/// `mantissa` x 2^`two` x 10^`ten`, rounded up; `None` when it does not fit.
fn scaled_up(mantissa: i128, two: u32, ten: i32) -> Option<i64> {
    let mut value = mantissa.checked_mul(1_i128.checked_shl(two)?)?;
    if ten >= 0 {
        value = value.checked_mul(10_i128.checked_pow(ten.unsigned_abs())?)?;
    } else {
        let divisor = 10_i128.checked_pow(ten.unsigned_abs()).unwrap_or(i128::MAX);
        value = value / divisor + i128::from(value % divisor != 0);
    }
    i64::try_from(value).ok()
}

/// Powers of two and of ten that a suffix stands for.
fn exponents(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            (0, exponent.parse().ok()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_scale() {
        for (text, units) in [
            ("0", 0),
            ("12", 12),
            ("1.5", 2),
            ("1k", 1000),
            ("1Ki", 1024),
            ("1.5Gi", 1_610_612_736),
            ("2e3", 2000),
            ("2E3", 2000),
            ("1E", 1_000_000_000_000_000_000),
            ("100m", 1),
            (".5", 1),
            ("5.", 5),
            ("0.0000000000000000000000000000000000001", 1),
        ] {
            assert_eq!(parse_units(text), Ok(units), "{text}");
        }
        for (text, milli) in [
            ("250m", 250),
            ("2", 2000),
            ("0.1", 100),
            ("1u", 1),
            ("1500000n", 2),
            ("-0", 0),
        ] {
            assert_eq!(parse_milli(text), Ok(milli), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_kind() {
        for text in [
            "", "m", "-", "1.2.3", "1 Gi", "1GiB", "0x10", "e3", "1e", "\u{661}",
        ] {
            assert!(
                matches!(parse_units(text), Err(QuantityError::Malformed(_))),
                "{text:?}"
            );
        }
        assert!(matches!(parse_milli("-2"), Err(QuantityError::Negative(_))));
        for text in [
            "10E",
            "8Ei",
            "1e30",
            "99999999999999999999999999999999999999999",
            "1e2000000000",
        ] {
            assert!(
                matches!(parse_units(text), Err(QuantityError::TooLarge(_))),
                "{text}"
            );
        }
    }
}
