//! `plimsoll simulate`: the same world under several policies, side by side.

mod table;
mod what_if;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use plimsoll_disrupt::static_pool;
use plimsoll_policy::Engine;
use plimsoll_report::Report;
use plimsoll_sim::{Behaviour, Recording, Run, ScoreCard, UsageCard};

use crate::failure::Environment;
use crate::flags;
use crate::load;
use crate::output::{show, thousands, write_file};
use crate::player::threads;
use crate::policy::engine;
use crate::records::{Draft, run_line};
use crate::strategy::Strategy;
use crate::view;
use crate::view::simulation::Simulation;

use self::what_if::WhatIf;

/// A column: a strategy, and the rules that are others for it.
struct Contestant {
    strategy: Strategy,
    what_if: Option<WhatIf>,
}

/// One strategy's run.
struct Played {
    policy: String,
    card: ScoreCard,
}

/// The runs of all strategies.
struct Comparison {
    /// SHA-256 of the input.
    input_sha256: String,
    seed: u64,
    spot_prices_are_modelled: bool,
    /// `true` if the input records no change after its start.
    is_snapshot: bool,
    runs: Vec<Played>,
}

pub(crate) fn run(flags: &flags::Simulate) -> Result<()> {
    let input = load::input(&flags.input, &flags.deciding)?;
    let pools = &input.recording.objects.pools;
    if let Some(words) = static_pool::left_alone(pools, &input.recording.settings) {
        eprintln!("warning: {}: {words}", load::name(&flags.input));
    }
    let engine = engine()?;
    let (draft, contestants) = contestants(flags, &input.digest, &engine)?;
    for contestant in &contestants {
        contestant.strategy.check(&input.recording.catalogues)?;
    }
    let played = play_all(&input.recording, &contestants, flags)?;
    if flags.timings {
        for (run, took) in &played {
            eprintln!("{}: {took:.1?}", run.policy);
        }
    }
    let comparison = Comparison {
        input_sha256: input.digest.clone(),
        seed: flags.seed,
        spot_prices_are_modelled: input.modelled,
        is_snapshot: input.recording.changes.is_empty(),
        runs: played.into_iter().map(|(run, _)| run).collect(),
    };
    if flags.report.is_some() || flags.picture.is_some() {
        let report = report(&load::name(&flags.input), &input, &comparison);
        if let Some(path) = &flags.report {
            write_file(path, plimsoll_report::html(&report).as_bytes())?;
        }
        if let Some(path) = &flags.picture {
            write_file(path, plimsoll_report::picture(&report).as_bytes())?;
        }
    }
    // Before the result: who reads that the run is over finds the file.
    let written = draft.map(Draft::finish).transpose()?;
    show(
        flags.output,
        || document(&comparison),
        || people(&comparison),
    )?;
    for (what, path) in [("report", &flags.report), ("picture", &flags.picture)] {
        if let Some(path) = path {
            eprintln!("{what}: {}", path.display());
        }
    }
    if let Some(written) = written {
        eprintln!("{written}");
    }
    Ok(())
}

/// The columns in their order, and the records of the first where some are wanted.
fn contestants(
    flags: &flags::Simulate,
    input_sha256: &str,
    engine: &Engine,
) -> Result<(Option<Draft>, Vec<Contestant>)> {
    let base = Strategy::parse(&flags.policy, engine)?;
    let column = |strategy| Contestant {
        strategy,
        what_if: None,
    };
    let compared = flags.compare.iter();
    let compared = compared.map(|text| Ok(column(Strategy::compared(text, &base, engine)?)));
    let what_ifs = flags.what_if.iter().map(|text| {
        Ok(Contestant {
            strategy: base.clone(),
            what_if: Some(WhatIf::parse(text)?),
        })
    });
    let others: Vec<Contestant> = compared.chain(what_ifs).collect::<Result<_>>()?;
    let mut first = base;
    let draft = draft(flags, input_sha256, &mut first, engine)?;
    let contestants = std::iter::once(column(first)).chain(others);
    Ok((draft, contestants.collect()))
}

/// Begins the records of the policies behind `--policy`, where some are wanted.
fn draft(
    flags: &flags::Simulate,
    input_sha256: &str,
    base: &mut Strategy,
    engine: &Engine,
) -> Result<Option<Draft>> {
    let Some(path) = &flags.records else {
        return Ok(None);
    };
    let name = base.name();
    let Some(policies) = base.policies_mut() else {
        bail!("--records with policy {name}, which asks no module; expected one with a module");
    };
    let run = run_line(input_sha256, flags.seed, &flags.deciding, policies);
    let draft = Draft::begin(path, engine, run)?;
    policies.observers.push(draft.recorder());
    Ok(Some(draft))
}

/// Plays the contestants, several at a time; results come in the order asked for.
fn play_all(
    recording: &Recording,
    contestants: &[Contestant],
    flags: &flags::Simulate,
) -> Result<Vec<(Played, Duration)>> {
    let bar = progress(recording, contestants)?;
    let threads = threads(flags.threads);
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, Result<(Played, Duration)>>> = Mutex::default();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(contestant) = contestants.get(at) else {
                break;
            };
            let played = play(recording, contestant, flags.seed);
            bar.inc(1);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.insert(at, played);
        }
    };
    let whole = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(contestants.len()))
            .map(|_| scope.spawn(work))
            .collect();
        workers.into_iter().all(|worker| worker.join().is_ok())
    });
    bar.finish_and_clear();
    if !whole {
        return Err(Environment("a simulation ended on an inner contradiction".to_owned()).into());
    }
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_values().collect()
}

fn progress(recording: &Recording, contestants: &[Contestant]) -> Result<ProgressBar> {
    let style =
        ProgressStyle::with_template("simulating {msg} {wide_bar} {pos} of {len} {elapsed}");
    let bar = ProgressBar::new(contestants.len() as u64).with_style(style.context("progress bar")?);
    bar.set_message(format!(
        "{} changes",
        thousands(recording.changes.len() as u64)
    ));
    bar.tick();
    Ok(bar)
}

fn play(recording: &Recording, contestant: &Contestant, seed: u64) -> Result<(Played, Duration)> {
    let began = Instant::now();
    let behaviour = Behaviour {
        seed,
        ..Behaviour::default()
    };
    let mut recording = recording.clone();
    if let Some(what_if) = &contestant.what_if {
        what_if.apply(&mut recording);
    }
    let strategy = &contestant.strategy;
    strategy.set(&mut recording.settings);
    let player = strategy.player();
    let halted = player.halted();
    let card = Run::new(recording, behaviour, player).finish();
    halted.check()?;
    let policy = match &contestant.what_if {
        Some(what_if) => format!("{}, {what_if}", strategy.name()),
        None => strategy.name(),
    };
    Ok((Played { policy, card }, began.elapsed()))
}

fn document(result: &Comparison) -> Simulation {
    let runs = result.runs.iter();
    Simulation {
        input_sha256: result.input_sha256.clone(),
        seed: result.seed,
        spot_prices_are_modelled: result.spot_prices_are_modelled,
        runs: runs
            .map(|run| view::simulation::Run::of(&run.policy, &run.card))
            .collect(),
    }
}

fn people(result: &Comparison) -> String {
    let runs = result
        .runs
        .iter()
        .map(|run| (run.policy.as_str(), &run.card));
    let runs: Vec<(&str, &ScoreCard)> = runs.collect();
    let mut text = table::of(&runs);
    if let Some(ladder) = table::ladder(&runs) {
        text.push('\n');
        text.push_str(&ladder);
    }
    for (run, said) in faults(result) {
        text.push_str(&format!("note: {run}: {said}\n"));
    }
    // What pods use is the recording's, so the first run says it for all.
    let usage = result
        .runs
        .iter()
        .take(1)
        .filter_map(|run| run.card.usage.as_ref());
    for sentence in usage.flat_map(UsageCard::advice) {
        text.push_str(&format!("note: {sentence}\n"));
    }
    if result.spot_prices_are_modelled {
        text.push_str("note: spot prices are modelled, since the input quotes none\n");
    }
    if result.is_snapshot {
        let lasted = runs.first().map(|(_, card)| card.lasted.to_string());
        let lasted = lasted.unwrap_or_default();
        text.push_str(&format!(
            "note: the input is a snapshot without later changes; simulated for {lasted}\n"
        ));
    }
    text
}

/// Faults of policies: the run, and the fault with how often it happened.
fn faults(result: &Comparison) -> impl Iterator<Item = (&str, String)> {
    result.runs.iter().flat_map(|run| {
        let all = run.card.fault_words.iter();
        all.map(|fault| {
            let times = match fault.times {
                1 => "once".to_owned(),
                times => format!("{} times", thousands(times)),
            };
            (run.policy.as_str(), format!("{} ({times})", fault.words))
        })
    })
}

fn report(name: &str, input: &load::Input, comparison: &Comparison) -> Report {
    let changes = thousands(input.recording.changes.len() as u64);
    let mut subtitle = vec![
        format!("Input {name}: {changes} changes, SHA-256 {}.", input.digest),
        format!("Seed {}.", comparison.seed),
    ];
    if input.modelled {
        subtitle.push("Spot prices are modelled, since the input quotes none.".to_owned());
    }
    let contestants = comparison
        .runs
        .iter()
        .map(|run| plimsoll_report::Contestant {
            name: run.policy.clone(),
            card: run.card.clone(),
        });
    Report {
        title: "Simulation".to_owned(),
        subtitle,
        contestants: contestants.collect(),
        notes: faults(comparison)
            .map(|(run, said)| format!("{run}: {said}."))
            .collect(),
    }
}
