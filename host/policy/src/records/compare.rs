//! One recorded call against the same call now: outcome, sentence, every bit of the answer, fuel; and what differs first.
//!
//! Answers are compared as records write them: the text of a column is exact, so that equal texts are equal bits.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::fold::{FoldError, Folder, Parts, text_of_numbers};
use super::form::Record;
use super::question::Question;
use crate::any::AnyModule;
use crate::outcome::{Called, Fault, Outcome};

/// How a call ends now.
pub(super) struct Now {
    outcome: Outcome,
    fault: Option<Fault>,
    fuel: u64,
    answer: Option<Value>,
}

impl Now {
    /// Asks; `None` where the module is not of the question's hook.
    pub(super) fn of(module: &AnyModule, question: &Question) -> Option<Self> {
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

    /// The fault, where it need not happen on another machine.
    pub(super) fn depends_on_machine(&self) -> Option<&Fault> {
        (self.fault.as_ref()).filter(|fault| !fault.outcome.is_deterministic())
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

/// The first difference between an answer and its record.
pub(super) struct Unequal {
    pub(super) field: String,
    pub(super) row: Option<usize>,
    pub(super) recorded: String,
    pub(super) now: String,
}

/// Holds how a call ends now against how its record says that it ended; fuel only within one engine.
pub(super) fn compare(
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
