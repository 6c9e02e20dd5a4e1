//! Reasons why a module answered a recorded question as it did: the module is asked again, and then for its reasons.
//!
//! Nothing of an explanation was recorded, and the cluster paid nothing for it: a module is pure, so that its reasons now are its
//! reasons then. Whether it answers as it did then is for a replay to say.

use std::collections::BTreeMap;

use plimsoll_hooks::allow::AllowAnswer;
use plimsoll_hooks::rank::{OrderAnswer, PriceAnswer};
use plimsoll_hooks::score::ScoreAnswer;
use serde::Serialize;

use super::question::Question;
use crate::any::AnyModule;
use crate::manifest::Manifest;
use crate::module::Checked;
use crate::note::{MOST_NOTES, Note};
use crate::outcome::{Called, Fault};

/// Rows that are explained where none are named.
const FIRST: usize = 10;

/// Rows to be explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Those that come first in the module's own order: the cheapest, the most worth it, the least allowed.
    First,
    /// These.
    Rows(Vec<u32>),
    /// Those whose words hold this text, in the module's own order.
    Holding(String),
}

/// One row, its answer and the reasons for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedRow {
    /// Its number, from 0.
    pub row: u32,
    /// In words.
    pub words: String,
    /// The answer, in words.
    pub answer: String,
    /// The reason, from the module's own table.
    pub reason: String,
    /// The module's words on the row; may be empty.
    pub text: String,
    /// Terms of the answer, by name.
    pub terms: Vec<(String, f64)>,
}

/// How often a reason was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The reason.
    pub reason: String,
    /// Rows that have it.
    pub rows: usize,
}

/// A decision with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// Rows of the question.
    pub rows: usize,
    /// Reasons with how many rows have each, in the order of their codes.
    pub reasons: Vec<Tally>,
    /// The rows that were asked about.
    pub explained: Vec<ExplainedRow>,
}

/// Answer to one row.
struct Answered {
    /// Rows with less come first.
    place: f64,
    words: String,
    reason: u16,
}

/// Explains rows of a question; the fault where the module does not answer, and nothing where it is of another hook.
pub fn explain(
    module: &AnyModule,
    question: &Question,
    wanted: &Wanted,
) -> Option<Result<Explained, Fault>> {
    let answers = match answers(module, question)? {
        Ok(answers) => answers,
        Err(fault) => return Some(Err(fault)),
    };
    let rows = chosen(&answers, question, wanted);
    let notes = notes(module, question, &rows)?.result;
    let manifest = module.manifest();
    Some(notes.map(|notes| Explained::of(manifest, question, &answers, &rows, notes)))
}

/// The row of these that comes first in the module's own order, of equal ones the first that is named; `None` where the module takes none
/// of them, and where it does not answer.
pub fn first_of(module: &AnyModule, question: &Question, rows: &[u32]) -> Option<u32> {
    let answers = answers(module, question)?.ok()?;
    let place = |row: &u32| Some(answers.get(*row as usize)?.place);
    let placed = rows.iter().filter_map(|row| Some((place(row)?, *row)));
    let placed = placed.filter(|(place, _)| place.is_finite());
    let first = placed.min_by(|(one, _), (other, _)| one.total_cmp(other));
    first.map(|(_, row)| row)
}

/// The answers of all rows.
fn answers(module: &AnyModule, question: &Question) -> Option<Result<Vec<Answered>, Fault>> {
    Some(match (module, question) {
        (AnyModule::Rank(module), Question::Price(asked)) => answered(module.price(asked), prices),
        (AnyModule::Rank(module), Question::Order(asked)) => answered(module.order(asked), scores),
        (AnyModule::Consolidate(module), Question::Score(asked)) => {
            answered(module.score(asked), values)
        }
        (AnyModule::Budget(module), Question::Allow(asked)) => {
            let ceilings = &asked.pools.ceiling;
            answered(module.allow(asked), |answer| allowances(answer, ceilings))
        }
        _ => return None,
    })
}

/// Explanations of these rows by the module; `None` where the question is of another hook.
fn notes(module: &AnyModule, question: &Question, rows: &[u32]) -> Option<Called<Vec<Note>>> {
    Some(match (module, question) {
        (AnyModule::Rank(module), Question::Price(asked)) => module.explain_price(asked, rows),
        (AnyModule::Rank(module), Question::Order(asked)) => module.explain_order(asked, rows),
        (AnyModule::Consolidate(module), Question::Score(asked)) => module.explain(asked, rows),
        (AnyModule::Budget(module), Question::Allow(asked)) => module.explain(asked, rows),
        _ => return None,
    })
}

fn answered<Raw, Typed>(
    called: Called<Checked<Raw, Typed>>,
    read: impl FnOnce(&Raw) -> Vec<Answered>,
) -> Result<Vec<Answered>, Fault> {
    called.result.map(|checked| read(&checked.raw))
}

fn prices(answer: &PriceAnswer) -> Vec<Answered> {
    let one = |row: usize| {
        let (first, then) = (answer.first[row], answer.then[row]);
        let count = answer.first_count[row];
        let is_split = count > 0 && first.to_bits() != then.to_bits();
        let (place, reason) = if is_split || count > 0 {
            (first, answer.first_reason[row])
        } else {
            (then, answer.then_reason[row])
        };
        Answered {
            place,
            words: if is_split {
                format!(
                    "{} for the first {count}, then {}",
                    dollars(first),
                    dollars(then)
                )
            } else {
                dollars(place)
            },
            reason,
        }
    };
    (0..answer.first.len()).map(one).collect()
}

fn scores(answer: &OrderAnswer) -> Vec<Answered> {
    let rows = answer.score.iter().zip(&answer.reason);
    rows.map(|(score, reason)| Answered {
        place: *score,
        words: if score.is_finite() {
            format!("{score:.6}")
        } else {
            "off the list".to_owned()
        },
        reason: *reason,
    })
    .collect()
}

fn values(answer: &ScoreAnswer) -> Vec<Answered> {
    let rows = answer.value.iter().zip(&answer.reason);
    rows.map(|(value, reason)| Answered {
        place: -value,
        words: format!(
            "{}${:.4}/h",
            if *value < 0.0 { "-" } else { "+" },
            value.abs()
        ),
        reason: *reason,
    })
    .collect()
}

fn allowances(answer: &AllowAnswer, ceilings: &[u32]) -> Vec<Answered> {
    let rows = answer.allowed.iter().zip(&answer.reason).zip(ceilings);
    rows.map(|((allowed, reason), ceiling)| Answered {
        place: f64::from(*allowed),
        words: match (*allowed).min(*ceiling) {
            u32::MAX => "no limit".to_owned(),
            nodes if nodes < *ceiling && *ceiling < u32::MAX => format!("{nodes} of {ceiling}"),
            nodes => nodes.to_string(),
        },
        reason: *reason,
    })
    .collect()
}

fn dollars(price: f64) -> String {
    if price.is_finite() {
        format!("${price:.4}/h")
    } else {
        "veto".to_owned()
    }
}

/// The rows to explain, at most as many as one explanation is about.
fn chosen(answered: &[Answered], question: &Question, wanted: &Wanted) -> Vec<u32> {
    let in_order = || {
        let mut rows: Vec<usize> = (0..answered.len()).collect();
        rows.sort_by(|one, other| answered[*one].place.total_cmp(&answered[*other].place));
        rows.into_iter().filter_map(|row| u32::try_from(row).ok())
    };
    match wanted {
        Wanted::First => in_order().take(FIRST).collect(),
        Wanted::Holding(text) => in_order()
            .filter(|row| question.row(*row as usize).contains(text.as_str()))
            .take(MOST_NOTES)
            .collect(),
        Wanted::Rows(rows) => {
            let there = rows.iter().filter(|row| (**row as usize) < answered.len());
            there.take(MOST_NOTES).copied().collect()
        }
    }
}

impl Explained {
    fn of(
        manifest: &Manifest,
        question: &Question,
        answered: &[Answered],
        rows: &[u32],
        notes: Vec<Note>,
    ) -> Self {
        let mut counts = BTreeMap::new();
        for one in answered {
            *counts.entry(one.reason).or_insert(0) += 1;
        }
        let reasons = counts.into_iter().map(|(code, rows)| Tally {
            reason: reason(manifest, code),
            rows,
        });
        let explained = rows.iter().zip(notes).filter_map(|(row, note)| {
            let one = answered.get(*row as usize)?;
            Some(ExplainedRow {
                row: *row,
                words: question.row(*row as usize),
                answer: one.words.clone(),
                reason: reason(manifest, one.reason),
                text: note.text,
                terms: note.terms,
            })
        });
        Self {
            rows: answered.len(),
            reasons: reasons.collect(),
            explained: explained.collect(),
        }
    }
}

/// The text of a reason by its code; codes count from 1.
fn reason(manifest: &Manifest, code: u16) -> String {
    let known = usize::from(code).checked_sub(1);
    let known = known.and_then(|place| manifest.reasons.get(place));
    match (known, code) {
        (Some(reason), _) => reason.text.clone(),
        (None, 0) => "no reason".to_owned(),
        (None, code) => format!("reason {code}, which its manifest does not have"),
    }
}
