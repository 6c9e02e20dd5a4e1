//! Snapshots: a file is refused with words, or it is a world that can be planned for, written down and read again.
use plimsoll_snapshot::write::{Format, write};
use plimsoll_snapshot::{Limits, Loaded, read};

use crate::Draw;

/// A small shop: pools, nodes, pods.
const SHOP: &str = include_str!("../../../host/cli/tests/program/data/shop.yaml");

/// Values that somebody might write who means no good, or no thing at all.
const ODD: [&str; 24] = [
    "-1",
    "0",
    "1e309",
    "-0.0",
    ".nan",
    "9223372036854775807",
    "18446744073709551616",
    "1e-400",
    "100Ei",
    "-5m",
    "''",
    "null",
    "~",
    "true",
    "[]",
    "{}",
    "2026-02-30T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "-999999h",
    "In",
    "DoesNotExist",
    "&a",
    "*a",
    "kubernetes.io/hostname",
];

/// One file.
pub(crate) fn run(draw: &mut Draw) {
    let text = draw.reword(SHOP, &ODD);
    let mut bytes = text.into_bytes();
    if draw.once_in(4) {
        draw.change(&mut bytes);
    }
    let limits = Limits {
        text: 1 << 20,
        ..Limits::default()
    };
    match read(&*bytes, &limits) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(loaded) => {
            plimsoll_schedule::plan(&loaded.snapshot);
            let format = *draw.pick(&[Format::Yaml, Format::Json]);
            let written = written(&loaded, format);
            let again = read(&*written, &limits);
            let again = again.unwrap_or_else(|error| {
                panic_with(&format!("what was written is not read: {error}"), &written)
            });
            if self::written(&again, format) != written {
                panic_with("what was written is read as something else", &written);
            }
        }
    }
}

fn written(loaded: &Loaded, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    let Loaded {
        snapshot,
        changes,
        node_classes,
        catalogue,
        ..
    } = loaded;
    write(
        snapshot,
        (changes, node_classes),
        catalogue,
        format,
        &mut out,
    )
    .expect("memory takes what is written");
    out
}

#[expect(clippy::panic, reason = "a broken rule ends the input")]
fn panic_with(words: &str, text: &[u8]) -> ! {
    panic!("{words}: {}", String::from_utf8_lossy(text));
}
