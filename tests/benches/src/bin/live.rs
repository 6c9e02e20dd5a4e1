//! The incumbent's controller and ours at the same work in labs of their own: 1,000 pods of two shapes come, then 300 of them go.
//!
//! Clocks: from the creation of the deployments until every pod runs, and from their scaling down until the last node or claim
//! came, began to go or went before a minute of quiet. A third lab has as many nodes as ours bought from the beginning, with room to spare, and no
//! controller: what that takes is the scheduler's, not the controllers'. Both fleets are priced by one list. Usage: `live [incumbent|plimsoll]`.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use kube::Client;
use plimsoll_benches::Usage;
use plimsoll_benches::live::{
    Contender, Fleet, PATIENCE, Prices, Programs, Sent, World, deploy, lab, make_pool, scale, sent,
};
use plimsoll_lab::apply;

/// Replicas of each shape at first, and in the second part.
const REPLICAS: (usize, usize) = (500, 350);
const SHAPES: [(&str, (&str, &str)); 2] =
    [("small", ("900m", "3100Mi")), ("large", ("3500m", "28Gi"))];
/// Nothing has changed for this long: the fleet has settled.
const QUIET: Duration = Duration::from_mins(1);
/// The part of the wait before anything may go that no controller can shorten: `consolidateAfter` and the validation.
const LEAST_WAIT: f64 = 45.0;

/// A fleet, and what it took to get there.
struct Part {
    seconds: f64,
    nodes: usize,
    price: f64,
    usage: Usage,
}

/// Both parts of a contender's run.
struct Course {
    up: Part,
    down: Part,
    fleet: Fleet,
    /// Orders carried out until all pods ran, where the log tells of them.
    sent: BTreeMap<String, Sent>,
}

fn main() -> Result<()> {
    let only = match std::env::args().nth(1).as_deref() {
        None => None,
        Some("incumbent") => Some(Contender::Incumbent),
        Some("plimsoll") => Some(Contender::Plimsoll),
        Some(other) => bail!("\"{other}\" is no contender; expected incumbent or plimsoll"),
    };
    let programs = Programs::find()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(only, &programs))
}

async fn run(only: Option<Contender>, programs: &Programs) -> Result<()> {
    let prices = Prices::read()?;
    if let Some(contender) = only {
        let course = course(contender, programs, &prices).await?;
        print_course(&format!("{contender:?}"), &course);
        print_sent(&course.sent);
        return Ok(());
    }
    let theirs = course(Contender::Incumbent, programs, &prices).await?;
    let ours = course(Contender::Plimsoll, programs, &prices).await?;
    let least = beforehand(&ours.fleet).await?;
    print_course("incumbent", &theirs);
    print_course("plimsoll", &ours);
    println!("as many nodes beforehand: all running after {least:.1} s\n");
    print_sent(&ours.sent);
    print_bars(&theirs, &ours, least);
    Ok(())
}

/// A contender in a lab of its own.
async fn course(contender: Contender, programs: &Programs, prices: &Prices) -> Result<Course> {
    let mut lab = lab().await?;
    let client = lab.client();
    make_pool(&client, ("Lt", "32")).await?;
    let world = World::of(&client);
    let controller = contender.start(&mut lab, programs).await?;
    let began = Instant::now();
    deploy_all(&client).await?;
    let all = 2 * REPLICAS.0;
    let run = world.until("all pods to run", PATIENCE, |seen| seen.running() == all);
    let ran = run.await?;
    let fleet = Fleet::of(&world.seen().nodes, prices)?;
    let up = Part {
        seconds: (ran - began).as_secs_f64(),
        nodes: fleet.nodes.len(),
        price: fleet.price,
        usage: controller.usage(),
    };
    let sent = sent(&controller.log(&mut lab));
    eprintln!("{contender:?}: {all} pods run after {:.1} s", up.seconds);
    let began = Instant::now();
    for (name, _) in SHAPES {
        scale(&client, name, REPLICAS.1).await?;
    }
    let left = 2 * REPLICAS.1;
    let settled = world.until_settled(began, (QUIET, PATIENCE), |seen| seen.running() == left);
    let settled = settled.await?;
    let rest = Fleet::of(&world.seen().nodes, prices)?;
    let down = Part {
        seconds: settled.saturating_duration_since(began).as_secs_f64(),
        nodes: rest.nodes.len(),
        price: rest.price,
        usage: controller.usage(),
    };
    if let Ok(path) = std::env::var("PLIMSOLL_BENCH_LOG") {
        std::fs::write(
            format!("{path}-{contender:?}.log"),
            controller.log(&mut lab),
        )?;
    }
    Ok(Course {
        up,
        down,
        fleet,
        sent,
    })
}

/// How long the pods take on nodes that are there already, in seconds.
async fn beforehand(fleet: &Fleet) -> Result<f64> {
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
    let began = Instant::now();
    deploy_all(&client).await?;
    let all = 2 * REPLICAS.0;
    let run = world.until("all pods to run", PATIENCE, |seen| seen.running() == all);
    Ok((run.await? - began).as_secs_f64())
}

async fn deploy_all(client: &Client) -> Result<()> {
    for (name, requests) in SHAPES {
        deploy(client, (name, REPLICAS.0), requests, &[]).await?;
    }
    Ok(())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn print_course(name: &str, course: &Course) {
    for (part, it) in [("1,000 pods come", &course.up), ("700 stay", &course.down)] {
        println!(
            "{name:<12}{part:<18}{:>8.1} s{:>7} nodes{:>10.3} $/h{:>9.1} MiB peak{:>9.2} s of processors",
            it.seconds,
            it.nodes,
            it.price,
            mib(it.usage.peak),
            it.usage.processor.as_secs_f64(),
        );
    }
}

/// When orders of each purpose were carried out, for as long as the first part lasted.
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

fn print_bars(theirs: &Course, ours: &Course, least: f64) {
    println!(
        "{:<44}{:>11}{:>11}{:>9}{:>11}",
        "", "incumbent", "plimsoll", "ratio", "at most"
    );
    let bar = |what: &str, of: &dyn Fn(&Course) -> f64, most: &dyn Fn(f64) -> f64| {
        let (ours, theirs) = (of(ours), of(theirs));
        print_bar(what, (ours, theirs), most(theirs));
    };
    let memory = |course: &Course| mib(course.down.usage.peak);
    let processor = |course: &Course| course.down.usage.processor.as_secs_f64();
    let early = |course: &Course| course.up.usage.processor.as_secs_f64();
    bar("all running, s", &|it| it.up.seconds, &|theirs| {
        least + 0.3 * (theirs - least)
    });
    bar("price when all run, $/h", &|it| it.up.price, &|theirs| {
        theirs
    });
    bar(
        "settled with 700 pods, s",
        &|it| it.down.seconds,
        &|theirs| LEAST_WAIT + (theirs - LEAST_WAIT) / 3.0,
    );
    bar("price when settled, $/h", &|it| it.down.price, &|theirs| {
        theirs
    });
    bar("peak memory, MiB", &memory, &|theirs| theirs / 3.0);
    bar("processor time until all run, s", &early, &|theirs| {
        theirs / 4.0
    });
    bar("processor time in all, s", &processor, &|theirs| {
        theirs / 4.0
    });
}
