//! How soon a pod that no node can hold has its claim, in the lab: from the scheduler's word to the claim of the node on which it runs
//! then, for deployments of 1, 100 and 1,000 pods one after the other. Usage: `just_in_time [PODS]...`.
//!
//! Both moments are those at which a watch of this program hears of them. Pods that the scheduler never refused are not counted.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use plimsoll_benches::argument;
use plimsoll_benches::live::{Contender, Heard, PATIENCE, Programs, deploy, lab, make_pool};

/// Deployments where none are named.
const PODS: [usize; 3] = [1, 100, 1_000];
/// Most seconds, of half the pods and of all but a hundredth.
const BARS: (f64, f64) = (1.5, 11.0);

fn main() -> Result<()> {
    let named = std::env::args().count() - 1;
    let pods: Vec<usize> = match named {
        0 => PODS.to_vec(),
        _ => (1..=named).map(|at| argument(at, 0)).collect(),
    };
    let programs = Programs::find()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(&pods, &programs))
}

/// Row K03 of the acceptance table.
async fn run(pods: &[usize], programs: &Programs) -> Result<()> {
    let mut lab = lab().await?;
    let client = lab.client();
    make_pool(&client, ("Lt", "32")).await?;
    let heard = Heard::of(&client);
    Contender::Plimsoll.start(&mut lab, programs).await?;
    println!(
        "{:>8}{:>12}{:>10}{:>10}",
        "pods", "refused", "p50, s", "p99, s"
    );
    for count in pods.iter().copied().collect::<BTreeSet<_>>() {
        let name = format!("pods-{count}");
        deploy(&client, (name.as_str(), count), ("900m", "3100Mi"), &[]).await?;
        let waits = heard.waits(&format!("{name}-"), count, PATIENCE).await?;
        let at = |hundredth: usize| waits.get((waits.len() * hundredth).div_ceil(100).max(1) - 1);
        let (half, most) = (at(50), at(99));
        let (half, most) = half
            .copied()
            .zip(most.copied())
            .context("no pod was refused")?;
        let verdict = if half <= BARS.0 && most <= BARS.1 {
            "met"
        } else {
            "MISSED"
        };
        println!(
            "{count:>8}{:>12}{half:>10.2}{most:>10.2}  {verdict}",
            waits.len()
        );
    }
    Ok(())
}
