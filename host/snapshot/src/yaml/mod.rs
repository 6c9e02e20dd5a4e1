//! YAML, read as a stream: documents by their separators, items of a list one at a time.

mod document;
mod split;

pub(crate) use document::read;
