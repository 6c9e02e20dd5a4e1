//! `plimsoll plan`: one decision on a snapshot.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail};
use plimsoll_core::plan::{Plan, Target};
use plimsoll_core::snapshot::Snapshot;
use serde::Serialize;

use crate::explain;
use crate::flags;
use crate::load;
use crate::output::{dollars, ratio, show, table, thousands};
use crate::player::Decided;
use crate::policy::engine;
use crate::strategy::Strategy;

/// Most reasons listed under a plan.
const MOST_REASONS: usize = 20;

pub(crate) fn run(flags: &flags::Plan) -> Result<()> {
    let began = Instant::now();
    let (loaded, input) = load::snapshot_and_digest(&flags.snapshot, &flags.deciding)?;
    let read = began.elapsed();
    let strategy = Strategy::ranking(&flags.policy, &engine()?)?;
    strategy.check(&loaded.snapshot.catalogue)?;
    let began = Instant::now();
    let Decided {
        mut plan, prices, ..
    } = strategy.plan(&loaded.snapshot)?;
    let decided = began.elapsed();
    strategy.note_guards(&loaded.snapshot, &mut plan);
    let printed = Printed {
        input_sha256: &input,
        policy: strategy.name(),
        plan: &plan,
    };
    show(flags.output, &printed, || {
        let text = people(&loaded.snapshot, &plan);
        format!("{text}input sha256 {input}\n")
    })?;
    if flags.timings {
        let peak =
            peak_mebibytes().map_or_else(String::new, |peak| format!(", peak memory {peak} MiB"));
        eprintln!("read {read:.1?}, decided {decided:.1?}{peak}");
    }
    if flags.check {
        let mut findings = plimsoll_core::check::review(&loaded.snapshot, &plan, prices);
        findings.retain(|finding| !finding.rule.is_remark());
        for finding in &findings {
            eprintln!("check: {finding}");
        }
        if !findings.is_empty() {
            bail!(
                "the checker found {} contradictions in the plan",
                findings.len()
            );
        }
        eprintln!("check: nothing found");
    }
    Ok(())
}

/// High water mark of this process's resident memory, where the system tells it.
fn peak_mebibytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes.div_ceil(1024))
}

/// What `-o json` prints: the plan, and what it was made from.
#[derive(Serialize)]
struct Printed<'a> {
    input_sha256: &'a str,
    policy: String,
    #[serde(flatten)]
    plan: &'a Plan,
}

fn people(snapshot: &Snapshot, plan: &Plan) -> String {
    let mut text = summary(plan);
    let mut kinds: BTreeMap<(String, String, String), (u64, i64, usize)> = BTreeMap::new();
    let mut pods = vec![0_usize; plan.claims.len()];
    for placement in &plan.placements {
        if let Target::New(claim) = placement.target {
            pods[claim] += 1;
        }
    }
    for (claim, pods) in plan.claims.iter().zip(pods) {
        let Some(option) = claim.chosen() else {
            continue;
        };
        let key = (
            claim.pool.to_string(),
            option.instance_type.to_string(),
            format!("{}, zone {}", option.capacity_type, option.zone),
        );
        let entry = kinds.entry(key).or_default();
        *entry = (
            entry.0 + 1,
            entry.1 + option.list_price.nanos(),
            entry.2 + pods,
        );
    }
    if !kinds.is_empty() {
        let mut rows = vec![
            ["nodes", "type", "pool", "terms", "pods", "$/h"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(
            kinds
                .into_iter()
                .map(|((pool, name, terms), (count, cost, pods))| {
                    vec![
                        thousands(count),
                        name,
                        pool,
                        terms,
                        thousands(pods as u64),
                        dollars(cost),
                    ]
                }),
        );
        text.push('\n');
        text.push_str(&table(&rows));
    }
    for note in &plan.notes {
        text.push_str(&format!("note: {}\n", note.text));
    }
    for unplaced in plan.unplaced.iter().take(MOST_REASONS) {
        text.push('\n');
        text.push_str(&explain::refusal(snapshot, unplaced));
    }
    if plan.unplaced.len() > MOST_REASONS {
        text.push_str(&format!(
            "\nand {} other pods\n",
            thousands((plan.unplaced.len() - MOST_REASONS) as u64)
        ));
    }
    text
}

fn summary(plan: &Plan) -> String {
    let existing = plan
        .placements
        .iter()
        .filter(|placement| matches!(placement.target, Target::Existing(_)))
        .count();
    let new = plan.placements.len() - existing;
    let cost = plan.cost;
    format!(
        "{} pods on {} new nodes for {}/h, {} on nodes there are, {} without a place\n\
         against the bound {}, first fit would cost {}/h, the dearest named types {}/h\n",
        thousands(new as u64),
        thousands(plan.claims.len() as u64),
        dollars(cost.list.nanos()),
        thousands(existing as u64),
        thousands(plan.unplaced.len() as u64),
        ratio(cost.list.nanos(), cost.bound.nanos()),
        dollars(cost.first_fit.nanos()),
        dollars(cost.dearest.nanos()),
    )
}
