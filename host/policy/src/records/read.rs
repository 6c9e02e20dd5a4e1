//! Reads records line by line, and holds every digest against what it names.
//!
//! A file may have been cut short by whatever ended its writer: a last line without its end is skipped, and
//! [`Reader::cut`] says so. Anything else that is wrong ends the reading with the line and what was expected there.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};

use thiserror::Error;

use super::fold::{FoldError, Parts};
use super::form::{Heading, Line, Made, ModuleLine, Part, Record, VERSION};
use super::question::{Question, QuestionError};
use crate::package::digest;

/// Bytes of one line.
const LONGEST_LINE: u64 = 256 << 20;

/// Why records cannot be read.
#[derive(Debug, Error)]
pub enum RecordsError {
    /// The file, or what it is compressed with, cannot be read.
    #[error("line {line} cannot be read")]
    Io {
        /// Number of the line, from 1.
        line: usize,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A line is no line of records.
    #[error("line {line} is no line of records")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// The parser's error.
        #[source]
        source: serde_json::Error,
    },
    /// The file does not begin as records do, or begins twice.
    #[error("line {line}: expected the heading of decision records on line 1 and nowhere else")]
    Heading {
        /// Number of the line, from 1.
        line: usize,
    },
    /// The format is another one.
    #[error("line 1: version is \"{found}\"; expected \"{VERSION}\"")]
    Version {
        /// The value in the file.
        found: String,
    },
    /// A line is longer than any that is written.
    #[error("line {line} is longer than {LONGEST_LINE} bytes")]
    TooLong {
        /// Number of the line, from 1.
        line: usize,
    },
    /// A part is not what its digest names.
    #[error("line {line}: part {sha256} has digest {found}; the file was changed")]
    Digest {
        /// Number of the line, from 1.
        line: usize,
        /// The digest it is named by.
        sha256: String,
        /// The digest it has.
        found: String,
    },
    /// A decision names a module that no line before it is about.
    #[error("line {line}: module {sha256} is not among the lines before; expected it there")]
    Module {
        /// Number of the line, from 1.
        line: usize,
        /// The module.
        sha256: String,
    },
    /// A question or an answer cannot be put together.
    #[error("decision {number}: {field}")]
    Parts {
        /// The decision.
        number: u64,
        /// Question or answer.
        field: &'static str,
        /// The part that is missing or folded wrongly.
        #[source]
        source: FoldError,
    },
    /// A question is none that could have been put.
    #[error("decision {number}: its question")]
    Question {
        /// The decision.
        number: u64,
        /// The fault of the question.
        #[source]
        source: QuestionError,
    },
}

/// An entry of a file, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A call of a module.
    Decision(Box<Record>),
    /// The result of calls.
    Made(Made),
}

/// Reads a file of records.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    line: usize,
    heading: Heading,
    modules: BTreeMap<String, ModuleLine>,
    pub(super) parts: Parts,
    cut: Option<usize>,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    pub fn begin(source: R) -> Result<Self, RecordsError> {
        let mut reader = Self {
            source,
            line: 0,
            heading: Heading {
                version: String::new(),
                engine: String::new(),
                run: None,
            },
            modules: BTreeMap::new(),
            parts: Parts::default(),
            cut: None,
        };
        let first = match reader.line() {
            Err(RecordsError::Line { .. }) => None,
            other => other?,
        };
        match first {
            Some(Line::Records(heading)) if heading.version == VERSION => {
                reader.heading = heading;
                Ok(reader)
            }
            Some(Line::Records(heading)) => Err(RecordsError::Version {
                found: crate::text::clean(&heading.version, crate::text::NAME),
            }),
            Some(_) | None => Err(RecordsError::Heading { line: 1 }),
        }
    }

    /// First line of the file.
    pub fn heading(&self) -> &Heading {
        &self.heading
    }

    /// The modules met so far, by digest.
    pub fn modules(&self) -> &BTreeMap<String, ModuleLine> {
        &self.modules
    }

    /// The last line, where it ends in the middle.
    pub fn cut(&self) -> Option<usize> {
        self.cut
    }

    /// The next decision, or what was made of some; `None` at the end.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, RecordsError> {
        while let Some(line) = self.line()? {
            let number = self.line;
            match line {
                Line::Records(_) => return Err(RecordsError::Heading { line: number }),
                Line::Part(Part { sha256, value }) => {
                    let found = digest(value.to_string().as_bytes());
                    if found != sha256 {
                        return Err(RecordsError::Digest {
                            line: number,
                            sha256: shown(&sha256),
                            found,
                        });
                    }
                    self.parts.insert(sha256, value);
                }
                Line::Module(module) => {
                    self.modules.insert(module.sha256.clone(), module);
                }
                Line::Decision(record) if !self.modules.contains_key(&record.module) => {
                    return Err(RecordsError::Module {
                        line: number,
                        sha256: shown(&record.module),
                    });
                }
                Line::Decision(record) => return Ok(Some(Entry::Decision(record))),
                Line::Made(made) => return Ok(Some(Entry::Made(made))),
                // It tells what became of decisions, and none is made of it.
                Line::Ledger(_) => {}
            }
        }
        Ok(None)
    }

    /// The question of a record, put together from its parts; fails where a part is missing.
    pub fn question(&self, record: &Record) -> Result<Question, RecordsError> {
        question(&self.parts, record)
    }

    fn line(&mut self) -> Result<Option<Line>, RecordsError> {
        let mut text = Vec::new();
        let mut rest = (&mut self.source).take(LONGEST_LINE);
        let read = rest.read_until(b'\n', &mut text);
        let line = self.line + 1;
        let length = read.map_err(|source| RecordsError::Io { line, source })?;
        if length == 0 {
            return Ok(None);
        }
        if length as u64 == LONGEST_LINE {
            return Err(RecordsError::TooLong { line });
        }
        self.line = line;
        match serde_json::from_slice(&text) {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.is_eof() && !text.ends_with(b"\n") && line > 1 => {
                self.cut = Some(line);
                Ok(None)
            }
            Err(source) => Err(RecordsError::Line { line, source }),
        }
    }
}

/// Question of a record, put together out of its parts; the error names the decision.
pub(super) fn question(parts: &Parts, record: &Record) -> Result<Question, RecordsError> {
    let number = record.number;
    let value = parts.unfold(&record.question);
    let value = value.map_err(|source| RecordsError::Parts {
        number,
        field: "its question",
        source,
    })?;
    Question::read(record.call, value).map_err(|source| RecordsError::Question { number, source })
}

/// The beginning of a digest, as people read it.
fn shown(sha256: &str) -> String {
    crate::text::clean(sha256, crate::text::NAME)
}
