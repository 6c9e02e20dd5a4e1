//! `plimsoll simulate`: the same world under several policies, side by side.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use plimsoll_core::time::Span;
use plimsoll_report::Report;
use plimsoll_sim::{Behaviour, Recording, Run, ScoreCard};
use serde::Serialize;

use crate::failure::Environment;
use crate::flags;
use crate::load;
use crate::output::{change, dollars, ratio, show, table, thousands, write_file};
use crate::policy::{Contestant, engine};

/// How often, in virtual time, the bound is computed anew at most.
const BOUND_EVERY: Span = Span::from_secs(300);

/// One policy's run.
#[derive(Serialize)]
struct Played {
    policy: String,
    card: ScoreCard,
}

/// What `-o json` prints.
#[derive(Serialize)]
struct Result_ {
    spot_prices_are_modelled: bool,
    runs: Vec<Played>,
}

pub(crate) fn run(flags: &flags::Simulate) -> Result<()> {
    let (recording, modelled) = load::recording(&flags.input, &flags.deciding)?;
    let engine = engine()?;
    let specifications = std::iter::once(&flags.policy).chain(&flags.compare);
    let contestants = specifications
        .map(|text| Contestant::parse(text, &engine))
        .collect::<Result<Vec<Contestant>>>()?;
    let played = play_all(&recording, &contestants, flags.seed)?;
    if flags.timings {
        for (run, took) in &played {
            eprintln!("{}: {took:.1?}", run.policy);
        }
    }
    let runs: Vec<Played> = played.into_iter().map(|(run, _)| run).collect();
    if let Some(path) = &flags.report {
        let report = report(
            &flags.input.display().to_string(),
            &recording,
            modelled,
            flags.seed,
            &runs,
        );
        write_file(path, plimsoll_report::html(&report).as_bytes())?;
    }
    let result = Result_ {
        spot_prices_are_modelled: modelled,
        runs,
    };
    show(flags.output, &result, || people(&result))?;
    if let Some(path) = &flags.report {
        eprintln!("report: {}", path.display());
    }
    Ok(())
}

/// Plays every contestant on a thread of its own; results come in the order asked for.
fn play_all(
    recording: &Recording,
    contestants: &[Contestant],
    seed: u64,
) -> Result<Vec<(Played, Duration)>> {
    let style =
        ProgressStyle::with_template("simulating {msg} {wide_bar} {pos} of {len} {elapsed}");
    let bar = ProgressBar::new(contestants.len() as u64).with_style(style.context("progress bar")?);
    bar.set_message(format!(
        "{} changes",
        thousands(recording.changes.len() as u64)
    ));
    bar.tick();
    let played = std::thread::scope(|scope| {
        let runs: Vec<_> = contestants
            .iter()
            .map(|contestant| {
                let bar = bar.clone();
                scope.spawn(move || {
                    let played = play(recording, contestant, seed);
                    bar.inc(1);
                    played
                })
            })
            .collect();
        let results = runs.into_iter().map(|run| {
            run.join().map_err(|_| {
                Environment("a simulation ended on an inner contradiction".to_owned()).into()
            })
        });
        results.collect::<Result<Vec<_>>>()
    });
    bar.finish_and_clear();
    played
}

fn play(recording: &Recording, contestant: &Contestant, seed: u64) -> (Played, Duration) {
    let began = Instant::now();
    let behaviour = Behaviour {
        seed,
        ..Behaviour::default()
    };
    let run = Run::new(recording.clone(), behaviour, contestant.planner()).with_bound(BOUND_EVERY);
    let card = run.finish();
    (
        Played {
            policy: contestant.name(),
            card,
        },
        began.elapsed(),
    )
}

fn people(result: &Result_) -> String {
    let runs = &result.runs;
    let mut rows = vec![
        std::iter::once(String::new())
            .chain(runs.iter().map(|run| run.policy.clone()))
            .collect(),
    ];
    let mut line = |name: &str, cell: &dyn Fn(&ScoreCard) -> String| {
        rows.push(
            std::iter::once(name.to_owned())
                .chain(runs.iter().map(|run| cell(&run.card)))
                .collect::<Vec<_>>(),
        );
    };
    let first = runs[0].card.cost;
    line("cost", &|card| dollars(card.cost));
    line("  difference", &|card| change(card.cost, first));
    line("  against the bound", &|card| {
        ratio(card.cost, card.bound.unwrap_or(0))
    });
    line("nodes, mean / max", &|card| {
        format!(
            "{:.1} / {}",
            card.nodes_mean as f64 / 1000.0,
            card.nodes_max
        )
    });
    line("waiting p50 / p90", &|card| {
        format!("{} / {}", card.waiting.p50, card.waiting.p90)
    });
    line("waiting p99 / max", &|card| {
        format!("{} / {}", card.waiting.p99, card.waiting.max)
    });
    line("pods", &|card| thousands(u64::from(card.pods)));
    line("  without a place", &|card| {
        thousands(u64::from(card.unplaced_count))
    });
    line("launches / failed", &|card| {
        format!(
            "{} / {}",
            thousands(u64::from(card.launches)),
            card.launch_failures
        )
    });
    line("interruptions", &|card| {
        thousands(u64::from(card.interruptions))
    });
    line("evictions", &|card| thousands(u64::from(card.evictions)));
    line("cpu / memory asked for", &|card| {
        format!(
            "{:.1} % / {:.1} %",
            card.cpu_used as f64 / 10.0,
            card.memory_used as f64 / 10.0
        )
    });
    line("bound where planned", &|card| {
        ratio_percent(u64::from(card.as_planned), u64::from(card.planned))
    });
    line("faults of policies", &|card| thousands(card.faults));
    let mut text = table(&rows);
    if result.spot_prices_are_modelled {
        text.push_str("spot prices are a model: no quotes were given\n");
    }
    text
}

fn ratio_percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        "-".to_owned()
    } else {
        format!("{:.1} %", part as f64 * 100.0 / whole as f64)
    }
}

fn report(
    input: &str,
    recording: &Recording,
    modelled: bool,
    seed: u64,
    runs: &[Played],
) -> Report {
    let mut subtitle = vec![format!(
        "{input}: {} changes, seed {seed}",
        thousands(recording.changes.len() as u64)
    )];
    if modelled {
        subtitle.push("Spot prices are a model: no quotes were given.".to_owned());
    }
    let contestants = runs.iter().map(|run| plimsoll_report::Contestant {
        name: run.policy.clone(),
        card: run.card.clone(),
    });
    Report {
        title: "Simulation".to_owned(),
        subtitle,
        contestants: contestants.collect(),
        notes: Vec::new(),
    }
}
