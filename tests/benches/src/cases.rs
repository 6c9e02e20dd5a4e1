//! The problems that Karpenter and we both solve: its own benchmarks, and fleets to be packed at EC2's list prices.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use plimsoll_ec2_facts::catalogue::{CapacityTypes, Zone};
use plimsoll_ec2_facts::instance_type::Architecture;
use plimsoll_ec2_facts::{CatalogueSettings, catalogue, instance_type};
use plimsoll_model::catalogue::{Catalogue, Catalogues, InstanceType};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, HOSTNAME, PodFixture, ZONE, ZONES, cluster, pod, pool,
};
use plimsoll_oracles::generate::{Teams, memory_heavy, three_zones, two_architectures};
use plimsoll_peers::{Mix, Peer};
use plimsoll_snapshot::write::json;

/// Cpu in milli-cores and memory in MiB of mixed pods; each drawn evenly, independent of the other.
const MIX_CPU: [i64; 5] = [100, 250, 500, 1000, 1500];
const MIX_MEMORY: [i64; 6] = [100, 256, 512, 1024, 2048, 4096];
/// Seed of Karpenter's benchmarks.
const SEED: u32 = 42;

/// A problem file with a name.
pub struct Case {
    /// Name of the case.
    pub name: String,
    /// The file's bytes.
    pub problem: Vec<u8>,
}

/// Every case; the trace only where `PLIMSOLL_DATA` names the folder of the published lists.
pub fn all(peer: &Peer) -> Result<Vec<Case>> {
    let mut result = vec![
        Case {
            name: "benchmark 10000".to_owned(),
            problem: peer.benchmark(Mix::Diverse, 10_000, 400, SEED)?,
        },
        Case {
            name: "preferences 4000".to_owned(),
            problem: peer.benchmark(Mix::Preferences, 4_000, 400, SEED)?,
        },
    ];
    let market = Arc::new(general_types()?);
    for (name, market, cluster) in fleets(&market)? {
        let (name, problem) = (name.to_owned(), problem(&market, cluster)?);
        result.push(Case { name, problem });
    }
    result.push(Case {
        name: "100 pools, 2000".to_owned(),
        problem: many_pools()?,
    });
    let mut add = |name: &str, pods: Vec<PodFixture>| -> Result<()> {
        let problem = problem(&market, cluster().pods(pods))?;
        let name = name.to_owned();
        result.push(Case { name, problem });
        Ok(())
    };
    for count in [500, 2_000, 20_000] {
        add(&format!("mix {count}"), mixed(count).collect())?;
    }
    add("two shapes", two_shapes().collect())?;
    if let Some(data) = std::env::var_os("PLIMSOLL_DATA").map(PathBuf::from) {
        add("trace, cpu pods", trace(&data)?)?;
    }
    let of_app = |(at, pod): (usize, PodFixture)| {
        let app = format!("app-{}", at % 40);
        (app.clone(), pod.only_labels(&[("app", &app)]))
    };
    let apps = || mixed(2_000).enumerate().map(of_app);
    let spread = |key: &'static str| {
        apps().map(move |(app, pod)| pod.spread(key, 1).selecting(&[("app", &app)]))
    };
    add("zonal spread 2000", spread(ZONE).collect())?;
    add("host spread 2000", spread(HOSTNAME).collect())?;
    let together = apps().map(|(app, pod)| pod.affinity(ZONE).selecting(&[("app", &app)]));
    add("zonal affinity 2000", together.collect())?;
    let apart = apps().map(|(app, pod)| pod.anti_affinity(HOSTNAME).selecting(&[("app", &app)]));
    add("host anti-affinity 2000", apart.collect())?;
    Ok(result)
}

/// Fleets of other kinds of pods, with what is on sale for each.
fn fleets(market: &Arc<Catalogue>) -> Result<Vec<(&'static str, Arc<Catalogue>, ClusterFixture)>> {
    let both = sold(None, |architecture| {
        matches!(architecture, Architecture::Amd64 | Architecture::Arm64)
    })?;
    let zonal = zonal_types()?;
    Ok(vec![
        (
            "memory-heavy 2000",
            Arc::clone(market),
            memory_heavy(cluster(), 2_000, 11),
        ),
        (
            "two architectures",
            Arc::new(both),
            two_architectures(cluster(), 2_000, 3),
        ),
        (
            "zones, nodes there",
            Arc::new(zonal),
            three_zones(cluster(), 2_000, 7),
        ),
    ])
}

/// Pods of a hundred teams with a pool each, and what is on sale in three zones.
fn many_pools() -> Result<Vec<u8>> {
    let teams = Teams {
        teams: 100,
        pods: 2_000,
        spread: false,
        seed: 1,
    };
    in_pools(&Arc::new(zonal_types()?), teams.all(cluster()))
}

/// A pool that may buy anything on sale, daemons of 150m and 200 MiB in three pods, and a cluster's pods and nodes.
fn problem(market: &Arc<Catalogue>, cluster: ClusterFixture) -> Result<Vec<u8>> {
    in_pools(market, cluster.pool(pool("default")))
}

/// The same for a cluster that has its pools.
fn in_pools(market: &Arc<Catalogue>, mut cluster: ClusterFixture) -> Result<Vec<u8>> {
    for (name, cpu, memory) in [("network", 50, 60), ("proxy", 50, 70), ("logs", 50, 70)] {
        cluster = cluster.daemon(&pod(name).cpu(cpu).memory_mib(memory));
    }
    let mut snapshot: Snapshot = cluster.snapshot();
    snapshot.catalogues = Arc::new(Catalogues::new(Arc::clone(market), []));
    Arc::make_mut(&mut snapshot.settings).guards.enabled = false;
    Ok(json(&snapshot)?)
}

/// Types c, m and r of generation 3 and later in us-east-1 for amd64, on demand in three zones, no bare metal.
pub fn general_types() -> Result<Catalogue> {
    sold(None, is_amd64)
}

/// The same in the three zones of the fixtures.
pub fn zonal_types() -> Result<Catalogue> {
    let zone = |name: &str| Zone {
        name: name.to_owned(),
        id: None,
    };
    sold(Some(ZONES.map(zone).to_vec()), is_amd64)
}

fn is_amd64(architecture: Architecture) -> bool {
    architecture == Architecture::Amd64
}

/// Types c, m and r of generation 3 and later of some architectures, on demand in these zones, no bare metal.
fn sold(zones: Option<Vec<Zone>>, may_be: impl Fn(Architecture) -> bool) -> Result<Catalogue> {
    let mut settings = CatalogueSettings::for_region("us-east-1");
    settings.capacity_types = CapacityTypes::OnDemandOnly;
    settings.zones = zones;
    let all = catalogue(&settings)?;
    let general = |sold: &&Arc<InstanceType>| {
        instance_type(sold.name.as_str()).is_some_and(|facts| {
            let generation: u32 = facts.generation().parse().unwrap_or(0);
            matches!(facts.category(), "c" | "m" | "r")
                && generation > 2
                && !facts.is_bare_metal()
                && may_be(facts.architecture)
        })
    };
    let types = all.types().iter().filter(general);
    let types: Vec<InstanceType> = types.map(|sold| InstanceType::clone(sold)).collect();
    Ok(all.with_types(types))
}

fn sized(at: usize, cpu: i64, memory_mib: i64) -> PodFixture {
    pod(&format!("pod-{at:05}")).cpu(cpu).memory_mib(memory_mib)
}

fn mixed(count: usize) -> impl Iterator<Item = PodFixture> {
    let mut draw = Draw(7);
    (0..count).map(move |at| {
        let cpu = *draw.one_of(&MIX_CPU);
        sized(at, cpu, *draw.one_of(&MIX_MEMORY))
    })
}

/// 500 small pods and 500 large ones, which no type holds without waste.
fn two_shapes() -> impl Iterator<Item = PodFixture> {
    (0..1_000).map(|at| match at % 2 {
        0 => sized(at, 900, 3_100),
        _ => sized(at, 3_500, 28 * 1024),
    })
}

/// Pods of the published trace that ask for no GPU.
fn trace(data: &Path) -> Result<Vec<PodFixture>> {
    let path = data.join("traces/openb_pod_list_default.csv");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let at = header.iter().position(|have| *have == name);
        at.with_context(|| format!("{}: no column {name}", path.display()))
    };
    let (cpu, memory, gpus) = (
        column("cpu_milli")?,
        column("memory_mib")?,
        column("num_gpu")?,
    );
    let mut pods = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields.get(at).and_then(|text| text.parse::<i64>().ok());
        if let (Some(cpu), Some(memory), Some(0)) = (number(cpu), number(memory), number(gpus)) {
            pods.push(sized(pods.len(), cpu, memory));
        }
    }
    Ok(pods)
}

/// A seeded sequence of draws.
struct Draw(u64);

impl Draw {
    fn one_of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let drawn = usize::try_from(self.0 >> 33).unwrap_or(0);
        &values[drawn % values.len()]
    }
}
