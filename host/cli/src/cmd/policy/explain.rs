//! `plimsoll policy explain`: why a module answered as it did in a recorded decision, by asking it again.

use anyhow::{Context, Result, anyhow, bail};
use plimsoll_base::time::Timestamp;
use plimsoll_policy::records::{
    Entry, Explained, ExplainedRow, ModuleLine, Question, Record, RecordStoreError, Wanted, explain,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::flags::PolicyExplain;
use crate::load;
use crate::output::{number, show, table, texts, thousands};
use crate::policy::engine;
use crate::records;
use crate::view::answer::RowAnswer;
use crate::view::{Document, Instant, instant};

/// Output of `plimsoll policy explain --decision`: a recorded decision, explained.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct PolicyDecision {
    /// The decision, as it was recorded.
    #[serde(flatten)]
    listed: Listed,
    /// Version of the policy.
    version: String,
    /// SHA-256 of the module.
    sha256: String,
    /// The seed that the module was given.
    seed: u64,
    /// Why there was no answer; absent where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// The reasons that the module gave, in the order of their codes.
    reasons: Vec<Reason>,
    /// The explained rows: those asked for, or the ten that the module prefers.
    explained: Vec<AnsweredRow>,
}

impl Document for PolicyDecision {}

/// Rows that have one reason.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Reason {
    /// The reason's text.
    reason: String,
    /// Number of rows.
    rows: usize,
}

/// An explained row of the question.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnsweredRow {
    /// Its number, from 0.
    row: u32,
    /// The row in words.
    description: String,
    #[serde(flatten)]
    answer: RowAnswer,
}

/// Output of `plimsoll policy explain`: the recorded decisions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct PolicyDecisionList {
    /// The decisions, in the order in which they were made.
    items: Vec<Listed>,
}

impl Document for PolicyDecisionList {}

/// A recorded decision.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Listed {
    /// Its number, from 1.
    decision: u64,
    /// `price`, `order`, `score` or `allow`.
    call: &'static str,
    /// The policy.
    policy: String,
    /// The time that the module was given.
    time: Instant,
    /// Rows of the question.
    rows: usize,
    /// How the call ended: `ok`, or the kind of failure.
    outcome: String,
    /// Fuel of the call.
    fuel: u64,
}

impl Listed {
    fn of(record: &Record, question: &Question, policy: String) -> Self {
        let seconds = i64::try_from(question.context().now_unix_s).unwrap_or(i64::MAX);
        Self {
            decision: record.number,
            call: record.call.label(),
            policy,
            time: instant(Timestamp::from_millis(seconds.saturating_mul(1000))),
            rows: question.len(),
            outcome: record.outcome.clone(),
            fuel: record.fuel,
        }
    }
}

impl AnsweredRow {
    fn of(row: ExplainedRow) -> Self {
        Self {
            row: row.row,
            description: row.words.clone(),
            answer: row.into(),
        }
    }
}

pub(crate) fn run(flags: &PolicyExplain) -> Result<()> {
    let name = load::name(&flags.records);
    match flags.decision {
        Some(number) => one(flags, number).with_context(|| name),
        None => list(flags).with_context(|| name),
    }
}

/// The decisions that there are.
fn list(flags: &PolicyExplain) -> Result<()> {
    let mut reader = records::open(&flags.records)?;
    let mut all = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        let Entry::Decision(record) = entry else {
            continue;
        };
        let question = reader.question(&record)?;
        let module = reader.modules().get(&record.module);
        let policy = module.map_or_else(String::new, |module| module.name.clone());
        all.push(Listed::of(&record, &question, policy));
    }
    records::tell_cut(&flags.records, reader.cut());
    let list = PolicyDecisionList { items: all };
    show(
        flags.output,
        || &list,
        || {
            let head = [
                "policy", "decision", "call", "time", "rows", "outcome", "fuel",
            ];
            let mut rows = vec![head.map(str::to_owned).to_vec()];
            rows.extend(list.items.iter().map(|listed| {
                vec![
                    listed.policy.clone(),
                    listed.decision.to_string(),
                    listed.call.to_owned(),
                    listed.time.to_string(),
                    thousands(listed.rows as u64),
                    listed.outcome.clone(),
                    thousands(listed.fuel),
                ]
            }));
            table(&rows) + "--decision N explains one of them\n"
        },
    )
}

/// One decision.
fn one(flags: &PolicyExplain, number: u64) -> Result<()> {
    let (record, module, question) = found(flags, number)?;
    let store = records::store(engine()?, &flags.policy)?;
    let accepted = store.accepted(&module, &record.settings)?;
    let wanted = match &flags.find {
        Some(text) => Wanted::Holding(text.clone()),
        None if flags.row.is_empty() => Wanted::First,
        None => Wanted::Rows(rows(&flags.row, question.len())?),
    };
    let explained = explain(&accepted, &question, &wanted)
        .ok_or_else(|| RecordStoreError::hook(&module, &accepted, &record))?;
    let explained = explained.map_err(|fault| anyhow!("decision {number}: {fault}"))?;
    if let (Some(text), true) = (&flags.find, explained.explained.is_empty()) {
        bail!(
            "decision {number}: no row holds \"{text}\"; a row reads like \"{}\"",
            question.row(0)
        );
    }
    let Explained {
        reasons, explained, ..
    } = explained;
    let reasons = reasons.into_iter().map(|tally| Reason {
        reason: tally.reason,
        rows: tally.rows,
    });
    let shown = PolicyDecision {
        listed: Listed::of(&record, &question, module.name),
        version: module.version,
        sha256: module.sha256,
        seed: question.context().seed,
        fault: record.fault,
        reasons: reasons.collect(),
        explained: explained.into_iter().map(AnsweredRow::of).collect(),
    };
    show(flags.output, || &shown, || people(&shown))
}

/// The decision of that number.
fn found(flags: &PolicyExplain, number: u64) -> Result<(Record, ModuleLine, Question)> {
    let mut reader = records::open(&flags.records)?;
    let mut last = 0;
    while let Some(entry) = reader.next_entry()? {
        let Entry::Decision(record) = entry else {
            continue;
        };
        last = record.number;
        if record.number == number
            && let Some(module) = reader.modules().get(&record.module).cloned()
        {
            let question = reader.question(&record)?;
            return Ok((*record, module, question));
        }
    }
    records::tell_cut(&flags.records, reader.cut());
    bail!("there is no decision {number}; expected a number from 1 to {last}")
}

/// The rows asked about, each of which the question has.
fn rows(asked: &[u32], there: usize) -> Result<Vec<u32>> {
    match asked.iter().find(|row| **row as usize >= there) {
        None => Ok(asked.to_vec()),
        Some(row) => bail!("--row {row}: the question has {there} rows; expected a number below"),
    }
}

fn people(shown: &PolicyDecision) -> String {
    let listed = &shown.listed;
    let mut text = format!(
        "decision {}: {} {} by {} {} ({}), {}, fuel {}\n",
        listed.decision,
        listed.call,
        thousands(listed.rows as u64),
        listed.policy,
        shown.version,
        shown.sha256.get(..12).unwrap_or(&shown.sha256),
        listed.outcome,
        thousands(listed.fuel)
    );
    if let Some(fault) = &shown.fault {
        // Of a file that anybody may have written.
        let fault = fault.replace(char::is_control, " ");
        text += &format!(
            "  no answer was recorded: {fault}; the reasons below are the module's present ones\n"
        );
    }
    for tally in &shown.reasons {
        let rows = thousands(tally.rows as u64);
        text += &format!("  {rows} rows: \"{}\"\n", tally.reason);
    }
    let head = ["row", "description", "answer", "reason", "terms"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for row in &shown.explained {
        let answer = &row.answer;
        let terms = answer.terms.iter();
        let mut made_of: Vec<String> = terms
            .map(|term| format!("{} {}", term.name, number(term.value)))
            .collect();
        if !answer.message.is_empty() && answer.message != answer.reason {
            made_of.insert(0, answer.message.clone());
        }
        rows.push(vec![
            row.row.to_string(),
            row.description.clone(),
            answer.answer.clone(),
            answer.reason.clone(),
            made_of.join(", "),
        ]);
    }
    text + "\n" + &texts(&rows)
}
