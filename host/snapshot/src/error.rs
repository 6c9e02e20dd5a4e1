//! Reasons why a file is no snapshot. Each sentence names where, what was found and what was expected.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// A place in a text, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
#[error("line {line} column {column}")]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The byte of that line.
    pub column: u64,
}

/// Where an object stands in a text of one or more documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the document, from 1.
    pub document: usize,
    /// The line at which the document begins, from 1.
    pub line: u64,
    /// Its index among the items of the document, from 0; `None` where the document is the object.
    pub item: Option<usize>,
}

impl fmt::Display for Place {
    /// `document 3 (line 41)`, `items[7]` of the first document, `document 3 (line 41): items[7]` of others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            document,
            line,
            item,
        } = self;
        match item {
            None => write!(f, "document {document} (line {line})"),
            Some(item) if *document == 1 => write!(f, "items[{item}]"),
            Some(item) => write!(f, "document {document} (line {line}): items[{item}]"),
        }
    }
}

/// Why a file could not be read, with its name.
#[derive(Debug, Error)]
#[error("{}: {error}", path.display())]
pub struct LoadError {
    /// The file.
    pub path: PathBuf,
    /// The fault found in it.
    pub error: SnapshotError,
}

/// Why a text is no snapshot.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// The bytes could not be had.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    /// The compressed data are damaged or cut short.
    #[error("is not whole zstd data: {0}")]
    Compressed(String),
    /// More text than allowed.
    #[error("holds more than {limit} bytes of text; expected at most that")]
    TooLong {
        /// Bytes allowed.
        limit: u64,
    },
    /// Suspiciously well compressed.
    #[error(
        "grows more than {ratio} times when decompressed; refused, since no snapshot does (a decompression bomb does)"
    )]
    Bomb {
        /// Times allowed.
        ratio: u64,
    },
    /// The file is empty.
    #[error("is empty; expected a list of objects as kubectl prints it, in JSON or YAML")]
    Empty,
    /// The text ends too early.
    #[error("ends at {position}, in the middle of {inside}; expected the rest of it")]
    Truncated {
        /// Where.
        position: Position,
        /// The value that was begun, in words.
        inside: &'static str,
    },
    /// The text is not UTF-8.
    #[error("{position}: the bytes are not UTF-8 text")]
    NotText {
        /// Where the value begins that holds the bytes.
        position: Position,
    },
    /// The text is no JSON.
    #[error("{position}: {words}")]
    Json {
        /// Where.
        position: Position,
        /// The bytes found or expected there, in words.
        words: String,
    },
    /// The text is no YAML.
    #[error("{position}: {words}")]
    Yaml {
        /// Where.
        position: Position,
        /// The bytes found or expected there, in words.
        words: String,
    },
    /// One value is longer than any real one.
    #[error("{position}: {what} is longer than {limit} bytes; expected at most that")]
    TooLarge {
        /// Where it begins.
        position: Position,
        /// The part that is too large, in words.
        what: &'static str,
        /// Bytes allowed.
        limit: usize,
    },
    /// An object does not say its kind.
    #[error("{place}: {field} is missing; expected what kind of object it is")]
    NoKind {
        /// Where it stands.
        place: Place,
        /// `kind` or `apiVersion`.
        field: &'static str,
    },
    /// An item of a list is no object.
    #[error("{place} is no object; expected one with apiVersion, kind and metadata")]
    NoObject {
        /// Where it stands.
        place: Place,
    },
    /// An object is wrong.
    #[error("{list}[{index}] {sentence}")]
    Object {
        /// Plural of its kind.
        list: String,
        /// Its index among objects of its kind.
        index: usize,
        /// Its name and what is wrong.
        sentence: String,
    },
    /// Two objects have one name.
    #[error("{list}[{index}] {name}: {list}[{first}] has the same name; expected each name once")]
    Duplicate {
        /// Plural of the kind.
        list: &'static str,
        /// Index of the later one.
        index: usize,
        /// Index of the earlier one.
        first: usize,
        /// The name.
        name: String,
    },
    /// Our section is wrong.
    #[error("plimsoll.{0}")]
    Section(String),
    /// Our section is there twice.
    #[error("the plimsoll section is given twice; expected it once")]
    TwoSections,
    /// Nothing in the file was an object we read.
    #[error("holds no object that is read; expected nodes, pods or pools as kubectl prints them")]
    NoObjects,
    /// A column or a value of a trace is wrong.
    #[error("line {line}: {sentence}")]
    Trace {
        /// The line of the table.
        line: u64,
        /// The fault in a sentence.
        sentence: String,
    },
}

impl From<std::io::Error> for SnapshotError {
    fn from(error: std::io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(ours) => ours,
            Err(error) => Self::Io(error),
        }
    }
}
