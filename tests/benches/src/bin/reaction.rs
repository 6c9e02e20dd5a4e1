//! From the end of the batch window to the last action handed out: how long do 1, 100 and 1,000 waiting pods take?
//!
//! A fleet of 500 nodes and 5,000 pods, all types of the general families, the shipped list-price module as `plimsoll run` asks it. Each
//! round hands a fresh engine the fleet and then the pods; the clock runs from the tick at which their window has ended, over the snapshot
//! and the plan, until the actions that the plan leads to have been handed out. Carrying them out is the API server's time, which the
//! bench `live` reports. Usage: `reaction [ROUNDS]`.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_benches::argument;
use plimsoll_benches::cases::general_types;
use plimsoll_controller::Planner;
use plimsoll_engine::{Engine, Input};
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_model::action::Action;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Object, Version};
use plimsoll_oracles::fixture::{below, cluster, pool};
use plimsoll_oracles::generate::{Waste, diverse_pods, fragmented};
use plimsoll_policy::{Engine as Modules, EngineSettings, Policies};
use plimsoll_sim::{Behaviour, Recording, Run};

const COUNTS: [usize; 3] = [1, 100, 1_000];
/// The share of rounds, in percent, of which the slowest is told beside the median.
const PERCENTILE: usize = 99;
const SEED: u64 = 7;

/// Times of one round.
#[derive(Clone, Copy)]
struct Round {
    /// The tick, with the snapshot that it hands out.
    freeze: Duration,
    plan: Duration,
    /// The plan handed in, with the actions that it leads to.
    commit: Duration,
    actions: usize,
    /// Pods that the plan has no place for.
    unplaced: usize,
}

impl Round {
    fn all(&self) -> Duration {
        self.freeze + self.plan + self.commit
    }
}

fn main() -> Result<()> {
    let rounds = argument(1, 200);
    ensure!(rounds > 0, "0 rounds were asked for; expected at least 1");
    let fleet = fleet()?;
    let planner = planner()?;
    let recording = Recording::from_snapshot(&fleet, Vec::new());
    let behaviour = Behaviour {
        seed: SEED,
        ..Behaviour::default()
    };
    let plan = |snapshot: &Snapshot| plimsoll_schedule::plan(snapshot);
    let mut run = Run::with_inputs_kept(recording, behaviour, plan);
    let beginning = run.take_inputs();
    println!(
        "{} nodes, {} pods, {rounds} rounds each; milliseconds",
        fleet.nodes.len(),
        fleet.pods.len()
    );
    println!(
        "{:>6}{:>10}{:>10}{:>8}{:>8}{:>8}{:>10}{:>8}{:>8}",
        "pods", "unplaced", "actions", "p50", "p99", "most", "snapshot", "plan", "commit"
    );
    for count in COUNTS {
        let mut taken = Vec::new();
        for seed in 0..rounds {
            let waiting = waiting(count, seed);
            taken.push(round(&fleet, &beginning, &waiting, &planner)?);
        }
        print(count, taken);
    }
    Ok(())
}

fn print(count: usize, mut taken: Vec<Round>) {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    taken.sort_by_key(Round::all);
    let last = taken.len() - 1;
    let (median, slow) = (taken[last / 2], taken[last * PERCENTILE / 100]);
    println!(
        "{count:>6}{:>10}{:>10}{:>8.1}{:>8.1}{:>8.1}{:>10.1}{:>8.1}{:>8.1}",
        median.unplaced,
        median.actions,
        millis(median.all()),
        millis(slow.all()),
        millis(taken[last].all()),
        millis(slow.freeze),
        millis(slow.plan),
        millis(slow.commit),
    );
}

/// One round; the engine is new, the planner keeps what it keeps from one decision to the next.
fn round(
    fleet: &Snapshot,
    beginning: &[(Timestamp, Input)],
    waiting: &[Input],
    planner: &Planner,
) -> Result<Round> {
    let settings = Arc::clone(&fleet.settings);
    let mut engine = Engine::new(settings, Arc::clone(&fleet.catalogues), SEED);
    let mut now = fleet.now;
    for (at, input) in beginning.iter().cloned() {
        now = now.max(at);
        engine.handle(input, now);
    }
    for input in waiting.iter().cloned() {
        engine.handle(input, now);
    }
    let end = now + fleet.settings.batch_max.max(Span::from_secs(1));
    let began = Instant::now();
    let actions = engine.handle(Input::Tick, end);
    let freeze = began.elapsed();
    let request = actions.into_iter().find_map(|action| match action {
        Action::Solve(request) => Some(request),
        _ => None,
    });
    let request = request.context("a plan is asked for when the window ends")?;
    let began = Instant::now();
    let solved = planner.plan(&request.snapshot);
    let plan = began.elapsed();
    let unplaced = solved.unplaced.len();
    let began = Instant::now();
    let actions = engine.handle(Input::Solved(request.id, Box::new(solved)), end);
    Ok(Round {
        freeze,
        plan,
        commit: began.elapsed(),
        actions: actions.len(),
        unplaced,
    })
}

fn waiting(count: usize, seed: usize) -> Vec<Input> {
    let pods = cluster()
        .pods(diverse_pods(count, seed as u64))
        .snapshot()
        .pods;
    let inputs = pods.into_iter();
    inputs
        .map(|pod| Input::Applied(Object::Pod(pod), Version::default()))
        .collect()
}

fn fleet() -> Result<Snapshot> {
    let small = below("karpenter.k8s.aws/instance-cpu", 17);
    let mut market = cluster().pool(pool("general").needs(small)).snapshot();
    market.catalogues = Arc::new(general_types()?.into());
    Ok(fragmented(
        &market,
        Waste {
            pods: 500 * 17,
            stay_percent: (40, 80),
            seed: SEED,
        },
    ))
}

/// A planner as `plimsoll run` has it by default.
fn planner() -> Result<Planner> {
    let modules = Modules::new(EngineSettings::default())?;
    let shipped = plimsoll_policies::ranking("list-price").context("the shipped module")?;
    Ok(Planner::new(Policies {
        rank: Some(modules.accept(shipped.bytes, &PolicySettings::new())?),
        ..Policies::default()
    }))
}
