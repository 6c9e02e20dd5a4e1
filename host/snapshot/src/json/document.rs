//! The outer frame of a JSON text: lists, our section, single objects, several documents in a row.
//!
//! A separator or comment of YAML between two documents ends the JSON: what follows is read as YAML, of which JSON is a part.

use std::io::BufRead;

use serde_json::Value;

use super::scan::Scanner;
use crate::error::SnapshotError;
use crate::gather::Gatherer;
use crate::limits::Limits;
use crate::yaml;

/// Reads every document of a text.
pub(crate) fn read(
    input: impl BufRead,
    limits: &Limits,
    gatherer: &mut Gatherer,
) -> Result<(), SnapshotError> {
    let mut frame = Frame {
        scanner: Scanner::new(input),
        limits,
        gatherer,
        buffer: Vec::new(),
    };
    while let Some(byte) = frame.scanner.peek()? {
        match byte {
            b'{' => frame.document()?,
            b'[' => frame.list()?,
            b'n' => frame.nothing()?,
            b'-' | b'#' => {
                let (rest, lines_before) = frame.scanner.into_rest();
                return yaml::read(rest, limits, lines_before, frame.gatherer);
            }
            _ => return Err(frame.scanner.unexpected(EXPECTED)),
        }
    }
    Ok(())
}

/// What a document may be.
const EXPECTED: &str = "expected an object or a list of objects";

/// Kind of the elements of a list.
#[derive(Clone, Copy)]
enum Element {
    /// An object.
    Item,
    /// A timed change.
    Change,
}

/// Reads documents from a scanner.
struct Frame<'a, R> {
    scanner: Scanner<R>,
    limits: &'a Limits,
    gatherer: &'a mut Gatherer,
    /// Holds one value at a time.
    buffer: Vec<u8>,
}

impl<R: BufRead> Frame<'_, R> {
    /// One document: a list with or without our section, our section alone, or a single object.
    fn document(&mut self) -> Result<(), SnapshotError> {
        let mut is_list = false;
        self.gatherer.begin_document(self.scanner.position());
        self.object("an object", |frame, key| {
            match key.as_str() {
                "items" if frame.scanner.peek()? == Some(b'[') => {
                    is_list = true;
                    return frame.elements("items", Element::Item, frame.limits.object);
                }
                "plimsoll" if frame.scanner.peek()? == Some(b'{') => return frame.section(),
                "changes" if frame.scanner.peek()? == Some(b'[') => {
                    return frame.elements("changes", Element::Change, frame.limits.object);
                }
                _ => {}
            }
            let value = frame.value("a field", frame.limits.section)?;
            frame.gatherer.document_field(key, value);
            Ok(())
        })?;
        self.gatherer.end_document(is_list)
    }

    /// A document that is a list of objects by itself.
    fn list(&mut self) -> Result<(), SnapshotError> {
        self.gatherer.begin_document(self.scanner.position());
        self.elements("the list of objects", Element::Item, self.limits.object)
    }

    /// A document that is null, which kubectl skips.
    fn nothing(&mut self) -> Result<(), SnapshotError> {
        let unexpected = self.scanner.unexpected(EXPECTED);
        match self.value("a document", self.limits.object)? {
            Value::Null => Ok(()),
            _ => Err(unexpected),
        }
    }

    /// Our section, changes as a stream.
    fn section(&mut self) -> Result<(), SnapshotError> {
        self.gatherer.begin_section()?;
        self.object("the plimsoll section", |frame, key| {
            if key == "changes" && frame.scanner.peek()? == Some(b'[') {
                return frame.elements("changes", Element::Change, frame.limits.object);
            }
            let value = frame.value("a field of the plimsoll section", frame.limits.section)?;
            frame.gatherer.section_field(key, value)
        })
    }

    /// The next value.
    fn value(&mut self, what: &'static str, limit: usize) -> Result<Value, SnapshotError> {
        let begin = self.scanner.capture(&mut self.buffer, what, limit)?;
        serde_json::from_slice(&self.buffer).map_err(|error| {
            let words = error.to_string();
            let words = words
                .rsplit_once(" at line ")
                .map_or(words.as_str(), |(words, _)| words);
            SnapshotError::Json {
                position: begin.inside(error.line(), error.column()),
                words: words.replace('`', ""),
            }
        })
    }

    /// The keys of an object; `value` consumes the value of each.
    fn object(
        &mut self,
        inside: &'static str,
        mut value: impl FnMut(&mut Self, String) -> Result<(), SnapshotError>,
    ) -> Result<(), SnapshotError> {
        self.scanner.expect(b'{', inside)?;
        if self.scanner.take(b'}')? {
            return Ok(());
        }
        loop {
            let begin = self
                .scanner
                .capture(&mut self.buffer, inside, self.limits.object)?;
            let key: String = serde_json::from_slice(&self.buffer).map_err(|_| {
                let words = format!("expected a key in double quotes in {inside}");
                SnapshotError::Json {
                    position: begin,
                    words,
                }
            })?;
            self.scanner.expect(b':', inside)?;
            value(self, key)?;
            if self.scanner.take(b'}')? {
                return Ok(());
            }
            self.scanner.expect(b',', inside)?;
        }
    }

    /// The elements of a list, one at a time.
    fn elements(
        &mut self,
        inside: &'static str,
        element: Element,
        limit: usize,
    ) -> Result<(), SnapshotError> {
        self.scanner.expect(b'[', inside)?;
        if self.scanner.take(b']')? {
            return Ok(());
        }
        loop {
            let value = self.value(inside, limit)?;
            match element {
                Element::Item => self.gatherer.item(&value)?,
                Element::Change => self.gatherer.change(&value)?,
            }
            if self.scanner.take(b']')? {
                return Ok(());
            }
            self.scanner.expect(b',', inside)?;
        }
    }
}
