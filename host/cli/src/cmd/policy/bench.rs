//! `plimsoll policy bench`: what standard questions cost. Fuel is judged by its baseline; times are told and never judged.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use plimsoll_author::bench::{Asked, Baseline, questions};
use plimsoll_author::proof::FUEL;
use schemars::JsonSchema;
use serde::Serialize;

use super::at_scale::{self, LimitUse};
use super::beside::Beside;
use super::opened::Opened;
use crate::flags::Bench;
use crate::output::{change, counted, kilobytes, show, table, thousands};
use crate::policy::short_name;
use crate::view::{Document, Micros};

/// Output of `plimsoll policy bench`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct PolicyBench {
    /// The policy.
    policy: String,
    /// True if no question takes more fuel than its baseline and the tolerance.
    ok: bool,
    /// Bytes of the component.
    bytes: usize,
    /// Percent by which fuel may exceed the baseline.
    tolerance_percent: u32,
    /// True if the baseline was recorded just now.
    updated: bool,
    /// The standard questions of the policy's hook.
    questions: Vec<Measured>,
    /// Use of a controller's limits where a whole region is for sale.
    limits: Vec<LimitUse>,
}

impl Document for PolicyBench {}

/// A standard question.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Measured {
    /// The question, with its size.
    question: &'static str,
    /// True if its fuel is within the tolerance.
    ok: bool,
    /// Rows of the answer.
    rows: usize,
    /// Fuel of one call, the same on every machine.
    fuel: u64,
    /// The recorded fuel; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel_baseline: Option<u64>,
    /// Most memory that the instance had.
    memory: String,
    /// The time within which half of the calls ended; absent where none was timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    p50: Option<Micros>,
    /// The time within which 99 of 100 calls ended; absent where none was timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    p99: Option<Micros>,
}

pub(crate) fn run(flags: &Bench) -> Result<()> {
    let beside = Beside::of(&flags.module, flags.suite.as_deref())?;
    let opened = Opened::open(&flags.module, &flags.settings, beside)?;
    let Opened { seen, beside, .. } = &opened;
    let baseline = match beside.read(FUEL)? {
        Some(text) if !flags.update => Some(Baseline::read(&text.file, &text.text)?),
        _ => None,
    };
    let mut measured = Vec::new();
    for asked in questions(&opened.policy) {
        let one = measure(&asked, baseline.as_ref(), flags);
        measured.push(one.with_context(|| format!("policy {}", flags.module))?);
    }
    let limits = at_scale::ask(&opened.policy);
    let limits = limits.with_context(|| format!("policy {}", flags.module))?;
    if flags.update {
        let fuel = measured.iter();
        let fuel = fuel
            .map(|one| (one.question.to_owned(), one.fuel))
            .collect();
        beside.write(FUEL, &Baseline { fuel }.yaml(&seen.manifest.name)?)?;
    }
    let benched = PolicyBench {
        policy: short_name(&seen.manifest).to_owned(),
        ok: measured.iter().all(|one| one.ok),
        bytes: seen.size,
        tolerance_percent: flags.tolerance,
        updated: flags.update,
        questions: measured,
        limits,
    };
    show(
        flags.output,
        || &benched,
        || people(&benched, baseline.is_some()),
    )?;
    let risen = benched.questions.iter().filter(|one| !one.ok);
    let risen: Vec<String> = risen.map(|one| one.rise(flags.tolerance)).collect();
    if risen.is_empty() {
        return Ok(());
    }
    bail!("policy {}: {}", benched.policy, risen.join(", "))
}

/// Asks once for fuel, and as often as wanted for times.
fn measure(asked: &Asked<'_>, baseline: Option<&Baseline>, flags: &Bench) -> Result<Measured> {
    let ask = || {
        let answer = asked.ask();
        answer.map_err(|fault| at_scale::failed(asked.name, &fault))
    };
    let used = ask()?;
    let mut micros = Vec::new();
    for _ in 0..flags.calls {
        let began = Instant::now();
        ask()?;
        micros.push(began.elapsed().as_secs_f64() * 1e6);
    }
    micros.sort_by(f64::total_cmp);
    let within = |percent: usize| {
        micros
            .get(micros.len().saturating_sub(1) * percent / 100)
            .copied()
            .map(Micros)
    };
    let most = baseline.and_then(|baseline| baseline.most(asked.name, flags.tolerance));
    Ok(Measured {
        question: asked.name,
        ok: most.is_none_or(|most| used.fuel <= most),
        rows: asked.rows,
        fuel: used.fuel,
        fuel_baseline: baseline.and_then(|baseline| baseline.fuel.get(asked.name).copied()),
        memory: format!("{}Ki", used.memory >> 10),
        p50: within(50),
        p99: within(99),
    })
}

impl Measured {
    /// By how much fuel rose, in a line.
    fn rise(&self, tolerance: u32) -> String {
        let baseline = self.fuel_baseline.unwrap_or_default();
        format!(
            "{} takes {} fuel; expected at most {tolerance} % more than {}",
            self.question,
            thousands(self.fuel),
            thousands(baseline)
        )
    }

    /// Fuel against the baseline, for people.
    fn against(&self) -> String {
        let whole = |fuel: u64| i64::try_from(fuel).unwrap_or(i64::MAX);
        let change = |baseline| {
            if self.fuel == baseline {
                "same".to_owned()
            } else {
                change(whole(self.fuel), whole(baseline))
            }
        };
        self.fuel_baseline.map_or_else(|| "-".to_owned(), change)
    }
}

fn people(benched: &PolicyBench, has_baseline: bool) -> String {
    let mark = if benched.ok { "ok" } else { "failed" };
    let mut text = format!("{}  {}  {mark}\n", benched.policy, kilobytes(benched.bytes));
    let head = [
        "", "rows", "fuel", "per row", "baseline", "memory", "p50", "p99",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let micros = |time: Option<Micros>| {
        time.map_or_else(|| "-".to_owned(), |time| format!("{:.0} us", time.0))
    };
    for one in &benched.questions {
        rows.push(vec![
            format!("  {}", one.question),
            thousands(one.rows as u64),
            thousands(one.fuel),
            (one.fuel / (one.rows as u64).max(1)).to_string(),
            one.against(),
            one.memory.clone(),
            micros(one.p50),
            micros(one.p99),
        ]);
    }
    text.push_str(&table(&rows));
    if !benched.limits.is_empty() {
        text.push_str("share of a controller's limits used:\n");
    }
    for limits in &benched.limits {
        text.push_str(&format!("  {}\n", limits.text()));
    }
    if benched.updated {
        let questions = counted(benched.questions.len(), "question");
        text.push_str(&format!("  recorded: fuel of {questions} in {FUEL}\n"));
    } else if !has_baseline {
        text.push_str("  nothing is recorded: --update keeps this fuel in fuel.yaml\n");
    }
    text
}
