//! `plimsoll policy explain`: why a module answered as it did in a recorded decision, by asking it again.

use anyhow::{Context, Result, anyhow, bail};
use plimsoll_policy::records::{
    Entry, Explained, ModuleLine, Question, Record, ShelfError, Wanted, explain,
};
use serde::Serialize;

use crate::flags::PolicyExplain;
use crate::load;
use crate::output::{number, show, table, texts, thousands};
use crate::policy::engine;
use crate::records;

/// What `-o json` prints of one decision.
#[derive(Serialize)]
struct Shown {
    decision: u64,
    call: &'static str,
    policy: String,
    version: String,
    module: String,
    unix_s: u64,
    seed: u64,
    outcome: String,
    /// Why there was no answer then, where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    fuel: u64,
    #[serde(flatten)]
    explained: Explained,
}

/// What `-o json` prints of each decision there is.
#[derive(Serialize)]
struct Listed {
    decision: u64,
    call: &'static str,
    policy: String,
    unix_s: u64,
    rows: usize,
    outcome: String,
    fuel: u64,
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
        all.push(Listed {
            decision: record.number,
            call: record.call.label(),
            policy: module.map_or_else(String::new, |module| module.name.clone()),
            unix_s: question.context().now_unix_s,
            rows: question.len(),
            outcome: record.outcome.clone(),
            fuel: record.fuel,
        });
    }
    records::tell_cut(&flags.records, reader.cut());
    show(flags.output, &all, || {
        let head = [
            "policy", "decision", "call", "second", "rows", "outcome", "fuel",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(all.iter().map(|listed| {
            vec![
                listed.policy.clone(),
                listed.decision.to_string(),
                listed.call.to_owned(),
                listed.unix_s.to_string(),
                thousands(listed.rows as u64),
                listed.outcome.clone(),
                thousands(listed.fuel),
            ]
        }));
        table(&rows) + "--decision N explains one of them\n"
    })
}

/// One decision.
fn one(flags: &PolicyExplain, number: u64) -> Result<()> {
    let (record, module, question) = found(flags, number)?;
    let shelf = records::shelf(engine()?, &flags.policy)?;
    let accepted = shelf.accepted(&module, &record.settings)?;
    let wanted = match &flags.find {
        Some(text) => Wanted::Holding(text.clone()),
        None if flags.row.is_empty() => Wanted::First,
        None => Wanted::Rows(rows(&flags.row, question.len())?),
    };
    let explained = explain(&accepted, &question, &wanted)
        .ok_or_else(|| ShelfError::hook(&module, &accepted, &record))?;
    let explained = explained.map_err(|fault| anyhow!("decision {number}: {fault}"))?;
    if let (Some(text), true) = (&flags.find, explained.explained.is_empty()) {
        bail!(
            "decision {number}: no row holds \"{text}\"; a row reads like \"{}\"",
            question.row(0)
        );
    }
    let context = question.context();
    let shown = Shown {
        decision: number,
        call: record.call.label(),
        policy: module.name,
        version: module.version,
        module: module.sha256,
        unix_s: context.now_unix_s,
        seed: context.seed,
        outcome: record.outcome,
        fault: record.fault,
        fuel: record.fuel,
        explained,
    };
    show(flags.output, &shown, || people(&shown))
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

fn people(shown: &Shown) -> String {
    let explained = &shown.explained;
    let mut text = format!(
        "decision {}: {} {} by {} {} ({}), {}, fuel {}\n",
        shown.decision,
        shown.call,
        thousands(explained.rows as u64),
        shown.policy,
        shown.version,
        shown.module.get(..12).unwrap_or(&shown.module),
        shown.outcome,
        thousands(shown.fuel)
    );
    if let Some(fault) = &shown.fault {
        // Of a file that anybody may have written.
        let fault = fault.replace(char::is_control, " ");
        text += &format!(
            "  there was no answer then: {fault}; what follows is what the module says now\n"
        );
    }
    for tally in &explained.reasons {
        let rows = thousands(tally.rows as u64);
        text += &format!("  {rows} rows: \"{}\"\n", tally.reason);
    }
    let head = ["row", "what", "answer", "reason", "made of"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for row in &explained.explained {
        let terms = row.terms.iter();
        let mut made_of: Vec<String> = terms
            .map(|(name, value)| format!("{name} {}", number(*value)))
            .collect();
        if !row.text.is_empty() && row.text != row.reason {
            made_of.insert(0, row.text.clone());
        }
        rows.push(vec![
            row.row.to_string(),
            row.words.clone(),
            row.answer.clone(),
            row.reason.clone(),
            made_of.join(", "),
        ]);
    }
    text + "\n" + &texts(&rows)
}
