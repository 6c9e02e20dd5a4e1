//! `plimsoll plan`: one decision on a snapshot.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Result, bail};
use plimsoll_api::claim_refusal;
use plimsoll_base::words::shortened;
use plimsoll_disrupt::static_pool;
use plimsoll_engine::Engine;
use plimsoll_model::plan::{Note, Plan, PlannedClaim, Target, Unplaced};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::outside;
use plimsoll_schedule::spare;
use plimsoll_schedule::waste::waste;

use crate::explain;
use crate::flags;
use crate::load;
use crate::output::{counted, dollars, percent, ratio, show, table, thousands};
use crate::player::Decided;
use crate::policy::engine;
use crate::strategy::Strategy;
use crate::view;
use crate::view::plan::claim_name;

/// Most reasons listed under a plan.
const MOST_REASONS: usize = 20;

pub(crate) fn run(flags: &flags::Plan) -> Result<()> {
    let began = Instant::now();
    let (mut loaded, input) = load::snapshot_and_digest(&flags.snapshot, &flags.planning.deciding)?;
    let mut found = load::found(&mut loaded);
    let read = began.elapsed();
    let strategy = Strategy::ranking(&flags.planning.policy, &engine()?)?;
    strategy.check(&loaded.snapshot.catalogues)?;
    let began = Instant::now();
    let Decided {
        mut plan, prices, ..
    } = strategy.plan(&loaded.snapshot)?;
    let decided = began.elapsed();
    strategy.note_guards(&loaded.snapshot, &mut plan);
    strategy.tell_nearest(&loaded.snapshot, &mut plan, |_| true);
    note_found(&mut found, &loaded.snapshot, &mut plan);
    let refused = refused_claims(&loaded.snapshot, &plan);
    plan.notes.extend(refused.iter().cloned());
    show(
        flags.output,
        || view::plan::Plan::of(&loaded.snapshot, &plan, strategy.name(), &input),
        || {
            let text = people(&loaded.snapshot, &plan);
            format!("{text}input sha256 {input}\n")
        },
    )?;
    if flags.timings {
        let peak =
            peak_mebibytes().map_or_else(String::new, |peak| format!(", peak memory {peak} MiB"));
        eprintln!("read {read:.1?}, decided {decided:.1?}{peak}");
    }
    if flags.check {
        let mut findings = plimsoll_check::review(&loaded.snapshot, &plan, prices);
        findings.retain(|finding| !finding.rule.is_remark());
        for finding in &findings {
            eprintln!("check: {finding}");
        }
        for note in &refused {
            eprintln!("check: {}", note.text);
        }
        let violations = findings.len() + refused.len();
        if violations > 0 {
            let violations = counted(violations, "violation");
            bail!("the checker found {violations} in the plan");
        }
        eprintln!("check: no violations");
    }
    Ok(())
}

/// Adds what is known of pods and claims before and after the plan: places promised to pods, ceilings that hold claims back.
fn note_found(found: &mut Engine, snapshot: &Snapshot, plan: &mut Plan) {
    let note = Note::of_plan;
    let promised = found.promised_pods(snapshot.now).len();
    if promised > 0 {
        let pods = counted(promised, "pod");
        plan.notes.push(note(format!(
            "{pods} not planned: expected on nodes and NodeClaims that were planned for them"
        )));
    }
    let mut held: BTreeMap<String, usize> = BTreeMap::new();
    for words in found
        .held_by_ceilings(snapshot, plan, snapshot.now)
        .into_values()
    {
        *held.entry(words).or_default() += 1;
    }
    for (words, count) in held {
        let nodes = counted(count, "new node");
        plan.notes.push(note(format!("{nodes} held back: {words}")));
    }
}

/// A remark for each planned NodeClaim that an API server would refuse, with the field.
fn refused_claims(snapshot: &Snapshot, plan: &Plan) -> Vec<Note> {
    let refused = plan.claims.iter().enumerate().filter_map(|(row, planned)| {
        let pool = snapshot.pool(planned.pool.as_str())?;
        let name = claim_name(snapshot, plan, row);
        let claim = planned.to_claim(name, snapshot.now);
        let refusal = claim_refusal(&claim, &pool.uid)?;
        let text = format!(
            "the API server would refuse NodeClaim {}: {refusal}",
            claim.name
        );
        Some(Note::of_pool(planned.pool.clone(), text))
    });
    refused.collect()
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

/// Nodes of one pool, instance type, capacity type and zone.
#[derive(Default)]
struct Alike<'p> {
    claims: Vec<&'p PlannedClaim>,
    cost: i64,
    pods: usize,
}

fn people(snapshot: &Snapshot, plan: &Plan) -> String {
    let mut text = summary(snapshot, plan);
    text.push_str(&kinds(snapshot, plan));
    for note in &plan.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    for verdict in spare::verdicts(snapshot, plan) {
        let spare::BufferVerdict {
            buffer,
            state,
            message,
        } = verdict;
        text.push_str(&format!("CapacityBuffer {buffer}: {state}, {message}\n"));
    }
    for (pool, words) in static_pool::report(snapshot) {
        text.push_str(&format!("static NodePool {}: {words}\n", pool.name));
    }
    text.push_str(&not_planned(snapshot));
    let exists = |unplaced: &&Unplaced| !snapshot.pods[unplaced.pod].is_spare();
    let unplaced: Vec<&Unplaced> = plan.unplaced.iter().filter(exists).collect();
    for unplaced in unplaced.iter().take(MOST_REASONS) {
        text.push('\n');
        text.push_str(&explain::refusal(snapshot, unplaced));
    }
    if unplaced.len() > MOST_REASONS {
        text.push_str(&format!(
            "\nand {} more unschedulable pods\n",
            thousands((unplaced.len() - MOST_REASONS) as u64)
        ));
    }
    text
}

/// Pods without a node that are not planned for, a line for each reason.
fn not_planned(snapshot: &Snapshot) -> String {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (row, outside) in outside(snapshot) {
        let pods = by_reason.entry(outside.to_string()).or_default();
        pods.push(snapshot.pods[row].name.to_string());
    }
    let line = |(reason, pods): (String, Vec<String>)| {
        let count = counted(pods.len(), "pod");
        format!("not planned: {count} ({}): {reason}\n", shortened(&pods))
    };
    by_reason.into_iter().map(line).collect()
}

/// The nodes to buy as a table, a row for all that are alike.
fn kinds(snapshot: &Snapshot, plan: &Plan) -> String {
    let mut kinds: BTreeMap<[String; 4], Alike<'_>> = BTreeMap::new();
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
        let key = [
            claim.pool.to_string(),
            option.instance_type.to_string(),
            option.capacity_type.to_string(),
            option.zone.to_string(),
        ];
        let alike = kinds.entry(key).or_default();
        alike.claims.push(claim);
        alike.cost += option.list_price.nanos();
        alike.pods += pods;
    }
    if kinds.is_empty() {
        return String::new();
    }
    let heads = [
        "nodes",
        "instance type",
        "node pool",
        "capacity type",
        "zone",
        "pods",
        "price per hour",
        "unrequested cpu",
        "unrequested memory",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(
        kinds
            .into_iter()
            .map(|([pool, name, capacity_type, zone], alike)| {
                let waste = waste(snapshot, alike.claims.iter().copied());
                vec![
                    thousands(alike.claims.len() as u64),
                    name,
                    pool,
                    capacity_type,
                    zone,
                    thousands(alike.pods as u64),
                    dollars(alike.cost),
                    percent(waste.cpu),
                    percent(waste.memory),
                ]
            }),
    );
    format!("\n{}", table(&rows))
}

fn summary(snapshot: &Snapshot, plan: &Plan) -> String {
    let exists = |row: usize| !snapshot.pods[row].is_spare();
    let placements = plan.placements.iter();
    let placed: Vec<_> = placements.filter(|placed| exists(placed.pod)).collect();
    let existing = placed
        .iter()
        .filter(|placement| matches!(placement.target, Target::Existing(_)))
        .count();
    let new = placed.len() - existing;
    let unplaced = plan.unplaced.iter().filter(|unplaced| exists(unplaced.pod));
    let cost = plan.cost;
    let waste = waste(snapshot, &plan.claims);
    let wasted = if plan.claims.is_empty() {
        String::new()
    } else {
        let (cpu, memory) = (percent(waste.cpu), percent(waste.memory));
        format!("unrequested on new nodes: {cpu} of cpu, {memory} of memory\n")
    };
    format!(
        "{} on {} for {}, {} on existing nodes, {} unschedulable\n\
         cost / LP bound {}; first fit would cost {}, the most expensive launch options {}\n{wasted}",
        counted(new, "pod"),
        counted(plan.claims.len(), "new node"),
        cost.list,
        thousands(existing as u64),
        thousands(unplaced.count() as u64),
        ratio(cost.list.nanos(), cost.bound.nanos()),
        cost.first_fit,
        cost.dearest,
    )
}
