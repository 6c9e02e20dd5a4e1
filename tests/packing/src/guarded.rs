//! What whole plans cost with the default guards on, against their own bound: replicated workloads of mixed sizes, and pods pinned
//! to zones beside nodes that are there, on EC2's general types, on demand.
//!
//! The bound knows no guards, so that the ratio shows what they cost together with what packing loses.

use anyhow::{Context, Result, ensure};
use plimsoll_core::catalogue::InstanceType;
use plimsoll_core::labels::ARCH;
use plimsoll_core::model::OwnerKind;
use plimsoll_core::plan::Plan;
use plimsoll_core::schedule::plan;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_ec2_facts::catalogue::{Terms, Zone};
use plimsoll_ec2_facts::{CatalogueSettings, catalogue};
use plimsoll_oracles::fixture::{Amounts, ClusterFixture, ZONES, above, cluster, is_in, pod, pool};
use plimsoll_oracles::generate::three_zones;

/// The most that a plan may cost of its bound.
const BAR: f64 = 1.05;
/// Replicas of one workload.
const REPLICAS: usize = 10;
const CPU: [i64; 5] = [100, 250, 500, 1000, 1500];
const MEMORY: [i64; 6] = [100, 256, 512, 1024, 2048, 4096];

/// One line of the table for each number of pods.
pub(crate) fn lines(wanted: &str) -> Result<Vec<String>> {
    let types = general_types()?;
    let mut lines = Vec::new();
    let mut add = |name: &str, cluster: &dyn Fn() -> ClusterFixture| -> Result<()> {
        if name.contains(wanted) {
            let free = cluster().settings(|settings| settings.guards.enabled = false);
            lines.push(line(name, &cluster().snapshot(), &free.snapshot())?);
        }
        Ok(())
    };
    for pods in [500, 2_000, 10_000] {
        let cluster = || replicated(&types, pods);
        add(&format!("guarded mix {pods}"), &cluster)?;
    }
    let zonal = || three_zones(market(&types), 2_000, 7);
    add("zones, nodes there", &zonal)?;
    Ok(lines)
}

fn general_types() -> Result<Vec<InstanceType>> {
    let mut settings = CatalogueSettings::for_region("us-east-1");
    settings.terms = Terms::OnDemandOnly;
    let zone = |name: &str| Zone {
        name: name.to_owned(),
        id: None,
    };
    settings.zones = Some(ZONES.map(zone).to_vec());
    let catalogue = catalogue(&settings).context("the embedded price list has us-east-1")?;
    let types = catalogue.types().iter();
    Ok(types.map(|sold| InstanceType::clone(sold)).collect())
}

/// A cluster with one pool, of general types for amd64.
fn market(types: &[InstanceType]) -> ClusterFixture {
    let general = pool("general")
        .needs(is_in(
            "karpenter.k8s.aws/instance-category",
            &["c", "m", "r"],
        ))
        .needs(above("karpenter.k8s.aws/instance-generation", 2))
        .needs(is_in(ARCH, &["amd64"]));
    cluster().types(types.iter().cloned()).pool(general)
}

/// Workloads of ten replicas, each of a size drawn evenly.
fn replicated(types: &[InstanceType], pods: usize) -> ClusterFixture {
    let mut result = market(types);
    for workload in 0..pods / REPLICAS {
        let name = format!("app-{workload:05}");
        let (cpu, memory) = (workload % CPU.len(), workload / CPU.len() % MEMORY.len());
        let one = pod(&name)
            .cpu(CPU[cpu])
            .memory_mib(MEMORY[memory])
            .owned_by(OwnerKind::ReplicaSet, &name);
        result = result.pods(one.replicas(REPLICAS));
    }
    result
}

fn line(name: &str, guarded: &Snapshot, free: &Snapshot) -> Result<String> {
    let (with, without) = (plan(guarded), plan(free));
    ensure!(with.unplaced.is_empty(), "{name}: pods left waiting");
    let ratio = |plan: &Plan| plan.cost.list.dollars() / plan.cost.bound.dollars();
    let verdict = if ratio(&with) <= BAR {
        ""
    } else {
        "  above the bar"
    };
    Ok(format!(
        "{name:<24}{:>8}{:>8}{:>12.4}{:>12.4}{:>8.4}{:>9.4}{verdict}",
        with.placements.len(),
        with.claims.len(),
        with.cost.list.dollars(),
        with.cost.bound.dollars(),
        ratio(&with),
        ratio(&without),
    ))
}
