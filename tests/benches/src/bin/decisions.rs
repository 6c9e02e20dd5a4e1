//! Many small decisions on one market, as a simulation or a quiet cluster makes them: how long does each take?
//!
//! All of EC2 in one region, on demand and spot in three zones, one pool, two daemons, 20 waiting pods; every decision sees
//! other pods on the same catalogue and pool. Usage: `decisions [COUNT]`.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::sync::Arc;

use plimsoll_benches::{argument, processor_time};
use plimsoll_ec2_facts::{CatalogueSettings, catalogue};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{Amounts, cluster, pod, pool};
use plimsoll_oracles::generate::diverse_pods;
use plimsoll_schedule::Session;

/// Waiting pods of one decision.
const PODS: usize = 20;

fn main() -> anyhow::Result<()> {
    let count = argument(1, 50);
    let settings = CatalogueSettings::for_region("us-east-1");
    let mut market = cluster()
        .pool(pool("default"))
        .daemon(&pod("proxy").cpu(100).memory_mib(128))
        .daemon(&pod("logs").cpu(50).memory_mib(72))
        .snapshot();
    market.catalogues = Arc::new(catalogue(&settings)?.into());
    let types = market.catalogues.of_others().types();
    let offerings: usize = types.iter().map(|it| it.offerings.len()).sum();
    let snapshots: Vec<Snapshot> = (0..count).map(|seed| with_pods(&market, seed)).collect();
    let began = processor_time();
    let mut claims = 0;
    let session = Session::default();
    for snapshot in &snapshots {
        claims += plimsoll_schedule::finish(&session.prepare(snapshot), None)
            .claims
            .len();
    }
    let took = processor_time().saturating_sub(began);
    println!(
        "{} types, {offerings} offerings: {count} decisions about {PODS} pods each, {claims} claims, {:.2} ms of processors each",
        types.len(),
        took.as_secs_f64() * 1e3 / count as f64
    );
    Ok(())
}

/// The market with waiting pods of their own.
fn with_pods(market: &Snapshot, seed: usize) -> Snapshot {
    let pods = cluster()
        .pods(diverse_pods(PODS, seed as u64))
        .snapshot()
        .pods;
    Snapshot {
        pods,
        ..market.clone()
    }
}
