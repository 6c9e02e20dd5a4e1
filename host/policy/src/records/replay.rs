//! Recorded decisions made again: the same module, settings and question must come to the same answer, to the bit.
//!
//! Threads take decisions one after the other and ask at the same time; the first that differs is the same one whatever their
//! number, since every decision before it was handed out before it. What hung on the machine then, such as a deadline, is not
//! asked again.

use std::collections::BTreeSet;
use std::fmt;
use std::io::BufRead;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;

use super::fold::{FoldError, Folder, Parts, text_of_numbers};
use super::form::{Made, ModuleLine, Record};
use super::question::Question;
use super::read::{self, Entry, Reader, RecordsError};
use super::shelf::{Shelf, ShelfError};
use crate::any::AnyModule;
use crate::outcome::{Called, Fault, Outcome};

/// What a replay came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Decisions asked again, all equal but for the first that differs.
    pub decisions: u64,
    /// Decisions that hung on the machine and were not asked again.
    pub passed_over: u64,
    /// What was made of decisions, as the file has it: whoever can make it again compares.
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
    /// What was asked.
    pub call: &'static str,
    /// Who.
    pub policy: String,
    /// `outcome`, `fault`, `fuel`, or a column of the answer.
    pub field: String,
    /// The first row that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Row>,
    /// What the record has there.
    pub recorded: String,
    /// What the module answers now.
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
    Shelf(#[from] ShelfError),
}

/// A decision on its way to a thread.
struct Task {
    record: Box<Record>,
    module: ModuleLine,
}

/// What threads have found so far: what comes first in the file, whoever found it.
#[derive(Default)]
struct Found {
    differs: Option<Difference>,
    failed: Option<(u64, ReplayError)>,
}

/// Asks the modules of all decisions again, with so many threads.
pub fn replay<R: BufRead>(
    mut reader: Reader<R>,
    shelf: &Shelf,
    threads: usize,
) -> Result<Replayed, ReplayError> {
    let threads = threads.max(1);
    let parts = reader.parts.clone();
    let same_engine = reader.heading().engine == shelf.engine().id();
    let found: Mutex<Found> = Mutex::default();
    let locked = || found.lock().unwrap_or_else(PoisonError::into_inner);
    let (sender, tasks) = sync_channel::<Task>(2 * threads);
    let tasks = Mutex::new(tasks);
    let work = || {
        loop {
            let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(task) = task else { break };
            let checked = again(&task, &parts, shelf, same_engine);
            locked().note(task.record.number, checked);
        }
    };
    let mut replayed = Replayed::default();
    let read = std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
        let is_settled = || locked().is_settled();
        // Sent or not, threads end when there is nothing more to come.
        let read = hand_out(&mut reader, &sender, is_settled, &mut replayed);
        drop(sender);
        read
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let first = found.differs.as_ref().map(|difference| difference.decision);
    match found.failed {
        // What fails behind the first difference does not take its place.
        Some((number, error)) if first.is_none_or(|first| number < first) => return Err(error),
        _ if first.is_none() => read?,
        _ => {}
    }
    Ok(Replayed {
        cut: reader.cut(),
        differs: found.differs,
        ..replayed
    })
}

/// Gives decisions to threads in their order, until the file ends or one of them is known to differ.
fn hand_out<R: BufRead>(
    reader: &mut Reader<R>,
    sender: &SyncSender<Task>,
    is_settled: impl Fn() -> bool,
    replayed: &mut Replayed,
) -> Result<(), RecordsError> {
    while !is_settled() {
        match reader.next_entry()? {
            None => break,
            Some(Entry::Made(made)) => replayed.made.push(made),
            Some(Entry::Decision(record)) if hung_on_machine(&record) => replayed.passed_over += 1,
            Some(Entry::Decision(record)) => {
                // The reader passes no decision on without its module.
                let Some(module) = reader.modules().get(&record.module).cloned() else {
                    continue;
                };
                replayed.decisions += 1;
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
    shelf: &Shelf,
    same_engine: bool,
) -> Result<Option<Difference>, ReplayError> {
    let Task { record, module } = task;
    let question = read::question(parts, record)?;
    let asked = shelf.accepted(module, &record.settings)?;
    let Some(now) = Now::of(&asked, &question) else {
        return Err(ShelfError::hook(module, &asked, record).into());
    };
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

/// How a call ends now.
struct Now {
    outcome: Outcome,
    fault: Option<Fault>,
    fuel: u64,
    answer: Option<Value>,
}

impl Now {
    /// Asks; `None` where the module is not of the question's hook.
    fn of(module: &AnyModule, question: &Question) -> Option<Self> {
        Some(match (module, question) {
            (AnyModule::Rank(module), Question::Price(question)) => {
                Self::ended(module.price(question), |checked| to_value(&checked.raw))
            }
            (AnyModule::Rank(module), Question::Order(question)) => {
                Self::ended(module.order(question), |checked| to_value(&checked.raw))
            }
            (AnyModule::Consolidate(module), Question::Score(question)) => {
                Self::ended(module.score(question), |checked| to_value(&checked.raw))
            }
            (AnyModule::Budget(module), Question::Allow(question)) => {
                Self::ended(module.allow(question), |checked| to_value(&checked.raw))
            }
            _ => return None,
        })
    }

    fn ended<T>(called: Called<T>, raw: impl FnOnce(T) -> Value) -> Self {
        let (outcome, fuel) = (called.outcome(), called.fuel);
        let (answer, fault) = match called.result {
            Ok(checked) => (Some(raw(checked)), None),
            Err(fault) => (None, Some(fault)),
        };
        Self {
            outcome,
            fault,
            fuel,
            answer,
        }
    }
}

fn to_value(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).expect("answers are columns by name")
}

/// What differs first.
struct Unequal {
    field: String,
    row: Option<usize>,
    recorded: String,
    now: String,
}

fn compare(
    record: &Record,
    parts: &Parts,
    question: &Question,
    now: &Now,
    same_engine: bool,
) -> Result<Option<Unequal>, FoldError> {
    let found = |field: &str, recorded: String, now: String| Unequal {
        field: field.to_owned(),
        row: None,
        recorded,
        now,
    };
    let label = now.outcome.label();
    if record.outcome != label {
        let mut words = label.to_owned();
        if let Some(fault) = &now.fault {
            words = format!("{words} ({fault})");
        }
        return Ok(Some(found("outcome", record.outcome.clone(), words)));
    }
    let fault = now.fault.as_ref().map(|fault| fault.sentence.clone());
    if record.fault != fault {
        let words = |fault: Option<String>| fault.unwrap_or_else(|| "none".to_owned());
        let recorded = words(record.fault.clone());
        return Ok(Some(found("fault", recorded, words(fault))));
    }
    if let (Some(recorded), Some(now)) = (&record.answer, &now.answer)
        && let Some(found) = columns(parts, recorded, now, question.len())?
    {
        return Ok(Some(found));
    }
    if record.answer.is_some() != now.answer.is_some() {
        let words = |is_there: bool| if is_there { "there" } else { "missing" }.to_owned();
        let (then, now) = (record.answer.is_some(), now.answer.is_some());
        return Ok(Some(found("answer", words(then), words(now))));
    }
    if same_engine && record.fuel != now.fuel {
        let (then, now) = (record.fuel.to_string(), now.fuel.to_string());
        return Ok(Some(found("fuel", then, now)));
    }
    Ok(None)
}

/// The first column of an answer that differs, and its first row.
fn columns(
    parts: &Parts,
    recorded: &Value,
    now: &Value,
    rows: usize,
) -> Result<Option<Unequal>, FoldError> {
    let recorded = parts.open(recorded)?;
    let (Some(recorded), Some(now)) = (recorded.as_object(), now.as_object()) else {
        return Ok(Some(Unequal {
            field: "answer".to_owned(),
            row: None,
            recorded: short(&recorded.to_string()),
            now: short(&now.to_string()),
        }));
    };
    let names: BTreeSet<&String> = recorded.keys().chain(now.keys()).collect();
    for name in names {
        let then = parts.open(recorded.get(name).unwrap_or(&Value::Null))?;
        let now = Folder::inline(now.get(name).cloned().unwrap_or(Value::Null));
        if then == now {
            continue;
        }
        let is_column = text_of_numbers(&then).is_some() && text_of_numbers(&now).is_some();
        let (then, now) = (words(&then), words(&now));
        let row = (0..rows).find(|row| then.get(*row) != now.get(*row));
        let row = row.filter(|_| is_column);
        let at = |words: &[String]| {
            let one = row.and_then(|row| words.get(row)).cloned();
            one.unwrap_or_else(|| short(&words.join(" ")))
        };
        return Ok(Some(Unequal {
            field: name.clone(),
            row,
            recorded: at(&then),
            now: at(&now),
        }));
    }
    Ok(None)
}

/// The values of a column, each as it is written.
fn words(column: &Value) -> Vec<String> {
    match text_of_numbers(column) {
        Some(text) => text.split(' ').map(short).collect(),
        None => vec![short(&column.to_string())],
    }
}

fn short(text: &str) -> String {
    crate::text::clean(text, 80)
}
