//! `plimsoll policy test`: a policy proven by the cases of its suite, its recorded answers, and the laws that every policy keeps.

use std::time::Instant;

use anyhow::{Result, bail};
use plimsoll_author::golden::{Difference, Goldens};
use plimsoll_author::laws::Law;
use plimsoll_author::proof::{self, GOLDENS, Proof, SUITE};
use plimsoll_author::suite::Tried;
use plimsoll_policy::{Hook, Manifest};
use schemars::JsonSchema;
use serde::Serialize;

use super::beside::Beside;
use super::opened::Opened;
use crate::flags::Test;
use crate::output::{counted, show, texts};
use crate::policy::short_name;
use crate::view::Document;

/// Output of `plimsoll policy test`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct PolicyTest {
    /// The policy.
    policy: String,
    /// True if every case is as expected, every answer as recorded, and every law kept.
    ok: bool,
    /// Fuel per row of the question that the laws are tried on.
    fuel_per_row: u64,
    /// The cases of the suite, in its order.
    cases: Vec<TestedCase>,
    /// The recorded answers.
    goldens: TestedGoldens,
    /// The laws.
    laws: Vec<TestedLaw>,
    /// Word for a row of the laws' question.
    #[serde(skip)]
    row: &'static str,
    /// True if there is a suite.
    #[serde(skip)]
    has_suite: bool,
}

impl Document for PolicyTest {}

/// A case of the suite.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestedCase {
    /// Its name.
    case: String,
    /// True if the answer is as expected.
    ok: bool,
    /// Everything that is not, with row, value and expectation.
    failures: Vec<String>,
}

/// The recorded answers.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestedGoldens {
    /// True if any are recorded.
    recorded: bool,
    /// Rows that were answered.
    rows: usize,
    /// True if they were recorded just now.
    updated: bool,
    /// Rows whose answer is not as recorded.
    differences: Vec<TestedRow>,
}

/// A row whose answer is not as recorded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestedRow {
    /// The case.
    case: String,
    /// The row.
    row: String,
    /// The recorded answer; absent for a new row.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<String>,
    /// The present answer; absent for a row that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

/// A law that every policy of the hook keeps.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestedLaw {
    /// The law.
    law: &'static str,
    /// True if the policy keeps it.
    ok: bool,
    /// The first breach; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    breach: Option<String>,
}

pub(crate) fn run(flags: &Test) -> Result<()> {
    let beside = Beside::of(&flags.module, flags.suite.as_deref())?;
    let opened = Opened::open(&flags.module, &flags.settings, beside)?;
    let Opened {
        policy,
        seen,
        beside,
        suite,
    } = &opened;
    if flags.update && suite.is_none() {
        bail!("--update: there is no {SUITE} whose answers could be recorded");
    }
    let goldens = match beside.read(GOLDENS)? {
        Some(text) if !flags.update => Some(Goldens::read(&text.file, &text.text)?),
        _ => None,
    };
    let began = Instant::now();
    let proof = proof::prove(policy, suite.as_ref(), goldens.as_ref());
    let took = began.elapsed().as_secs_f64();
    if flags.update {
        beside.write(GOLDENS, &proof.found.yaml(&seen.manifest.name)?)?;
    }
    let mut tested = PolicyTest::of(&seen.manifest, &proof);
    tested.goldens.recorded = goldens.is_some() || flags.update;
    tested.goldens.updated = flags.update;
    tested.has_suite = suite.is_some();
    show(flags.output, || &tested, || people(&tested, took))?;
    if tested.ok {
        return Ok(());
    }
    bail!("policy {}: {}", tested.policy, verdict(&proof))
}

/// Sentence about all that is wrong; empty where nothing is.
fn verdict(proof: &Proof) -> String {
    let mut wrong = Vec::new();
    let (failed, cases) = (proof.failed(), proof.cases.len());
    if failed > 0 {
        wrong.push(format!("{failed} of {cases} cases failed"));
    }
    if !proof.differences.is_empty() {
        let rows = counted(proof.differences.len(), "row");
        wrong.push(format!("{rows} not as recorded"));
    }
    let (broken, laws) = (proof.broken(), proof.held.laws.len());
    if broken > 0 {
        wrong.push(format!("{broken} of {laws} laws are broken"));
    }
    wrong.join(", ")
}

impl PolicyTest {
    fn of(manifest: &Manifest, proof: &Proof) -> Self {
        let case = |tried: &Tried| TestedCase {
            case: tried.case.clone(),
            ok: tried.failures.is_empty(),
            failures: tried.failures.clone(),
        };
        let row = |difference: &Difference| TestedRow {
            case: difference.case.clone(),
            row: difference.row.clone(),
            recorded: difference.recorded.clone(),
            found: difference.found.clone(),
        };
        let law = |law: &Law| TestedLaw {
            law: law.name,
            ok: law.breach.is_none(),
            breach: law.breach.clone(),
        };
        Self {
            policy: short_name(manifest).to_owned(),
            ok: proof.is_sound(),
            fuel_per_row: proof.held.fuel / (proof.held.rows as u64).max(1),
            cases: proof.cases.iter().map(case).collect(),
            goldens: TestedGoldens {
                recorded: false,
                rows: proof.found.rows(),
                updated: false,
                differences: proof.differences.iter().map(row).collect(),
            },
            laws: proof.held.laws.iter().map(law).collect(),
            row: match manifest.hook {
                Hook::Rank => "candidate",
                Hook::Consolidate => "move",
                Hook::Budget => "row",
            },
            has_suite: false,
        }
    }
}

fn people(tested: &PolicyTest, took: f64) -> String {
    let mark = if tested.ok { "ok" } else { "failed" };
    let mut text = format!(
        "{}  {}, {} laws  {mark}  {took:.1} s  fuel {} per {}\n",
        tested.policy,
        counted(tested.cases.len(), "case"),
        tested.laws.len(),
        tested.fuel_per_row,
        tested.row
    );
    let mut rows = Vec::new();
    for case in &tested.cases {
        let failed = case.failures.iter();
        rows.extend(
            failed.map(|failure| vec![format!("  failed: {}", case.case), failure.clone()]),
        );
    }
    let none = || "no such row".to_owned();
    for row in &tested.goldens.differences {
        let is = row.found.clone().unwrap_or_else(none);
        let was = row.recorded.clone().unwrap_or_else(none);
        rows.push(vec![
            format!("  changed: {}", row.case),
            format!("{}: {is}; recorded: {was}", row.row),
        ]);
    }
    let broken = tested.laws.iter().filter_map(|law| {
        let breach = law.breach.as_ref()?;
        Some(vec![format!("  broken: {}", law.law), breach.clone()])
    });
    rows.extend(broken);
    text.push_str(&texts(&rows));
    if !tested.has_suite {
        text.push_str("  there is no suite: its cases stand in suite.yaml beside it, or in the folder that --suite names\n");
    } else if tested.goldens.updated {
        let rows = counted(tested.goldens.rows, "row");
        text.push_str(&format!("  recorded: {rows} in {GOLDENS}\n"));
    } else if !tested.goldens.recorded {
        text.push_str("  nothing is recorded: --update keeps these answers in goldens.yaml\n");
    }
    text
}
