//! `plimsoll simulate`: the same world under several policies, side by side.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use plimsoll_report::Report;
use plimsoll_sim::{Behaviour, Recording, Run, ScoreCard, UsageCard};
use serde::Serialize;

use crate::failure::Environment;
use crate::flags;
use crate::load;
use crate::output::{change, dollars, ratio, show, table, thousands, write_file};
use crate::policy::{Contestant, engine};

/// One policy's run.
#[derive(Serialize)]
struct Played {
    policy: String,
    card: ScoreCard,
}

/// What `-o json` prints.
#[derive(Serialize)]
struct Comparison {
    /// SHA-256 of the input.
    input_sha256: String,
    seed: u64,
    spot_prices_are_modelled: bool,
    runs: Vec<Played>,
}

pub(crate) fn run(flags: &flags::Simulate) -> Result<()> {
    let input = load::input(&flags.input, &flags.deciding)?;
    let engine = engine()?;
    let specifications = std::iter::once(&flags.policy).chain(&flags.compare);
    let contestants = specifications
        .map(|text| Contestant::parse(text, &engine))
        .collect::<Result<Vec<Contestant>>>()?;
    for contestant in &contestants {
        contestant.check(&input.recording.catalogue)?;
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
        runs: played.into_iter().map(|(run, _)| run).collect(),
    };
    if let Some(path) = &flags.report {
        let report = report(&load::name(&flags.input), &input, &comparison);
        write_file(path, plimsoll_report::html(&report).as_bytes())?;
    }
    show(flags.output, &comparison, || people(&comparison))?;
    if let Some(path) = &flags.report {
        eprintln!("report: {}", path.display());
    }
    Ok(())
}

/// Plays the contestants, several at a time; results come in the order asked for.
fn play_all(
    recording: &Recording,
    contestants: &[Contestant],
    flags: &flags::Simulate,
) -> Result<Vec<(Played, Duration)>> {
    let bar = progress(recording, contestants)?;
    let threads = flags.threads.map_or_else(processors, usize::from);
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, (Played, Duration)>> = Mutex::default();
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
    Ok(results.into_values().collect())
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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

fn play(recording: &Recording, contestant: &Contestant, seed: u64) -> (Played, Duration) {
    let began = Instant::now();
    let behaviour = Behaviour {
        seed,
        ..Behaviour::default()
    };
    let run = Run::new(recording.clone(), behaviour, contestant.planner());
    let card = run.finish();
    (
        Played {
            policy: contestant.name(),
            card,
        },
        began.elapsed(),
    )
}

fn people(result: &Comparison) -> String {
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
    line("  starting / idle", &|card| {
        format!(
            "{} / {}",
            ratio_percent(card.cost_starting.unsigned_abs(), card.cost.unsigned_abs()),
            ratio_percent(card.cost_idle.unsigned_abs(), card.cost.unsigned_abs())
        )
    });
    line("  against the bound", &|card| {
        ratio(card.cost, card.bound.unwrap_or(0))
    });
    line("  per hour, mean", &|card| dollars(card.cost_per_hour()));
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
    line("node hours", &|card| {
        let all: i64 = card.node_hours.iter().map(|row| row.thousandths).sum();
        format!("{:.1}", all as f64 / 1000.0)
    });
    line("bound where planned", &|card| {
        ratio_percent(u64::from(card.as_planned), u64::from(card.planned))
    });
    line("  sooner elsewhere", &|card| {
        ratio_percent(u64::from(card.sooner), u64::from(card.planned))
    });
    if runs.iter().any(|run| run.card.usage.is_some()) {
        let of_usage = |card: &ScoreCard, cell: fn(&UsageCard) -> String| {
            card.usage.as_ref().map_or_else(|| "-".to_owned(), cell)
        };
        line("cpu / memory used of asked for", &|card| {
            of_usage(card, |usage| {
                let share = |used: i64, asked: i64| {
                    ratio_percent(used.unsigned_abs(), asked.unsigned_abs())
                };
                format!(
                    "{} / {}",
                    share(usage.cpu_used, usage.cpu_requested),
                    share(usage.memory_used, usage.memory_requested)
                )
            })
        });
        line("busy nodes, no pending", &|card| {
            of_usage(card, |usage| usage.busy_for.to_string())
        });
    }
    line("faults of policies", &|card| thousands(card.faults));
    let mut text = table(&rows);
    // What pods use is the recording's, so the first run says it for all.
    let advice = runs[0].card.usage.iter().flat_map(UsageCard::advice);
    for sentence in advice {
        text.push_str(&format!("note: {sentence}\n"));
    }
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

fn report(name: &str, input: &load::Input, comparison: &Comparison) -> Report {
    let changes = thousands(input.recording.changes.len() as u64);
    let mut subtitle = vec![
        format!("Input {name}: {changes} changes, SHA-256 {}.", input.digest),
        format!("Seed {} of all draws.", comparison.seed),
    ];
    if input.modelled {
        subtitle.push("Spot prices are a model: no quotes were given.".to_owned());
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
        notes: Vec::new(),
    }
}
