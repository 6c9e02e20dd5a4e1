//! Decision records: what modules were asked and what they answered, as a file that says the same on every machine.
//!
//! One JSON object per line, each with one key that says what it is ([`Line`]). Questions and answers are taken apart into
//! *parts*, which stand in the file once and are named by their digest: a thousand decisions on one catalogue hold it once.
//!
//! ```text
//! records    the first line: version, engine, what was played
//! part       a column, a list of names, a table; named by SHA-256
//! module     who was asked, named by SHA-256, with its reasons
//! decision   one call: module, settings, question, outcome, fuel, answer
//! made       digest of a plan or of a decision about nodes, as it came out of the core
//! ledger     a disruption command at its end, and at the end of the hour after: what it was to save, and did
//! ```
//!
//! [`Recorder`] writes them, [`Reader`] reads them and holds every digest against what it names, [`replay()`] asks again,
//! [`explain()`] asks why. A module may carry an [`excerpt()`] of such a file: vectors that it is held to before it is let in. What a file
//! says is untrusted: a question is whole ([`Torn`] says what is not) before anything looks into it.

mod columns;
mod compare;
mod digest;
mod excerpt;
mod explain;
mod fold;
mod form;
mod in_memory;
mod question;
mod read;
mod recorder;
mod replay;
mod store;
pub(crate) mod vectors;
mod whole;
mod workers;

pub use digest::{digest_of_decision, digest_of_plan};
pub use excerpt::{Excerpt, excerpt};
pub use explain::{Explained, ExplainedRow, Tally, Wanted, explain, first_of};
pub use fold::FoldError;
pub use form::{
    Call, Heading, LedgerLine, Line, Made, ModuleLine, Part, PolicyLine, Record, RunLine, VERSION,
    What, schema,
};
pub use in_memory::InMemory;
pub use question::{Question, QuestionError};
pub use read::{Entry, Reader, RecordsError};
pub use recorder::{Recorded, Recorder};
pub use replay::{Difference, ReplayError, Replayed, Row, replay};
pub use store::{RecordStore, RecordStoreError};
pub use vectors::SelfTest;
pub use whole::Torn;
