//! Cuts a YAML stream into its documents, line by line and in bounded memory.
//!
//! A line that begins with three dashes begins a document wherever it stands, by the rules of YAML; nothing inside a
//! document can look like it.

use std::io::{self, BufRead, Read};

use crate::error::{Position, SnapshotError};

/// A YAML stream; as a reader, the text of the current document.
pub(crate) struct Documents<R> {
    input: R,
    /// Lines consumed from the input.
    line: u64,
    /// The line at hand, and how much of it was given out.
    buffer: Vec<u8>,
    given: usize,
    /// `true` if the line at hand begins the next document.
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
    /// A stream whose lines have at most `limit` bytes.
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            line: 0,
            buffer: Vec::new(),
            given: 0,
            at_next: false,
            limit,
            begin: 0,
            failure: None,
        }
    }

    /// Goes to the next document that has content; `false` when there is none.
    pub(crate) fn next(&mut self) -> Result<bool, SnapshotError> {
        while !self.at_next || self.given == self.buffer.len() {
            if !self.fetch()? {
                return Ok(false);
            }
            match self.kind() {
                Line::Content => self.at_next = true,
                Line::Begin => {
                    self.buffer.drain(..3);
                    self.at_next = self.kind() == Line::Content;
                }
                Line::End | Line::Directive | Line::Nothing => {}
            }
        }
        self.at_next = false;
        self.begin = self.line;
        Ok(true)
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
        Ok(read > 0)
    }

    fn kind(&self) -> Line {
        let is_marker = |marker: &[u8]| {
            let rest = self.buffer.strip_prefix(marker);
            rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
        };
        let text = self.buffer.trim_ascii();
        if is_marker(b"---") {
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
                    self.buffer.drain(..3);
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
