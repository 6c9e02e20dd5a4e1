//! The incumbent's AWS controller, unmodified, and ours at the same scripts on the same cloud on loopback, held side by side: objects, tags,
//! launch templates, fleets, doubles, and prices. Usage: `same_cloud [SCRIPT]... [--seed NUMBER]`; all scripts where none is named, and with a
//! seed one, drawn of those that are short and end the same in every run. `same_cloud play SCRIPT CONTROLLER` plays one where it is and prints
//! what was observed.
//!
//! Each controller runs with its lab and its cloud in a network of its own that has loopback alone. The status is 1 where a bar was missed or
//! a difference is not explained. How soon fleets are asked for is judged by all scripts together.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use plimsoll_benches::aws::{
    Contender, Explanation, Figures, Observed, Programs, Script, drawn, explanations,
    missed_in_all, report, run, scripts, summary, verdict,
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
    let asked = asked(&all, &words)?;
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
    let is_whole = asked.len() == all.len();
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

/// The scripts that the words ask for.
fn asked<'s>(all: &'s [Script], words: &[String]) -> Result<Vec<&'s Script>> {
    if let [flag, seed] = words
        && flag == "--seed"
    {
        let seed: usize = seed.parse().with_context(|| {
            format!("--seed is \"{seed}\"; expected a whole number of at least 0")
        })?;
        let name = drawn(seed);
        return Ok(all.iter().filter(|script| script.name == name).collect());
    }
    for word in words {
        named(all, word)?;
    }
    let is_asked = |script: &&Script| words.is_empty() || words.iter().any(|it| it == script.name);
    Ok(all.iter().filter(is_asked).collect())
}

/// The script of a name.
fn named<'s>(all: &'s [Script], name: &str) -> Result<&'s Script> {
    let found = all.iter().find(|script| script.name == name);
    found.with_context(|| {
        let names: Vec<&str> = all.iter().map(|script| script.name).collect();
        let names = names.join(", ");
        format!("\"{name}\" is no script; expected some of {names}")
    })
}

/// The outcome of a script.
struct Outcome {
    /// Places of the explanations that were needed.
    needed: Vec<usize>,
    /// Figures of the incumbent and of ours.
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
    let all = scripts();
    let script = named(&all, name)?;
    let programs = Programs::find()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let observed = runtime.block_on(run(script, contender, &programs))?;
    println!("{}", serde_json::to_string(&observed)?);
    Ok(())
}
