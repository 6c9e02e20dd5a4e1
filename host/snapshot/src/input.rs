//! From a file to a snapshot with its changes and notes.

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;

use plimsoll_api::ResizeRule;
use plimsoll_model::snapshot::{Objects, Snapshot};

use crate::error::{LoadError, SnapshotError};
use crate::gather::Gatherer;
use crate::limits::Limits;
use crate::note::Note;
use crate::recording::TimedChange;
use crate::section::NodeClassEntry;
use crate::write::CatalogueText;
use crate::{decompress, json, resolve, yaml};

/// Byte-order mark that some editors put before UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// A snapshot, what follows it, and what was assumed.
#[derive(Debug)]
pub struct Loaded {
    /// The world at one instant.
    pub snapshot: Snapshot,
    /// The objects that it was made of, as they were read.
    pub objects: Objects,
    /// Node classes whose status has conditions that are not `True`, by kind and name; no decision reads them.
    pub node_classes: Vec<NodeClassEntry>,
    /// Changes after the snapshot, in order of time.
    pub changes: Vec<TimedChange>,
    /// Notes of assumptions, and of everything skipped.
    pub notes: Vec<Note>,
    /// Where the catalogue comes from, so that it can be written as short as it was read.
    pub catalogue: CatalogueText,
}

/// Reads a file.
pub fn read_path(path: &Path, limits: &Limits) -> Result<Loaded, LoadError> {
    let with_path = |error| LoadError {
        path: path.to_owned(),
        error,
    };
    let file = File::open(path).map_err(|error| with_path(SnapshotError::Io(error)))?;
    read(file, limits).map_err(with_path)
}

/// Reads a snapshot or recording: JSON or YAML, compressed or not, told apart by their first bytes. A stream of JSON documents that a
/// separator or comment of YAML interrupts goes on as YAML, as kubectl reads it.
pub fn read(source: impl Read, limits: &Limits) -> Result<Loaded, SnapshotError> {
    gathered(source, limits, Gatherer::default())
}

/// Reads what an API server gave: of an object that cannot be read what can be is, or it is skipped; notes tell of both. No pool is
/// assumed, and pods that are being resized count by the rule of the server's scheduler.
pub fn read_served(
    source: impl Read,
    limits: &Limits,
    resizes: ResizeRule,
) -> Result<Loaded, SnapshotError> {
    gathered(source, limits, Gatherer::of_served(resizes))
}

fn gathered(
    source: impl Read,
    limits: &Limits,
    mut gatherer: Gatherer,
) -> Result<Loaded, SnapshotError> {
    let mut text = decompress::text(source, limits)?;
    if text.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        text.consume(BYTE_ORDER_MARK.len());
    }
    if text.fill_buf()?.is_empty() {
        return Err(SnapshotError::Empty);
    }
    if is_json(&mut text)? {
        json::read(text, limits, &mut gatherer)?;
    } else {
        yaml::read(text, limits, 0, &mut gatherer)?;
    }
    gatherer.end()?;
    resolve::resolve(gatherer, limits)
}

/// `true` if a text begins as JSON does: with a list, or an object whose first key stands in double quotes. Other objects in braces are
/// YAML, and so is a text whose buffer is filled by white space.
fn is_json(text: &mut impl BufRead) -> Result<bool, SnapshotError> {
    let buffer = text.fill_buf()?;
    let mut marks = buffer.iter().filter(|byte| !byte.is_ascii_whitespace());
    Ok(match marks.next() {
        Some(b'[') => true,
        Some(b'{') => matches!(marks.next(), None | Some(b'"' | b'}')),
        _ => false,
    })
}
