//! Prints what packing costs against its bound and how long it takes: one line per workload.
//!
//! `plimsoll-packing-bench [EFFORT [PART-OF-NAME]]`. The published trace is read where `PLIMSOLL_DATA` names its folder; without
//! it that line is left out. Times are the least of several runs on one core.

mod guarded;
mod market;
mod workload;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use plimsoll_pack::{bound, pack, verify};

use crate::workload::Workload;

const DOLLAR: f64 = 1e9;

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let effort = arguments.next().map_or(Ok(100), |text| {
        text.parse()
            .with_context(|| format!("effort {text:?} is not a whole number"))
    })?;
    let wanted = arguments.next().unwrap_or_default();
    let data = std::env::var_os("PLIMSOLL_DATA").map(PathBuf::from);
    println!(
        "{:<24}{:>8}{:>8}{:>12}{:>12}{:>8}{:>9}{:>9}",
        "case", "pods", "nodes", "$/h", "bound $/h", "ratio", "pack ms", "bound ms"
    );
    for workload in workload::all(data.as_deref())? {
        if workload.name.contains(&wanted) {
            println!("{}", line(&workload, effort)?);
        }
    }
    println!("\n{}", guarded::head());
    guarded::lines(&wanted, data.as_deref(), |line| println!("{line}"))?;
    Ok(())
}

/// Packs a workload and says what came of it.
fn line(workload: &Workload, effort: u32) -> Result<String> {
    let problem = &workload.problem;
    let (packing, pack_time) = timed(|| pack(problem, effort));
    let (bound, bound_time) = timed(|| bound(problem));
    verify(problem, &packing).with_context(|| format!("{}: not a packing", workload.name))?;
    let pods: u64 = problem.demands.iter().map(|d| u64::from(d.count)).sum();
    let (price, least) = (packing.list_price(problem) as f64, bound.list_price as f64);
    let unplaced = match packing.unplaced_count() {
        0 => String::new(),
        count => format!("  {count} unplaced"),
    };
    let allowance = if packing.node_count() < 30 {
        one_node(workload)
    } else {
        0.0
    };
    let verdict = if price <= (least * 1.02).max(least + allowance) {
        ""
    } else {
        "  above the bar"
    };
    Ok(format!(
        "{:<24}{pods:>8}{:>8}{:>12.4}{:>12.4}{:>8.4}{:>9.1}{:>9.1}{unplaced}{verdict}",
        workload.name,
        packing.node_count(),
        price / DOLLAR,
        least / DOLLAR,
        price / least,
        pack_time.as_secs_f64() * 1e3,
        bound_time.as_secs_f64() * 1e3,
    ))
}

/// The price of the cheapest kind that holds the most valuable demand: what a fleet under 30 nodes may cost above its bound.
fn one_node(workload: &Workload) -> f64 {
    let problem = &workload.problem;
    let cheapest = |demand: &plimsoll_pack::Demand| {
        let kinds = problem.classes[demand.class].kinds.iter();
        kinds
            .map(|kind| &problem.kinds[kind])
            .filter(|kind| {
                kind.capacity
                    .iter()
                    .zip(&demand.request)
                    .all(|(have, ask)| have >= ask)
            })
            .map(|kind| kind.list_price)
            .min()
    };
    problem
        .demands
        .iter()
        .filter_map(cheapest)
        .max()
        .unwrap_or(0) as f64
}

/// The result, and the least time of three runs.
fn timed<T>(run: impl Fn() -> T) -> (T, Duration) {
    let once = || {
        let start = Instant::now();
        let result = run();
        (result, start.elapsed())
    };
    let (result, first) = once();
    let least = (0..2).map(|_| once().1).fold(first, Duration::min);
    (result, least)
}
