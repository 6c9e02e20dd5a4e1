//! From the message that a spot instance is taken back to the taint of its node: how long does it take with 1,000 nodes?
//!
//! The program serves a lab on a cloud on loopback, whose instances it has bought itself, one for each pod of a deployment. First warnings come
//! one by one, then as many at once among 10,000 messages about nothing of ours and 1,000 that are no events. The clock runs from when a
//! message is put on the queue until a watch of this program hears of the taint. Usage: `interruption [NODES] [WARNINGS]`.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use plimsoll_benches::argument;
use plimsoll_benches::interruption::{CLUSTER, Tainted, lab, program, start};
use plimsoll_benches::live::{PATIENCE, World as Seen, deploy};
use plimsoll_cloud::{Cloud, Event, Options, World};
use plimsoll_cloud_nodes::follow;
use plimsoll_lab::until;
use tokio::time::interval;

/// From one warning to the next, where they come one by one.
const EVERY: Duration = Duration::from_millis(250);
/// Nothing has changed for this long: the cluster is at rest.
const QUIET: Duration = Duration::from_secs(15);
/// Messages beside the warnings, where these come at once: about instances of others, and such that are no events.
const OTHERS: (usize, usize) = (10_000, 1_000);
/// Most seconds, of all warnings but a hundredth.
const BAR: f64 = 1.0;

fn main() -> Result<()> {
    let (nodes, warnings) = (argument(1, 1_000), argument(2, 200));
    ensure!(
        warnings > 0 && nodes >= 2 * warnings,
        "{warnings} warnings twice for {nodes} nodes; expected at least one, and no more than there are nodes"
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(nodes, warnings))
}

async fn run(nodes: usize, warnings: usize) -> Result<()> {
    let program = program()?;
    let mut lab = lab().await?;
    let client = lab.client();
    let world = World::demo(CLUSTER);
    let cloud = Arc::new(Cloud::start(Options { port: 0, world }).await?);
    let _nodes = follow(Arc::clone(&cloud), client.clone());
    let seen = Seen::of(&client);
    let tainted = Tainted::of(&client);
    start(&mut lab, &program, &cloud).await?;
    let began = Instant::now();
    deploy(&client, ("web", nodes), ("1500m", "1Gi"), &[]).await?;
    let settled = seen.until_settled(began, (QUIET, PATIENCE), |seen| seen.running() == nodes);
    settled.await?;
    let alive: Vec<String> = cloud.with(|world| world.alive().map(|own| own.id.clone()).collect());
    eprintln!(
        "{} instances after {:.0} s",
        alive.len(),
        began.elapsed().as_secs_f64()
    );
    ensure!(
        alive.len() >= 2 * warnings,
        "there are {} instances",
        alive.len()
    );
    println!(
        "{:>12}{:>10}{:>10}{:>10}",
        "warnings", "p50, s", "p99, s", "most, s"
    );
    let (first, second) = (&alive[..warnings], &alive[warnings..2 * warnings]);
    let mut sent = BTreeMap::new();
    let mut turns = interval(EVERY);
    for id in first {
        turns.tick().await;
        warn(&cloud, id, &mut sent);
    }
    print("one by one", &tainted.delays(&sent, PATIENCE).await?);
    let settled = seen.until_settled(began, (QUIET, PATIENCE), |seen| seen.running() == nodes);
    settled.await?;
    sent.clear();
    at_once(&cloud, second, &mut sent);
    print("at once", &tainted.delays(&sent, PATIENCE).await?);
    let all = sent.values().min().copied().unwrap_or_else(Instant::now);
    until("the queue to be empty", PATIENCE, async || {
        let left = |world: &mut World| world.queues[CLUSTER].messages.len();
        Ok((cloud.with(left) == 0).then_some(()))
    })
    .await?;
    println!(
        "{} messages were gone from the queue after {:.1} s",
        OTHERS.0 + OTHERS.1 + warnings,
        all.elapsed().as_secs_f64()
    );
    Ok(())
}

fn warn(cloud: &Cloud, id: &str, sent: &mut BTreeMap<String, Instant>) {
    let event = Event::SpotInterruption { id: id.to_owned() };
    sent.insert(id.to_owned(), Instant::now());
    cloud.with(|world| world.emit(CLUSTER, &event));
}

/// Sends warnings evenly among many other messages.
fn at_once(cloud: &Cloud, ids: &[String], sent: &mut BTreeMap<String, Instant>) {
    let (others, malformed) = (OTHERS.0 / ids.len(), OTHERS.1 / ids.len());
    let mut number = 0;
    for id in ids {
        cloud.with(|world| {
            for _ in 0..others {
                number += 1;
                let id = format!("i-f{number:016x}");
                let state = "running".to_owned();
                let event = match number % 3 {
                    0 => Event::SpotInterruption { id },
                    1 => Event::RebalanceRecommendation { id },
                    _ => Event::StateChange { id, state },
                };
                world.emit(CLUSTER, &event);
            }
            for _ in 0..malformed {
                world.send(CLUSTER, "no event at all {");
            }
        });
        warn(cloud, id, sent);
    }
}

fn print(what: &str, delays: &[Duration]) {
    let last = delays.len() - 1;
    let at = |hundredth: usize| delays[last * hundredth / 100].as_secs_f64();
    let verdict = if at(99) <= BAR { "met" } else { "MISSED" };
    println!(
        "{what:>12}{:>10.2}{:>10.2}{:>10.2}  {verdict}",
        at(50),
        at(99),
        at(100)
    );
}
