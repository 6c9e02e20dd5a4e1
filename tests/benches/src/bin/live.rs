//! Karpenter's controller and ours at the same work in labs of their own: pods come, are rolled out anew, and some of them go.
//!
//! Clocks: from a change of the deployments until every pod runs, and from their scaling down until the last node or claim came, began to
//! go or went before a minute of quiet. A third lab has as many nodes as ours bought from the beginning, with room to spare, and no
//! controller: what that takes is the scheduler's and the deployments', not the controllers'. All fleets are priced by one list. Usage:
//! `live [karpenter|plimsoll] [SCENARIO]`; without a contender both run and the bars are printed.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use plimsoll_benches::Usage;
use plimsoll_benches::live::{
    Contender, Fleet, PATIENCE, Prices, Programs, Scenario, Seen, Sent, Step, World, lab,
    make_pool, sent,
};
use plimsoll_lab::apply;

/// Nothing has changed for this long: the fleet has settled.
const QUIET: Duration = Duration::from_mins(1);
/// The part of the wait before anything may go that no controller can shorten: `consolidateAfter` and the validation.
const LEAST_WAIT: f64 = 45.0;

/// A fleet after a step, and what it took to get there.
struct Part {
    step: Step,
    seconds: f64,
    nodes: usize,
    price: f64,
    usage: Usage,
}

/// A contender's run of a scenario.
struct Course {
    parts: Vec<Part>,
    /// The fleet when all pods ran for the first time.
    fleet: Fleet,
    /// Orders carried out until then, where the log tells of them.
    sent: BTreeMap<String, Sent>,
}

fn main() -> Result<()> {
    let (only, scenarios) = asked(std::env::args().skip(1))?;
    let programs = Programs::find()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    for scenario in &scenarios {
        println!("\n{}, {}", scenario.name, scenario.title);
        runtime.block_on(run(only, scenario, &programs))?;
    }
    Ok(())
}

/// The contender that runs alone, if any, and the scenarios.
fn asked(words: impl Iterator<Item = String>) -> Result<(Option<Contender>, Vec<Scenario>)> {
    let (mut only, mut scenarios) = (None, Scenario::all());
    let names: Vec<&str> = scenarios.iter().map(|it| it.name).collect();
    let names = names.join(", ");
    for word in words {
        match word.as_str() {
            "karpenter" => only = Some(Contender::Karpenter),
            "plimsoll" => only = Some(Contender::Plimsoll),
            name => {
                scenarios.retain(|it| it.name == name);
                if scenarios.is_empty() {
                    bail!("\"{name}\" is neither karpenter nor plimsoll, nor one of {names}");
                }
            }
        }
    }
    Ok((only, scenarios))
}

async fn run(only: Option<Contender>, scenario: &Scenario, programs: &Programs) -> Result<()> {
    let prices = Prices::read()?;
    if let Some(contender) = only {
        let course = course(contender, scenario, programs, &prices).await?;
        print_course(&format!("{contender:?}"), &course);
        print_sent(&course.sent);
        return Ok(());
    }
    let theirs = course(Contender::Karpenter, scenario, programs, &prices).await?;
    let ours = course(Contender::Plimsoll, scenario, programs, &prices).await?;
    let least = beforehand(scenario, &ours.fleet).await?;
    print_course("karpenter", &theirs);
    print_course("plimsoll", &ours);
    for (step, seconds) in &least {
        println!("as many nodes beforehand, {}: {seconds:.1} s", step.title());
    }
    println!();
    print_sent(&ours.sent);
    print_bars(&theirs, &ours, &least);
    Ok(())
}

/// A contender in a lab of its own.
async fn course(
    contender: Contender,
    scenario: &Scenario,
    programs: &Programs,
    prices: &Prices,
) -> Result<Course> {
    let mut lab = lab().await?;
    let client = lab.client();
    make_pool(&client, ("Lt", "32")).await?;
    let world = World::of(&client);
    let controller = contender.start(&mut lab, programs).await?;
    let (mut parts, mut first) = (Vec::new(), None);
    for step in scenario.steps.iter().copied() {
        let began = Instant::now();
        scenario.take(&client, step).await?;
        let ended = until_done(&world, scenario, step, began).await?;
        let fleet = Fleet::of(&world.seen().nodes, prices)?;
        let part = Part {
            step,
            seconds: ended.saturating_duration_since(began).as_secs_f64(),
            nodes: fleet.nodes.len(),
            price: fleet.price,
            usage: controller.usage(),
        };
        eprintln!(
            "{contender:?}: {} after {:.1} s",
            step.title(),
            part.seconds
        );
        parts.push(part);
        if first.is_none() {
            first = Some((fleet, sent(&controller.log(&mut lab))));
        }
    }
    if let Ok(path) = std::env::var("PLIMSOLL_BENCH_LOG") {
        let path = format!("{path}-{contender:?}-{}.log", scenario.name);
        std::fs::write(path, controller.log(&mut lab))?;
    }
    let (fleet, sent) = first.context("a scenario has a first step")?;
    Ok(Course { parts, fleet, sent })
}

/// Waits for the end of a step; when it was.
async fn until_done(
    world: &World,
    scenario: &Scenario,
    step: Step,
    began: Instant,
) -> Result<Instant> {
    let pods = scenario.pods(step);
    let runs = |seen: &Seen| seen.running() == pods;
    match step {
        Step::Come => world.until("all pods to run", PATIENCE, runs).await,
        Step::RollOut => {
            let rolled = |seen: &Seen| runs(seen) && seen.rolled_out() == pods;
            world
                .until("all pods to be new ones", PATIENCE, rolled)
                .await
        }
        Step::Shrink => world.until_settled(began, (QUIET, PATIENCE), runs).await,
    }
}

/// How long the steps before nodes go take on nodes that are there already, in seconds.
async fn beforehand(scenario: &Scenario, fleet: &Fleet) -> Result<Vec<(Step, f64)>> {
    let lab = lab().await?;
    let client = lab.client();
    let world = World::of(&client);
    for node in fleet.twins() {
        apply(&client, &node).await?;
    }
    let ready = |node: &k8s_openapi::api::core::v1::Node| {
        let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_ref());
        taints.is_none_or(Vec::is_empty)
    };
    let count = fleet.nodes.len();
    world
        .until("the nodes to be ready", PATIENCE, |seen| {
            seen.nodes.len() == count && seen.nodes.values().all(ready)
        })
        .await?;
    let mut least = Vec::new();
    for step in scenario.steps.iter().copied() {
        if step == Step::Shrink {
            continue;
        }
        let began = Instant::now();
        scenario.take(&client, step).await?;
        let ended = until_done(&world, scenario, step, began).await?;
        least.push((step, (ended - began).as_secs_f64()));
    }
    Ok(least)
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn print_course(name: &str, course: &Course) {
    for it in &course.parts {
        println!(
            "{name:<12}{:<18}{:>8.1} s{:>7} nodes{:>10.3} $/h{:>9.1} MiB peak{:>9.2} s of processors",
            it.step.title(),
            it.seconds,
            it.nodes,
            it.price,
            mib(it.usage.peak),
            it.usage.processor.as_secs_f64(),
        );
    }
}

/// When orders of each purpose were carried out, for as long as the first step lasted.
fn print_sent(sent: &BTreeMap<String, Sent>) {
    println!("orders until all pods ran, in seconds from the first plan:");
    for (purpose, it) in sent {
        println!(
            "{purpose:<20}{:>6} from {:>6.2} to {:>6.2}",
            it.count, it.first, it.last
        );
    }
    println!();
}

/// One bar: what is measured, ours, theirs, and the most that it may be.
fn print_bar(what: &str, (ours, theirs): (f64, f64), most: f64) {
    let verdict = if ours <= most { "met" } else { "MISSED" };
    println!(
        "{what:<44}{theirs:>11.2}{ours:>11.2}{:>9.3}{most:>11.2}  {verdict}",
        ours / theirs
    );
}

/// Bars of each step, then of the whole run.
fn print_bars(theirs: &Course, ours: &Course, least: &[(Step, f64)]) {
    println!(
        "{:<44}{:>11}{:>11}{:>9}{:>11}",
        "", "karpenter", "plimsoll", "ratio", "at most"
    );
    for (own, other) in ours.parts.iter().zip(&theirs.parts) {
        let at_once = least.iter().find(|(step, _)| *step == own.step);
        let most = match at_once {
            Some((_, least)) => least + 0.3 * (other.seconds - least),
            None => LEAST_WAIT + (other.seconds - LEAST_WAIT) / 3.0,
        };
        let title = own.step.title();
        let seconds = (own.seconds, other.seconds);
        print_bar(&format!("{title}, s"), seconds, most);
        let price = (own.price, other.price);
        print_bar(&format!("{title}, price, $/h"), price, other.price);
    }
    let processor = |part: Option<&Part>| part.map_or(0.0, |it| it.usage.processor.as_secs_f64());
    let (early, all) = (
        (
            processor(ours.parts.first()),
            processor(theirs.parts.first()),
        ),
        (processor(ours.parts.last()), processor(theirs.parts.last())),
    );
    let memory = |course: &Course| course.parts.last().map_or(0.0, |it| mib(it.usage.peak));
    let memory = (memory(ours), memory(theirs));
    print_bar("peak memory, MiB", memory, memory.1 / 3.0);
    print_bar("processor time until all run, s", early, early.1 / 4.0);
    print_bar("processor time in all, s", all, all.1 / 4.0);
}
