//! A large cluster to which nothing happens: what does the controller need of memory and processors to keep it in view?
//!
//! The nodes are bought by the controller itself, one for each of as many pods that stand apart; the other pods fill them. Once all run and
//! no node or claim has changed for a minute, the process is looked at for two minutes. Usage: `rest [NODES] [PODS]`.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use plimsoll_benches::live::{Contender, PATIENCE, Programs, World, deploy, lab, make_pool};
use plimsoll_benches::{Usage, argument};
use serde_json::json;

/// Nothing has changed for this long: the cluster is at rest.
const QUIET: Duration = Duration::from_mins(1);
/// How long the process is looked at.
const SPAN: Duration = Duration::from_mins(2);
/// Most resident memory in MiB, and most cores at rest.
const BARS: (f64, f64) = (150.0, 0.05);

fn main() -> Result<()> {
    let (nodes, pods) = (argument(1, 2_000), argument(2, 20_000));
    ensure!(
        pods >= nodes,
        "{pods} pods for {nodes} nodes; expected at least as many"
    );
    let programs = Programs::find()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run((nodes, pods), &programs))
}

async fn run((nodes, pods): (usize, usize), programs: &Programs) -> Result<()> {
    let mut lab = lab().await?;
    let client = lab.client();
    make_pool(&client, ("In", "4")).await?;
    let world = World::of(&client);
    let controller = Contender::Plimsoll.start(&mut lab, programs).await?;
    let began = Instant::now();
    let selector = json!({"matchLabels": {"app": "apart"}});
    let apart = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector},
    ]}});
    deploy(
        &client,
        ("apart", nodes),
        ("1", "1Gi"),
        &[("affinity", apart)],
    )
    .await?;
    let bought = world.until("the nodes to have their pods", PATIENCE, |seen| {
        seen.running() >= nodes
    });
    bought.await?;
    eprintln!(
        "{nodes} pods apart run after {:.0} s",
        began.elapsed().as_secs_f64()
    );
    deploy(&client, ("filler", pods - nodes), ("100m", "100Mi"), &[]).await?;
    let settled = world.until_settled(began, (QUIET, PATIENCE), |seen| seen.running() == pods);
    settled.await?;
    eprintln!(
        "{pods} pods run, and nothing changes, after {:.0} s",
        began.elapsed().as_secs_f64()
    );
    let before = controller.usage();
    let began = Instant::now();
    tokio::time::sleep(SPAN).await;
    let after = controller.usage();
    let cores = after
        .processor
        .saturating_sub(before.processor)
        .as_secs_f64()
        / began.elapsed().as_secs_f64();
    let seen = world.seen();
    println!(
        "{} nodes, {} claims, {} pods that run",
        seen.nodes.len(),
        seen.claims(),
        seen.running()
    );
    print(after, cores);
    Ok(())
}

fn print(usage: Usage, cores: f64) {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let (resident, peak) = (mib(usage.resident), mib(usage.peak));
    for (what, value, most) in [
        ("resident memory at rest, MiB", resident, BARS.0),
        ("cores at rest", cores, BARS.1),
    ] {
        let verdict = if value <= most { "met" } else { "MISSED" };
        println!("{what:<32}{value:>10.3}, at most {most}  {verdict}");
    }
    println!("{:<32}{peak:>10.3}", "peak memory on the way, MiB");
    println!(
        "{:<32}{:>10.3}",
        "processor time on the way, s",
        usage.processor.as_secs_f64()
    );
}
