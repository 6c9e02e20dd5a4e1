//! Recorded decisions made again: the same module, settings and question must come to the same answer, to the bit.
//!
//! Threads take decisions one after the other and ask at the same time; the first that differs is the same one whatever their
//! number, since every decision before it was handed out before it. What depended on the machine then, such as a deadline, is not
//! asked again; what depends on it now ends the replay, since it says nothing of the module.

use std::fmt;
use std::io::BufRead;
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::compare::{Now, compare};
use super::fold::Parts;
use super::form::{Made, ModuleLine, Record};
use super::read::{self, Entry, Reader, RecordsError};
use super::store::{RecordStore, RecordStoreError};
use super::workers;
use crate::outcome::Outcome;

/// Counts of a replay, and its differences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Decisions asked again, all equal but for the first that differs.
    pub decisions: u64,
    /// Decisions that depended on the machine and were not asked again.
    pub passed_over: u64,
    /// Results of decisions as the file has them, for a caller that can make them again and compare.
    pub made: Vec<Made>,
    /// The line that ends in the middle, where the file was cut.
    pub cut: Option<usize>,
    /// The first decision that is another one now.
    pub differs: Option<Difference>,
}

/// A row of a question, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its number, from 0.
    pub number: usize,
    /// In words.
    pub words: String,
}

/// A decision that is another one now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its number, from 1.
    pub decision: u64,
    /// Function that was called.
    pub call: &'static str,
    /// Who.
    pub policy: String,
    /// `outcome`, `fault`, `fuel`, or a column of the answer.
    pub field: String,
    /// The first row that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Row>,
    /// The recorded value.
    pub recorded: String,
    /// The value that the module answers now.
    pub now: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            decision,
            call,
            policy,
            field,
            row,
            recorded,
            now,
        } = self;
        write!(f, "decision {decision} ({call}, {policy}): {field}")?;
        if let Some(Row { number, words }) = row {
            write!(f, " of row {number} ({words})")?;
        }
        write!(f, " was {recorded} and is {now} now")
    }
}

/// Why a replay did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be read.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A module cannot be asked.
    #[error(transparent)]
    RecordStore(#[from] RecordStoreError),
    /// A call ended as the machine had it.
    #[error("decision {number}: {fault}; that depends on the machine, so nothing is said of it")]
    Machine {
        /// The decision.
        number: u64,
        /// The fault in words.
        fault: String,
    },
}

/// A decision on its way to a thread.
struct Task {
    record: Box<Record>,
    module: ModuleLine,
}

/// Findings of the threads so far: the earliest in the file, whichever thread found it.
#[derive(Default)]
struct Found {
    differs: Option<Difference>,
    failed: Option<(u64, ReplayError)>,
}

/// Asks the modules of all decisions again, with so many threads.
pub fn replay<R: BufRead>(
    mut reader: Reader<R>,
    store: &RecordStore,
    threads: usize,
) -> Result<Replayed, ReplayError> {
    // More would wait for places, and end as the machine has it.
    let threads = threads.clamp(1, store.engine().concurrency());
    let parts = reader.parts.clone();
    let same_engine = reader.heading().engine == store.engine().id();
    let found: Mutex<Found> = Mutex::default();
    let locked = || found.lock().unwrap_or_else(PoisonError::into_inner);
    let work = |task: Task| {
        let checked = again(&task, &parts, store, same_engine);
        locked().note(task.record.number, checked);
    };
    let mut handed = Handed::default();
    let read = workers::work(threads, &work, |sender| {
        let is_settled = || locked().is_settled();
        hand_out(&mut reader, sender, is_settled, &mut handed)
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let first = found.differs.as_ref().map(|difference| difference.decision);
    match found.failed {
        // What fails behind the first difference does not take its place.
        Some((number, error)) if first.is_none_or(|first| number < first) => return Err(error),
        _ if first.is_none() => read?,
        _ => {}
    }
    Ok(handed.until(first, reader.cut(), found.differs))
}

/// Decisions taken from a file, each with the number of the one before it.
#[derive(Default)]
struct Handed {
    decisions: Vec<u64>,
    passed_over: Vec<u64>,
    made: Vec<(u64, Made)>,
    last: u64,
}

impl Handed {
    /// Result of a replay. Where a decision differs, only the part before it counts, however much was handed out.
    fn until(
        self,
        first: Option<u64>,
        cut: Option<usize>,
        differs: Option<Difference>,
    ) -> Replayed {
        let counts = |number: &u64| first.is_none_or(|first| *number <= first);
        let count = |numbers: &[u64]| numbers.iter().filter(|number| counts(number)).count() as u64;
        let made = self.made.into_iter();
        let made = made.filter(|(after, _)| first.is_none_or(|first| *after < first));
        Replayed {
            decisions: count(&self.decisions),
            passed_over: count(&self.passed_over),
            made: made.map(|(_, made)| made).collect(),
            cut,
            differs,
        }
    }
}

/// Gives decisions to threads in their order, until the file ends or one of them is known to differ.
fn hand_out<R: BufRead>(
    reader: &mut Reader<R>,
    sender: &SyncSender<Task>,
    is_settled: impl Fn() -> bool,
    handed: &mut Handed,
) -> Result<(), RecordsError> {
    while !is_settled() {
        match reader.next_entry()? {
            None => break,
            Some(Entry::Made(made)) => handed.made.push((handed.last, made)),
            Some(Entry::Decision(record)) if hung_on_machine(&record) => {
                handed.last = record.number;
                handed.passed_over.push(record.number);
            }
            Some(Entry::Decision(record)) => {
                // The reader passes no decision on without its module.
                let Some(module) = reader.modules().get(&record.module).cloned() else {
                    continue;
                };
                handed.last = record.number;
                handed.decisions.push(record.number);
                if sender.send(Task { record, module }).is_err() {
                    break;
                }
            }
        }
    }
    Ok(())
}

impl Found {
    fn is_settled(&self) -> bool {
        self.differs.is_some() || self.failed.is_some()
    }

    fn note(&mut self, number: u64, checked: Result<Option<Difference>, ReplayError>) {
        match checked {
            Ok(None) => {}
            Ok(Some(difference)) => {
                let first = self.differs.as_ref();
                if first.is_none_or(|first| number < first.decision) {
                    self.differs = Some(difference);
                }
            }
            Err(error) => {
                let first = self.failed.as_ref();
                if first.is_none_or(|(first, _)| number < *first) {
                    self.failed = Some((number, error));
                }
            }
        }
    }
}

fn hung_on_machine(record: &Record) -> bool {
    let machine = [Outcome::Deadline, Outcome::Saturated, Outcome::Quarantined];
    machine
        .iter()
        .any(|outcome| outcome.label() == record.outcome)
}

/// Makes one decision again and compares.
fn again(
    task: &Task,
    parts: &Parts,
    store: &RecordStore,
    same_engine: bool,
) -> Result<Option<Difference>, ReplayError> {
    let Task { record, module } = task;
    let question = read::question(parts, record)?;
    let asked = store.accepted(module, &record.settings)?;
    let Some(now) = Now::of(&asked, &question) else {
        return Err(RecordStoreError::hook(module, &asked, record).into());
    };
    if let Some(fault) = now.depends_on_machine() {
        return Err(ReplayError::Machine {
            number: record.number,
            fault: fault.to_string(),
        });
    }
    let compared = compare(record, parts, &question, &now, same_engine);
    let compared = compared.map_err(|source| RecordsError::Parts {
        number: record.number,
        field: "its answer",
        source,
    })?;
    Ok(compared.map(|unequal| Difference {
        decision: record.number,
        call: record.call.label(),
        policy: crate::text::clean(&module.name, crate::text::NAME),
        field: unequal.field,
        row: unequal.row.map(|number| Row {
            number,
            words: question.row(number),
        }),
        recorded: unequal.recorded,
        now: unequal.now,
    }))
}
