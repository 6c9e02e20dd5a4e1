//! Vectors: decision records that a module carries, put to it before it is let in.
//!
//! A vector is a recorded decision: a question, the settings that it was put under, and the answer, which the module has to give again to
//! the bit. One that answers otherwise under this engine is not the one that its author has proven. The records are untrusted like all that
//! a module says: they are capped before anything is put together, a question is whole before it is put, and each call has the limits of
//! any other. Before: the module agrees to its settings. After: it serves.

use std::error::Error;
use std::fmt;

use super::compare::{Now, Unequal, compare};
use super::fold::{FoldError, Parts};
use super::form::Record;
use super::question::Question;
use super::read::{Entry, Reader, RecordsError};
use crate::any::AnyModule;
use crate::clock::thread_cpu_time;
use crate::gate::Refusal;
use crate::limits::SelfTestLimits;
use crate::manifest::Hook;
use crate::outcome::Outcome;
use crate::text;

/// Vectors of a self-test, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SelfTest {
    /// Questions with their answers.
    pub vectors: usize,
    /// Rows that they ask about, all together.
    pub rows: usize,
}

impl fmt::Display for SelfTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { vectors, rows } = *self;
        let plural = |number: usize| if number == 1 { "" } else { "s" };
        let (of_vectors, of_rows) = (plural(vectors), plural(rows));
        write!(f, "{vectors} vector{of_vectors}, {rows} row{of_rows}")
    }
}

/// Looks through the vectors for modules of that hook without putting them to one.
pub(crate) fn read(
    section: &[u8],
    hook: Hook,
    limits: &SelfTestLimits,
) -> Result<SelfTest, Refusal> {
    walk(section, hook, limits, &mut |_| Ok(()))
}

/// Puts the vectors to a module, each under its own settings, up to the first that it fails.
pub(crate) fn hold(module: &AnyModule, section: &[u8]) -> Result<SelfTest, Refusal> {
    let limits = &module.limits().self_test;
    let began = thread_cpu_time();
    // The module under the settings of the last vector: most vectors share theirs.
    let mut last: Option<(String, AnyModule)> = None;
    walk(section, module.manifest().hook, limits, &mut |vector| {
        if thread_cpu_time().saturating_sub(began) >= limits.cpu {
            let most = limits.cpu.as_millis();
            let problem = format!("the vectors took more than {most} ms of CPU time together");
            return Err(vector.failed(&problem));
        }
        let settings = &vector.record.settings;
        let written = serde_json::to_string(settings).expect("settings have texts as keys");
        let asked = match last.take() {
            Some((known, asked)) if known == written => asked,
            _ => {
                let under = module.under(settings);
                under.map_err(|refusal| vector.unsettled(&refusal))?
            }
        };
        vector.put_to(&asked)?;
        last = Some((written, asked));
        Ok(())
    })
}

/// One vector, read and whole.
struct Vector<'w> {
    name: String,
    record: &'w Record,
    question: &'w Question,
    parts: &'w Parts,
}

/// Hands out the vectors one after the other; nothing is held but the one that is looked at, and the parts of all.
fn walk(
    section: &[u8],
    hook: Hook,
    limits: &SelfTestLimits,
    each: &mut dyn FnMut(&Vector<'_>) -> Result<(), Refusal>,
) -> Result<SelfTest, Refusal> {
    if section.len() > limits.bytes {
        let (found, most) = (section.len(), limits.bytes);
        return Err(refused(&format!(
            "has {found} bytes; at most {most} are allowed"
        )));
    }
    let unread = |error: RecordsError| refused(&format!("cannot be read: {}", chain(&error)));
    let mut reader = Reader::begin(section).map_err(unread)?;
    let (mut seen, mut values) = (SelfTest::default(), limits.values);
    while let Some(entry) = reader.next_entry().map_err(unread)? {
        let Entry::Decision(record) = entry else {
            continue;
        };
        seen.vectors += 1;
        if seen.vectors > limits.vectors {
            let most = limits.vectors;
            return Err(refused(&format!("has more than {most} vectors")));
        }
        let name = format!("vector {} ({})", seen.vectors, record.call.label());
        let question = question(&record, hook, &reader.parts, &mut values);
        let question = question.map_err(|problem| refused(&format!("has a {name} that {problem}")));
        let question = &question?;
        seen.rows = seen.rows.saturating_add(question.len());
        if seen.rows > limits.rows {
            let most = limits.rows;
            return Err(refused(&format!("asks about more than {most} rows")));
        }
        each(&Vector {
            name,
            record: &record,
            question,
            parts: &reader.parts,
        })?;
    }
    if let Some(line) = reader.cut() {
        return Err(refused(&format!("ends in the middle of line {line}")));
    }
    if seen.vectors == 0 {
        return Err(refused("has no vector"));
    }
    Ok(seen)
}

/// The question of a vector, or what is wrong with the vector.
fn question(
    record: &Record,
    hook: Hook,
    parts: &Parts,
    values: &mut usize,
) -> Result<Question, String> {
    let asks = record.call.hook();
    if asks != hook {
        let (asks, is) = (asks.adjective(), hook.adjective());
        return Err(format!("asks a {asks} policy; this is a {is} policy"));
    }
    if record.answer.is_none() || record.outcome != Outcome::Ok.label() {
        let outcome = &record.outcome;
        return Err(format!("was recorded as {outcome}; expected an answer"));
    }
    let most = *values;
    let whole = parts.unfold_within(&record.question, values);
    let whole = whole.map_err(|error| match error {
        FoldError::TooLarge => format!("comes to more than the {most} values that are left to it"),
        other => format!("cannot be put together: {other}"),
    })?;
    Question::read(record.call, whole)
        .map_err(|error| format!("cannot be put to anybody: {}", chain(&error)))
}

impl Vector<'_> {
    /// Asks, and compares to the bit.
    fn put_to(&self, module: &AnyModule) -> Result<(), Refusal> {
        let Some(now) = Now::of(module, self.question) else {
            return Err(refused(&format!("has a {} for another hook", self.name)));
        };
        if let Some(fault) = now.depends_on_machine()
            && fault.outcome == Outcome::Saturated
        {
            return Err(self.not_put(&fault.sentence));
        }
        // Fuel is no part of an answer: another engine counts otherwise.
        let compared = compare(self.record, self.parts, self.question, &now, false);
        let compared = compared.map_err(|error| {
            let name = &self.name;
            refused(&format!("has a {name} whose answer is torn: {error}"))
        })?;
        match compared {
            None => Ok(()),
            Some(unequal) => Err(self.failed(&self.told(&unequal))),
        }
    }

    /// Sentence about the difference, with row, value and expectation.
    fn told(&self, unequal: &Unequal) -> String {
        let Unequal {
            field,
            row,
            recorded,
            now,
        } = unequal;
        let place = row.map(|row| format!(" of row {row} ({})", self.question.row(row)));
        let place = place.unwrap_or_default();
        format!("{field}{place} is {now}; expected {recorded}, as recorded")
    }

    fn failed(&self, problem: &str) -> Refusal {
        let vector = self.name.clone();
        let problem = text::clean(problem, text::MESSAGE);
        Refusal::SelfTestFailed { vector, problem }
    }

    fn not_put(&self, problem: &str) -> Refusal {
        Refusal::SelfTestSaturated {
            vector: self.name.clone(),
            problem: problem.to_owned(),
        }
    }

    /// Refusal of a module that cannot be had under the vector's settings.
    fn unsettled(&self, refusal: &Refusal) -> Refusal {
        match refusal {
            Refusal::Saturated { problem } => self.not_put(problem),
            Refusal::Setting { .. } => refused(&format!(
                "has a {} under settings that do not fit: {refusal}",
                self.name
            )),
            other => self.failed(&other.to_string()),
        }
    }
}

fn refused(problem: &str) -> Refusal {
    Refusal::SelfTest {
        problem: text::clean(problem, text::MESSAGE),
    }
}

/// An error with its causes.
fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
