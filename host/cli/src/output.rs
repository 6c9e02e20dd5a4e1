//! How results are shown: tables for people, JSON and YAML for programs.

use std::io::Write;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::flags::Format;

/// Shows a value: `table` for people, the value itself for programs.
pub(crate) fn show<T: Serialize>(
    format: Format,
    value: &T,
    table: impl FnOnce() -> String,
) -> Result<()> {
    let text = match format {
        Format::Table => table(),
        Format::Json => serde_json::to_string_pretty(value).context("output")? + "\n",
        Format::Yaml => serde_saphyr::to_string(value).context("output")?,
    };
    print(&text)
}

/// Writes to standard output. A reader that has gone away is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("standard output"),
    }
}

/// Rows of cells as a table: first column to the left, the others to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut result = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            if column == 0 {
                line.push_str(cell);
                line.push_str(&pad);
            } else {
                line.push_str("   ");
                line.push_str(&pad);
                line.push_str(cell);
            }
        }
        result.push_str(line.trim_end());
        result.push('\n');
    }
    result
}

/// A number with commas between thousands: `12,345`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut result = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    result
}

/// Nano-dollars as dollars and cents: `$ 4,812.20`.
pub(crate) fn dollars(nanos: i64) -> String {
    let cents = (i128::from(nanos) + 5_000_000) / 10_000_000;
    let whole = u64::try_from(cents / 100).unwrap_or(0);
    format!("$ {}.{:02}", thousands(whole), (cents % 100).abs())
}

/// A ratio with three digits: `1.008 x`.
pub(crate) fn ratio(part: i64, whole: i64) -> String {
    if whole <= 0 {
        "-".to_owned()
    } else {
        format!("{:.3} x", part as f64 / whole as f64)
    }
}

/// A change in percent: `-8.7 %`.
pub(crate) fn change(to: i64, from: i64) -> String {
    if from == 0 {
        "-".to_owned()
    } else {
        format!("{:+.1} %", (to - from) as f64 * 100.0 / from as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_rounded_to_cents_and_grouped() {
        assert_eq!(dollars(4_812_195_000_000), "$ 4,812.20");
        assert_eq!(dollars(0), "$ 0.00");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(999), "999");
    }

    #[test]
    fn columns_line_up() {
        let rows = [
            vec!["a".into(), "12".into()],
            vec!["long".into(), "3".into()],
        ];
        assert_eq!(table(&rows), "a      12\nlong    3\n");
    }
}
