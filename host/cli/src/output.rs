//! Output: tables for people, JSON and YAML for programs, on stdout or into files.
//!
//! What cannot be written is a failure of the environment. A file is whole or not there: it is written under another name
//! beside its place and renamed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::failure::Environment;
use crate::flags::Format;
use crate::view::{Document, Framed};

/// Rights of a new file before the user's mask.
#[cfg(unix)]
const FILE_MODE: u32 = 0o666;

/// Shows a result: `table` for people, `document` for programs.
pub(crate) fn show<T: Document>(
    format: Format,
    document: impl FnOnce() -> T,
    table: impl FnOnce() -> String,
) -> Result<()> {
    let text = match format {
        Format::Table => table(),
        Format::Json => json(&Framed::of(&document()))?,
        Format::Yaml => serde_saphyr::to_string(&Framed::of(&document())).context("output")?,
    };
    print(&text)
}

/// A value as JSON for programs and people: one field per line.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value).context("output")? + "\n")
}

/// Writes to standard output. A reader that has gone away is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

fn print_bytes(content: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(content).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(unwritten(Path::new("standard output"), &error)),
        Ok(()) => Ok(()),
    }
}

/// Writes a file, whole or not at all; `-` is standard output. What is there and no regular file, such as a device or a pipe,
/// is written to as it stands.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        return print_bytes(content);
    }
    let (path, is_special) = target(path);
    let written = if is_special {
        fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|mut file| file.write_all(content))
    } else {
        replace(&path, content)
    };
    written.map_err(|error| unwritten(&path, &error))
}

/// The file behind a path, links followed, and whether it is there and none that can be replaced, such as a device or a pipe.
pub(crate) fn target(path: &Path) -> (PathBuf, bool) {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_special = fs::metadata(&path).is_ok_and(|known| !known.is_file());
    (path, is_special)
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// A file of another name beside the one that it will be.
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".plimsoll-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(FILE_MODE));
    builder.tempfile_in(folder)
}

/// The failure of a file that cannot be written.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> anyhow::Error {
    Environment(format!("{} cannot be written: {error}", path.display())).into()
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

/// Rows of cells as a table of texts: every column to the left.
pub(crate) fn texts(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            cells(column)
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let padded = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        let line = padded.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Bytes for people: `38.9 KB`.
pub(crate) fn kilobytes(bytes: usize) -> String {
    format!("{:.1} KB", bytes as f64 / 1000.0)
}

/// `1 case`, `2 cases`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number as u64))
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

/// A number as policies give it: four digits behind the point at most, and none that say nothing.
pub(crate) fn number(value: f64) -> String {
    if value >= f64::from(u32::MAX) {
        return "without limit".to_owned();
    }
    let digits = format!("{value:.4}");
    digits
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// Nano-dollars as dollars and cents, halves away from zero: `$ 4,812.20`, `-$ 12.34`.
pub(crate) fn dollars(nanos: i64) -> String {
    let cents = (nanos.unsigned_abs() + 5_000_000) / 10_000_000;
    let minus = if nanos < 0 && cents > 0 { "-" } else { "" };
    format!("{minus}$ {}.{:02}", thousands(cents / 100), cents % 100)
}

/// A ratio with three digits: `1.008 x`; `-` where the whole is nothing beside the part, such as a bound that free reservations meet.
pub(crate) fn ratio(part: i64, whole: i64) -> String {
    if whole <= part / 1000 {
        "-".to_owned()
    } else {
        format!("{:.3} x", part as f64 / whole as f64)
    }
}

/// Thousandths as a share: `8.7 %`.
pub(crate) fn percent(thousandths: i64) -> String {
    let minus = if thousandths < 0 { "-" } else { "" };
    let size = thousandths.unsigned_abs();
    format!("{minus}{}.{} %", size / 10, size % 10)
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
    fn a_whole_that_is_nothing_beside_its_part_makes_no_ratio() {
        assert_eq!(ratio(1_008, 1_000), "1.008 x");
        assert_eq!(ratio(448_000_000_000, 1_000), "-");
        assert_eq!(ratio(0, 0), "-");
    }

    #[test]
    fn money_is_rounded_to_cents_and_grouped() {
        assert_eq!(dollars(4_812_195_000_000), "$ 4,812.20");
        assert_eq!(dollars(0), "$ 0.00");
        assert_eq!(dollars(-12_335_000_000), "-$ 12.34");
        assert_eq!(dollars(-4_000_000), "$ 0.00");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(999), "999");
    }

    #[test]
    fn numbers_have_no_digits_that_say_nothing() {
        let shown = [0.041_25, 3.0, 0.0, -120.5, f64::INFINITY].map(number);
        assert_eq!(shown, ["0.0413", "3", "0", "-120.5", "without limit"]);
    }

    #[test]
    fn a_negative_share_has_its_sign_once() {
        assert_eq!(
            [-69, -3, 0, 871].map(percent),
            ["-6.9 %", "-0.3 %", "0.0 %", "87.1 %"]
        );
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
