//! Cost of whole plans with the default guards, against their own bound and beside the plans without: the workloads of the first
//! table on EC2's general types in three zones, on demand, and pods pinned to zones beside nodes that are there.
//!
//! The bound knows no guards, so that the ratio shows what they cost together with what packing loses. Pods of drawn shapes belong
//! to workloads of ten replicas, where the guard on replicas begins; those of the published trace belong to none.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use plimsoll_base::labels::ARCH;
use plimsoll_ec2_facts::catalogue::{CapacityTypes, Zone};
use plimsoll_ec2_facts::{CatalogueSettings, catalogue};
use plimsoll_model::OwnerKind;
use plimsoll_model::catalogue::InstanceType;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, PodFixture, ZONES, above, cluster, is_in, pod, pool,
};
use plimsoll_oracles::generate::three_zones;
use plimsoll_schedule::{guard_costs, plan, prepare};

use crate::workload::{Shapes, memory_heavy, mix, trace, two_shapes};

/// The most that a plan with the default guards may cost of its bound; under [`FEW`] nodes one node more.
const COST_BAR: f64 = 1.03;
const FEW: usize = 30;
/// The most nodes that it may have of those without guards, from so many on.
const NODES_BAR: f64 = 1.5;
const NODES_FROM: usize = 100;
/// Replicas of one workload.
const REPLICAS: u32 = 10;
const ARCHITECTURES: [&[&str]; 3] = [&["amd64"], &["arm64"], &["amd64", "arm64"]];

/// Heading of the lines.
pub(crate) fn head() -> String {
    format!(
        "{:<24}{:>8}{:>8}{:>12}{:>12}{:>8}{:>9}{:>9}{:>8}",
        "with default guards",
        "pods",
        "nodes",
        "$/h",
        "bound $/h",
        "ratio",
        "without",
        "nodes",
        "ratio"
    )
}

/// A line for each workload whose name contains `wanted`, handed on as soon as it is known; that of the trace only where the
/// folder of its file is given.
pub(crate) fn lines(wanted: &str, data: Option<&Path>, mut print: impl FnMut(&str)) -> Result<()> {
    let types = general_types()?;
    let one = || market(&types, &["amd64"]);
    let mut add = |name: &str, cluster: &dyn Fn() -> Result<ClusterFixture>| -> Result<()> {
        if name.contains(wanted) {
            let free = cluster()?.settings(|settings| settings.guards.enabled = false);
            print(&line(name, &cluster()?.snapshot(), &free.snapshot())?);
        }
        Ok(())
    };
    for pods in [500, 2_000, 20_000] {
        add(&format!("mix {pods}"), &|| {
            Ok(replicated(one(), &mix(pods)))
        })?;
    }
    add("two shapes", &|| Ok(replicated(one(), &two_shapes())))?;
    if let Some(data) = data {
        add("trace, cpu pods", &|| Ok(single(one(), &trace(data)?)))?;
    }
    for pods in [500, 2_000] {
        let name = format!("memory-heavy {pods}");
        add(&name, &|| Ok(replicated(one(), &memory_heavy(pods))))?;
    }
    add("two architectures 2000", &|| {
        Ok(architectures(&types, &mix(2_000)))
    })?;
    add("zones, nodes there", &|| Ok(three_zones(one(), 2_000, 7)))
}

fn general_types() -> Result<Vec<InstanceType>> {
    let mut settings = CatalogueSettings::for_region("us-east-1");
    settings.capacity_types = CapacityTypes::OnDemandOnly;
    let zone = |name: &str| Zone {
        name: name.to_owned(),
        id: None,
    };
    settings.zones = Some(ZONES.map(zone).to_vec());
    let catalogue = catalogue(&settings).context("the embedded price list has us-east-1")?;
    let types = catalogue.types().iter();
    Ok(types.map(|sold| InstanceType::clone(sold)).collect())
}

/// A cluster with one pool, of general types for these architectures.
fn market(types: &[InstanceType], architectures: &[&str]) -> ClusterFixture {
    let general = pool("general")
        .needs(is_in(
            "karpenter.k8s.aws/instance-category",
            &["c", "m", "r"],
        ))
        .needs(above("karpenter.k8s.aws/instance-generation", 2))
        .needs(is_in(ARCH, architectures));
    cluster().types(types.iter().cloned()).pool(general)
}

/// Pods of workloads, each of one shape.
fn workloads(shapes: &Shapes) -> impl Iterator<Item = Vec<PodFixture>> {
    shapes.iter().flat_map(|([cpu, memory], count)| {
        (0..count.div_ceil(REPLICAS)).map(move |number| {
            let name = format!("app-{cpu}-{memory}-{number}");
            let one = pod(&name).cpu(*cpu).memory_mib(*memory);
            let one = one.owned_by(OwnerKind::ReplicaSet, &name);
            let replicas = REPLICAS.min(count - number * REPLICAS);
            one.replicas(replicas as usize).collect()
        })
    })
}

fn replicated(cluster: ClusterFixture, shapes: &Shapes) -> ClusterFixture {
    workloads(shapes).fold(cluster, ClusterFixture::pods)
}

/// Pods without an owner.
fn single(cluster: ClusterFixture, shapes: &Shapes) -> ClusterFixture {
    shapes
        .iter()
        .fold(cluster, |cluster, ([cpu, memory], count)| {
            let one = pod(&format!("single-{cpu}-{memory}"))
                .cpu(*cpu)
                .memory_mib(*memory);
            cluster.pods(one.replicas(*count as usize))
        })
}

/// A third of the workloads on amd64 only, a third on arm64 only, the rest on either.
fn architectures(types: &[InstanceType], shapes: &Shapes) -> ClusterFixture {
    let both = market(types, &["amd64", "arm64"]);
    let turns = workloads(shapes).zip(ARCHITECTURES.iter().cycle());
    turns.fold(both, |cluster, (pods, own)| {
        cluster.pods(pods.into_iter().map(|pod| pod.needs(is_in(ARCH, own))))
    })
}

fn line(name: &str, guarded: &Snapshot, free: &Snapshot) -> Result<String> {
    let (with, without) = (plan(guarded), plan(free));
    ensure!(with.unplaced.is_empty(), "{name}: pods left waiting");
    let ratio = |plan: &Plan| plan.cost.list.dollars() / plan.cost.bound.dollars();
    let nodes = with.claims.len() as f64 / without.claims.len() as f64;
    let mut result = format!(
        "{name:<24}{:>8}{:>8}{:>12.4}{:>12.4}{:>8.4}{:>9.4}{:>9}{nodes:>8.2}",
        with.placements.len(),
        with.claims.len(),
        with.cost.list.dollars(),
        with.cost.bound.dollars(),
        ratio(&with),
        ratio(&without),
        without.claims.len(),
    );
    let cost_is_met = ratio(&with) <= COST_BAR || is_one_node_more(&with);
    if !cost_is_met {
        result += "  above the bar";
    }
    if without.claims.len() >= NODES_FROM && nodes > NODES_BAR {
        result += "  more nodes than the bar";
    }
    if !cost_is_met {
        for cost in guard_costs(&prepare(guarded), None, &with) {
            let guard = cost.guard.map_or("all guards", |guard| guard.as_str());
            let _ = write!(result, "\n    {guard}: {}", cost.cost);
        }
    }
    Ok(result)
}

/// `true` if a small fleet costs no more than its bound and its dearest node.
fn is_one_node_more(plan: &Plan) -> bool {
    let chosen = plan.claims.iter().filter_map(|claim| claim.chosen());
    let dearest = chosen.map(|option| option.list_price.dollars());
    let dearest = dearest.fold(0.0, f64::max);
    plan.claims.len() < FEW && plan.cost.list.dollars() <= plan.cost.bound.dollars() + dearest
}
