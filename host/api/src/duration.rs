//! Durations as the API writes them: `90s`, `1h30m`, `1.5h`, and where allowed `Never`.

use plimsoll_base::time::Span;

use crate::error::FieldError;

/// The form of a duration, for error messages.
pub const EXPECTED: &str = "a duration such as 30s, 15m or 1h30m";
/// The form of a duration that may also be `Never`, for error messages.
pub const EXPECTED_OR_NEVER: &str = "a duration such as 30s, 15m or 1h30m, or Never";

/// Units by suffix, in microseconds; longer suffixes first.
const UNITS: [(&str, f64); 7] = [
    ("ns", 1e-3),
    ("us", 1.0),
    ("µs", 1.0),
    ("ms", 1e3),
    ("s", 1e6),
    ("m", 6e7),
    ("h", 3.6e9),
];

/// The longest duration read: a thousand years.
const MAX_MICROSECONDS: f64 = 3.2e16;

/// Reads a duration that is not negative; `None` for anything else. Parts of a millisecond are rounded.
pub fn parse(text: &str) -> Option<Span> {
    if text == "0" {
        return Some(Span::ZERO);
    }
    let mut rest = text;
    let mut microseconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let unit_end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let (_, scale) = UNITS.iter().find(|(unit, _)| *unit == &rest[..unit_end])?;
        microseconds += number * scale;
        rest = &rest[unit_end..];
    }
    if text.is_empty() || microseconds > MAX_MICROSECONDS {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most 3.2e13 after the check"
    )]
    Some(Span::from_millis((microseconds / 1e3).round() as i64))
}

/// Reads a duration of a field.
pub fn read(path: &str, text: &str) -> Result<Span, FieldError> {
    parse(text).ok_or_else(|| FieldError::unexpected(path, text, EXPECTED))
}

/// Reads a duration or `Never`, which is `None`.
pub fn read_or_never(path: &str, text: &str) -> Result<Option<Span>, FieldError> {
    if text == "Never" {
        return Ok(None);
    }
    parse(text)
        .map(Some)
        .ok_or_else(|| FieldError::unexpected(path, text, EXPECTED_OR_NEVER))
}

/// Writes a duration so that [`parse`] reads the same: hours, minutes and seconds such as `1h30m`, or milliseconds where these
/// do not do.
pub fn write(span: Span) -> String {
    let seconds = span.millis() / 1000;
    if span.millis() % 1000 != 0 || seconds < 0 {
        return format!("{}ms", span.millis());
    }
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
    ];
    let written = parts.iter().filter(|(amount, _)| *amount > 0);
    let text: Vec<String> = written
        .map(|(amount, unit)| format!("{amount}{unit}"))
        .collect();
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text.concat()
    }
}

/// Writes a duration with every part from its largest on, as Go does: `1h0m0s`, `1m30s`, `1.5s`, `250ms`.
pub fn write_whole(span: Span) -> String {
    let millis = span.millis();
    if millis < 1000 {
        return write(span);
    }
    let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
    let rest = format!("{}.{:03}", millis / 1000 % 60, millis % 1000);
    let seconds = rest.trim_end_matches('0').trim_end_matches('.');
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_durations_have_all_parts_from_the_largest_on() {
        for (millis, text) in [
            (0, "0s"),
            (30_000, "30s"),
            (60_000, "1m0s"),
            (90_000, "1m30s"),
            (3_600_000, "1h0m0s"),
            (90_061_000, "25h1m1s"),
            (250, "250ms"),
            (1_500, "1.5s"),
            (600_050, "10m0.05s"),
            (620_000, "10m20s"),
        ] {
            assert_eq!(write_whole(Span::from_millis(millis)), text);
            assert_eq!(parse(text), Some(Span::from_millis(millis)));
        }
    }

    #[test]
    fn durations_add_up_their_parts() {
        for (text, millis) in [
            ("0", 0),
            ("0s", 0),
            ("90s", 90_000),
            ("1h30m", 5_400_000),
            ("1.5h", 5_400_000),
            ("10m0s", 600_000),
            ("250ms", 250),
            ("720h", 2_592_000_000),
        ] {
            assert_eq!(parse(text), Some(Span::from_millis(millis)), "{text}");
            assert_eq!(parse(&write(Span::from_millis(millis))), parse(text));
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "5",
            "-5s",
            "5d",
            "s",
            "1..5h",
            "5 s",
            "Never",
            "9e9h",
            "99999999999999h",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
