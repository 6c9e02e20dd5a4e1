//! Finds where values begin and end without building them, in bounded memory, and counts lines.
//!
//! The scanner only balances brackets outside strings; what it captures is checked by the parser that reads it.

use std::io::BufRead;

use crate::error::{Position, SnapshotError};

/// A pull scanner over a text.
pub(crate) struct Scanner<R> {
    input: R,
    position: Position,
}

/// State of the scan through the bytes of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside strings, inside so many brackets.
    Plain,
    /// In a string.
    Text,
    /// In a string, after a backslash.
    Escaped,
}

impl<R: BufRead> Scanner<R> {
    /// At the beginning of a text.
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            position: Position { line: 1, column: 1 },
        }
    }

    /// The place of the next byte.
    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// The bytes not consumed, and how many lines of the text lie before the one on which they begin.
    pub(crate) fn into_rest(self) -> (R, u64) {
        (self.input, self.position.line - 1)
    }

    /// An error at the next byte.
    pub(crate) fn unexpected(&self, words: impl Into<String>) -> SnapshotError {
        SnapshotError::Json {
            position: self.position,
            words: words.into(),
        }
    }

    /// The next byte that is not white space, not consumed; `None` at the end.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, SnapshotError> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let mark = buffer.iter().position(|byte| !byte.is_ascii_whitespace());
            let blank = mark.unwrap_or(buffer.len());
            let byte = mark.map(|at| buffer[at]);
            self.position.after(&buffer[..blank]);
            self.input.consume(blank);
            if byte.is_some() {
                return Ok(byte);
            }
        }
    }

    /// Consumes `byte` if it comes next.
    pub(crate) fn take(&mut self, byte: u8) -> Result<bool, SnapshotError> {
        let is_next = self.peek()? == Some(byte);
        if is_next {
            self.advance(byte);
        }
        Ok(is_next)
    }

    /// Consumes `byte`, which must come next.
    pub(crate) fn expect(&mut self, byte: u8, inside: &'static str) -> Result<(), SnapshotError> {
        match self.peek()? {
            None => Err(self.truncated(inside)),
            Some(next) if next == byte => {
                self.advance(byte);
                Ok(())
            }
            Some(_) => Err(self.unexpected(format!("expected {} in {inside}", char::from(byte)))),
        }
    }

    /// The text ends here, within something.
    pub(crate) fn truncated(&self, inside: &'static str) -> SnapshotError {
        SnapshotError::Truncated {
            position: self.position,
            inside,
        }
    }

    fn advance(&mut self, byte: u8) {
        self.input.consume(1);
        self.position.after(&[byte]);
    }

    /// Copies the next value into `into`, which is emptied first. Gives where it begins.
    pub(crate) fn capture(
        &mut self,
        into: &mut Vec<u8>,
        what: &'static str,
        limit: usize,
    ) -> Result<Position, SnapshotError> {
        into.clear();
        if self.peek()?.is_none() {
            return Err(self.truncated(what));
        }
        let begin = self.position;
        let mut state = State::Plain;
        let mut depth = 0_usize;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                // A bare number or word may end with the text; anything else is cut short.
                let is_scalar = depth == 0 && state == State::Plain && !into.is_empty();
                return if is_scalar {
                    checked(begin, into)
                } else {
                    Err(self.truncated(what))
                };
            }
            let (length, is_whole) = run(buffer, &mut state, &mut depth, into.is_empty());
            if into.len() + length > limit {
                return Err(SnapshotError::TooLarge {
                    position: begin,
                    what,
                    limit,
                });
            }
            into.extend_from_slice(&buffer[..length]);
            self.position.after(&buffer[..length]);
            self.input.consume(length);
            if is_whole {
                return checked(begin, into);
            }
        }
    }
}

/// How many bytes of the buffer belong to the value, and whether it ends there.
fn run(buffer: &[u8], state: &mut State, depth: &mut usize, mut is_first: bool) -> (usize, bool) {
    for (at, &byte) in buffer.iter().enumerate() {
        match *state {
            State::Escaped => *state = State::Text,
            State::Text if byte == b'\\' => *state = State::Escaped,
            State::Text if byte == b'"' => {
                *state = State::Plain;
                if *depth == 0 {
                    return (at + 1, true);
                }
            }
            State::Text => {}
            State::Plain => match byte {
                b'"' => *state = State::Text,
                b'{' | b'[' => *depth += 1,
                // A value never begins with a closing mark; taken as one byte, the parser refuses it.
                b'}' | b']' | b',' | b':' if *depth == 0 => {
                    return (if is_first { at + 1 } else { at }, true);
                }
                b'}' | b']' => {
                    *depth -= 1;
                    if *depth == 0 {
                        return (at + 1, true);
                    }
                }
                _ if *depth == 0 && byte.is_ascii_whitespace() => return (at, true),
                _ => {}
            },
        }
        is_first = false;
    }
    (buffer.len(), false)
}

fn checked(begin: Position, value: &[u8]) -> Result<Position, SnapshotError> {
    match std::str::from_utf8(value) {
        Ok(_) => Ok(begin),
        Err(error) => {
            let mut position = begin;
            position.after(&value[..error.valid_up_to()]);
            Err(SnapshotError::NotText { position })
        }
    }
}

impl Position {
    /// Moves behind some bytes.
    pub(crate) fn after(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
    }

    /// The place that is at `line` and `column` of a value that begins here.
    pub(crate) fn inside(self, line: usize, column: usize) -> Self {
        let (line, column) = (line as u64, column as u64);
        if line <= 1 {
            Self {
                line: self.line,
                column: self.column + column.saturating_sub(1),
            }
        } else {
            Self {
                line: self.line + line - 1,
                column,
            }
        }
    }
}
