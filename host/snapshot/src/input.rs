//! From a file to a snapshot with its changes and notes.

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;

use plimsoll_core::snapshot::{Objects, Snapshot};

use crate::error::{LoadError, SnapshotError};
use crate::gather::Gatherer;
use crate::limits::Limits;
use crate::note::Note;
use crate::recording::TimedChange;
use crate::section::NodeClassEntry;
use crate::write::CatalogueText;
use crate::{decompress, json, resolve, yaml};

/// Byte-order mark that some editors put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

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
    /// Notes of assumptions, and of everything passed over.
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

/// Reads a snapshot or recording: JSON or YAML, compressed or not, told apart by their first bytes.
pub fn read(source: impl Read, limits: &Limits) -> Result<Loaded, SnapshotError> {
    let mut text = decompress::text(source, limits)?;
    if text.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        text.consume(BYTE_ORDER_MARK.len());
    }
    let mut gatherer = Gatherer::default();
    match first_mark(&mut text)? {
        None => return Err(SnapshotError::Empty),
        Some(b'{' | b'[') => json::read(text, limits, &mut gatherer)?,
        Some(_) => yaml::read(text, limits, &mut gatherer)?,
    }
    gatherer.end()?;
    resolve::resolve(gatherer)
}

/// The first byte that is no white space, or zero when white space fills the buffer; `None` when the text is empty.
fn first_mark(text: &mut impl BufRead) -> Result<Option<u8>, SnapshotError> {
    let buffer = text.fill_buf()?;
    if buffer.is_empty() {
        return Ok(None);
    }
    let mark = buffer.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(Some(mark.copied().unwrap_or(0)))
}
