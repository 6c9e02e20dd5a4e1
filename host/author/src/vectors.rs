//! Vectors for a module to carry: the cases of its suite, each with the answer that the module gives, as decision records.
//!
//! What the cases expect and what goldens hold is judged before; these are the whole answers, to the bit.

use std::io;

use plimsoll_policy::records::{Excerpt, InMemory, Reader, Recorder, RecordsError, excerpt};
use plimsoll_policy::{AnyModule, Engine, SelfTestLimits};
use thiserror::Error;

use crate::suite::{Suite, Tried};

/// Why a suite gives no vectors.
#[derive(Debug, Error)]
pub enum VectorsError {
    /// An answer cannot be written down.
    #[error("answers cannot be written down")]
    Unwritten(#[source] io::Error),
    /// The records of the answers cannot be read.
    #[error("recorded answers cannot be read")]
    Unread(#[from] RecordsError),
}

/// Puts every case to the policy and keeps what was asked and answered.
pub fn of_suite(
    engine: &Engine,
    policy: &AnyModule,
    suite: &Suite,
    limits: &SelfTestLimits,
) -> Result<(Vec<Tried>, Excerpt), VectorsError> {
    let written = InMemory::default();
    let recorder = Recorder::begin(Box::new(written.clone()), engine, None);
    let recorder = recorder.map_err(VectorsError::Unwritten)?;
    let tried = suite.run_before(policy, &recorder);
    recorder.finish().map_err(VectorsError::Unwritten)?;
    let records = written.bytes();
    let reader = Reader::begin(records.as_slice())?;
    Ok((tried, excerpt(reader, policy.manifest(), limits)?))
}
