//! JSON, read as a stream: the outer frame by our own scanner, each object by a real parser.

mod document;
mod scan;

pub(crate) use document::read;
