//! Karpenter's scheduler and ours on the very same files: cost, nodes, seconds, pods per second, memory, and the ratios.
//!
//! Clocks: theirs from the construction of topology and scheduler to the end of `Solve`; ours from the snapshot in memory to
//! the plan, grouping included. Each solves a file in a process of its own, and ours is held against the checker in the same
//! run. Usage: `side_by_side [PART-OF-NAME]`; `side_by_side --solve FILE` prints our figures of one file.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use plimsoll_base::units::PricePerHour;
use plimsoll_benches::{cases, peak_bytes, timed};
use plimsoll_peers::{Peer, Preferences};
use plimsoll_snapshot::{Limits, read_path};
use serde::{Deserialize, Serialize};

/// Runs of ours per file; the fastest counts, since theirs is long enough to level out by itself.
const RUNS: usize = 3;

/// Result of one solver on one file.
#[derive(Debug, Serialize, Deserialize)]
struct Figures {
    pods: usize,
    placed: usize,
    nodes: usize,
    cost: f64,
    seconds: f64,
    processor_seconds: f64,
    peak_bytes: u64,
    findings: usize,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, file] = arguments.as_slice()
        && flag == "--solve"
    {
        println!("{}", serde_json::to_string(&solve(Path::new(file))?)?);
        return Ok(());
    }
    let wanted = arguments.first().map_or("", String::as_str);
    let peer = Peer::build()?;
    let folder = tempfile::tempdir()?;
    println!(
        "{:<24}{:<11}{:>8}{:>8}{:>8}{:>12}{:>10}{:>12}{:>10}{:>9}",
        "case",
        "solver",
        "pods",
        "placed",
        "nodes",
        "$/h",
        "seconds",
        "processor s",
        "pods/s",
        "MiB"
    );
    for case in cases::all(&peer)? {
        if !case.name.contains(wanted) {
            continue;
        }
        let file = folder.path().join("problem.json");
        std::fs::write(&file, &case.problem)?;
        let ours = in_own_process(&file).with_context(|| case.name.clone())?;
        let theirs = peer.solve(&file, Preferences::Respect, false)?;
        let theirs = Figures {
            pods: theirs.pods,
            placed: theirs.scheduled,
            nodes: theirs.nodes,
            cost: theirs.cost_per_hour,
            seconds: theirs.seconds,
            processor_seconds: theirs.processor_seconds,
            peak_bytes: theirs.peak_bytes,
            findings: 0,
        };
        print_pair(&case.name, &theirs, &ours);
    }
    Ok(())
}

fn in_own_process(file: &Path) -> Result<Figures> {
    let output = Command::new(std::env::current_exe()?)
        .arg("--solve")
        .arg(file)
        .output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn solve(file: &Path) -> Result<Figures> {
    let snapshot = read_path(file, &Limits::default())?.snapshot;
    let mut runs: Vec<_> = (0..RUNS).map(|_| timed(&snapshot)).collect();
    runs.sort_by_key(|run| run.wall);
    let best = &runs[0];
    let peak_bytes = peak_bytes();
    let findings = plimsoll_check::check(&snapshot, &best.plan);
    for finding in findings.iter().take(5) {
        eprintln!("check: {finding}");
    }
    let list: PricePerHour = best.plan.cost.list;
    Ok(Figures {
        pods: best.plan.placements.len() + best.plan.unplaced.len(),
        placed: best.plan.placements.len(),
        nodes: best.plan.claims.len(),
        cost: list.dollars(),
        seconds: best.wall.as_secs_f64(),
        processor_seconds: best.processor.as_secs_f64(),
        peak_bytes,
        findings: findings.len(),
    })
}

fn print_pair(name: &str, theirs: &Figures, ours: &Figures) {
    for (solver, figures) in [("karpenter", theirs), ("plimsoll", ours)] {
        println!(
            "{name:<24}{solver:<11}{:>8}{:>8}{:>8}{:>12.3}{:>10.3}{:>12.3}{:>10.0}{:>9.1}",
            figures.pods,
            figures.placed,
            figures.nodes,
            figures.cost,
            figures.seconds,
            figures.processor_seconds,
            figures.placed as f64 / figures.seconds,
            figures.peak_bytes as f64 / f64::from(1 << 20),
        );
    }
    let checker = match ours.findings {
        0 => "checker clean".to_owned(),
        count => format!("checker: {count} findings"),
    };
    println!(
        "{:<24}{:<11}cost {:.3} x, pods/s {:.0} x, processor {:.0} x, memory {:.2} x; {checker}\n",
        "",
        "ratio",
        ours.cost / theirs.cost,
        theirs.seconds / ours.seconds,
        theirs.processor_seconds / ours.processor_seconds,
        ours.peak_bytes as f64 / theirs.peak_bytes as f64,
    );
}
