//! Cuts a YAML stream into its documents, line by line and in bounded memory.
//!
//! A line that begins with three dashes begins a document wherever it stands, by the rules of YAML; nothing inside a
//! document can look like it. A byte-order mark at the beginning of a line, where files were joined, is left out.

use std::io::{self, BufRead, Read};

use crate::error::{Position, SnapshotError};
use crate::input::BYTE_ORDER_MARK;

/// The line, or its beginning, that separates two documents.
const SEPARATOR: &[u8] = b"---";

/// A YAML stream; as a reader, the text of the current document.
pub(crate) struct Documents<R> {
    input: R,
    /// Lines consumed from the input.
    line: u64,
    /// The line at hand, and how much of it was given out.
    buffer: Vec<u8>,
    given: usize,
    /// `true` if a separator ended the document, and the line at hand is what stands behind it.
    at_next: bool,
    /// Longest line allowed.
    limit: usize,
    /// Line at which the current document begins.
    begin: u64,
    failure: Option<SnapshotError>,
}

/// Meaning of a line for the stream.
#[derive(PartialEq, Eq)]
enum Line {
    /// `---`, perhaps with content behind it.
    Begin,
    /// `...`
    End,
    /// A directive.
    Directive,
    /// Blank, or a comment.
    Nothing,
    /// Content.
    Content,
}

impl<R: BufRead> Documents<R> {
    /// A stream whose lines have at most `limit` bytes, and that begins behind so many lines of a text.
    pub(crate) fn new(input: R, limit: usize, lines_before: u64) -> Self {
        Self {
            input,
            line: lines_before,
            buffer: Vec::new(),
            given: 0,
            at_next: false,
            limit,
            begin: 0,
            failure: None,
        }
    }

    /// Goes to the next document that has content; `false` when there is none. What stands between two separators may be nothing, or
    /// comments alone.
    pub(crate) fn next(&mut self) -> Result<bool, SnapshotError> {
        let mut is_at_hand = std::mem::take(&mut self.at_next);
        while is_at_hand || self.fetch()? {
            is_at_hand = false;
            if self.kind() == Line::Begin {
                self.buffer.drain(..SEPARATOR.len());
            }
            if self.kind() == Line::Content {
                self.begin = self.line;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The line at which the current document begins, from 1.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// The failure while the document was read as a stream; `None` after the first call, or where there was none.
    pub(crate) fn take_failure(&mut self) -> Option<SnapshotError> {
        self.failure.take()
    }

    /// Reads one line into the buffer; `false` at the end.
    fn fetch(&mut self) -> Result<bool, SnapshotError> {
        self.buffer.clear();
        self.given = 0;
        let most = self.limit as u64 + 1;
        let read = (&mut self.input)
            .take(most)
            .read_until(b'\n', &mut self.buffer)?;
        let position = Position {
            line: self.line + 1,
            column: 1,
        };
        if read > self.limit {
            return Err(SnapshotError::TooLarge {
                position,
                what: "a line",
                limit: self.limit,
            });
        }
        if let Err(error) = std::str::from_utf8(&self.buffer) {
            let column = error.valid_up_to() as u64 + 1;
            return Err(SnapshotError::NotText {
                position: Position { column, ..position },
            });
        }
        self.line += 1;
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(read > 0)
    }

    fn kind(&self) -> Line {
        let is_marker = |marker: &[u8]| {
            let rest = self.buffer.strip_prefix(marker);
            rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
        };
        let text = self.buffer.trim_ascii();
        if is_marker(SEPARATOR) {
            Line::Begin
        } else if is_marker(b"...") {
            Line::End
        } else if self.buffer.starts_with(b"%") {
            Line::Directive
        } else if text.is_empty() || text.starts_with(b"#") {
            Line::Nothing
        } else {
            Line::Content
        }
    }

    /// The next bytes of the document.
    fn more(&mut self, into: &mut [u8]) -> Result<usize, SnapshotError> {
        if self.at_next {
            return Ok(0);
        }
        if self.given == self.buffer.len() {
            if !self.fetch()? {
                return Ok(0);
            }
            match self.kind() {
                Line::Begin => {
                    self.buffer.drain(..SEPARATOR.len());
                    self.at_next = true;
                    return Ok(0);
                }
                Line::End => {
                    self.buffer.clear();
                    self.at_next = true;
                    return Ok(0);
                }
                Line::Directive | Line::Nothing | Line::Content => {}
            }
        }
        let rest = &self.buffer[self.given..];
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.given += length;
        Ok(length)
    }
}

impl<R: BufRead> Read for Documents<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.more(into).map_err(|error| {
            let told = io::Error::other(error.to_string());
            self.failure = Some(error);
            told
        })
    }
}
