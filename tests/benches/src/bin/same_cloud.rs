//! Karpenter's AWS controller, unmodified, and ours at the same scripts on the same cloud on loopback, held side by side: objects, tags,
//! launch templates, fleets, doubles, and prices. Usage: `same_cloud [SCRIPT]... [--seed NUMBER]`; all scripts where none is named, and with a
//! seed one, drawn of those that are short and end the same in every run. A script of many nodes (`large`) is played only where it is named; its
//! size is PLIMSOLL_BENCH_NODES. `same_cloud play SCRIPT CONTROLLER` plays one where it is and prints what was observed.
//!
//! Each controller runs with its lab and its cloud in a network of its own that has loopback alone. The status is 1 where a bar was missed or
//! a difference is not explained. How soon fleets are asked for is judged by all scripts together.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use plimsoll_benches::aws::{
    Contender, Explanation, Figures, Observed, Programs, Script, asked, by_name, explanations,
    missed_in_all, named, report, run, scripts, summary, verdict,
};

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, script, contender] = &words[..]
        && first == "play"
    {
        play(script, Contender::named(contender)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = scripts();
    let by_name = by_name()?;
    let asked = asked(&all, &by_name, &words)?;
    let names: Vec<&str> = all.iter().map(|script| script.name).collect();
    let table = explanations(&names)?;
    // Built where there is a network.
    plimsoll_lab::build()?;
    Programs::find()?;
    let (mut needed, mut failed, mut played) = (BTreeSet::new(), Vec::new(), Vec::new());
    for script in &asked {
        match side_by_side(script, &table) {
            Ok(outcome) => {
                needed.extend(outcome.needed);
                played.push(outcome.figures);
                if !outcome.is_well {
                    failed.push(script.name);
                }
            }
            Err(error) => {
                println!("\n{}, {}\nNOT PLAYED: {error:#}", script.name, script.title);
                failed.push(script.name);
            }
        }
    }
    print!("\n{}", summary(&played));
    println!(
        "{} of {} scripts are as they should be",
        asked.len() - failed.len(),
        asked.len()
    );
    let is_asked = |own: &Script| asked.iter().any(|script| script.name == own.name);
    let is_whole = all.iter().all(is_asked);
    let unneeded = (0..table.len()).filter(|at| is_whole && !needed.contains(at));
    let unneeded: Vec<&str> = unneeded.map(|at| table[at].pattern.as_str()).collect();
    for pattern in &unneeded {
        println!("nothing needs the explanation of `{pattern}` any more");
    }
    for name in &failed {
        println!("failed: {name}");
    }
    let missed = missed_in_all(&played).filter(|_| is_whole);
    if let Some(bar) = &missed {
        println!("MISSED: {bar}");
    }
    let is_well = failed.is_empty() && unneeded.is_empty() && missed.is_none();
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The outcome of a script.
struct Outcome {
    /// Places of the explanations that were needed.
    needed: Vec<usize>,
    /// Figures of Karpenter and of ours.
    figures: (Figures, Figures),
    /// `true` if nothing was missed.
    is_well: bool,
}

/// Plays a script with both.
fn side_by_side(script: &Script, table: &[Explanation]) -> Result<Outcome> {
    let [theirs, ours] = Contender::BOTH.map(|contender| apart(script, contender));
    let (theirs, ours) = (theirs?, ours?);
    let told = verdict(script.name, (&theirs, &ours), table);
    print!(
        "{}",
        report(script, (&theirs.figures, &ours.figures), &told)
    );
    Ok(Outcome {
        is_well: told.unexplained.is_empty() && told.missed.is_empty(),
        needed: told.needed,
        figures: (theirs.figures, ours.figures),
    })
}

/// Plays a script in a process with a network of its own.
fn apart(script: &Script, contender: Contender) -> Result<Observed> {
    let own = std::env::current_exe()?;
    let is_root = std::fs::metadata("/proc/self")?.uid() == 0;
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", "unshare", "--net"]);
    if !is_root {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]);
    command
        .arg(own)
        .args(["play", script.name, contender.name()]);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("setpriv and unshare of util-linux, and ip of iproute2, are needed")?;
    if !output.status.success() {
        bail!("{} has not played it: {}", contender.name(), output.status);
    }
    serde_json::from_slice(&output.stdout).context("it printed something else than was observed")
}

fn play(name: &str, contender: Contender) -> Result<()> {
    let (all, by_name) = (scripts(), by_name()?);
    let script = named(&all, &by_name, name)?;
    let programs = Programs::find()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let observed = runtime.block_on(run(script, contender, &programs))?;
    println!("{}", serde_json::to_string(&observed)?);
    Ok(())
}
