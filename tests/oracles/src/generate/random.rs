//! Random clusters with every kind of object and constraint.

use proptest::prelude::*;

use plimsoll_base::resources::ResourceName;
use plimsoll_model::{ClaimPhase, OwnerKind};

use super::Draw;
use crate::fixture::{
    ARCH, Amounts, ClusterFixture, HOSTNAME, INSTANCE_TYPE, MEBIBYTE, NoSchedule, NodeFixture,
    OnDemand, PodFixture, PoolFixture, PreferNoSchedule, Spot, TypeFixture, ZONE, ZONES, cluster,
    instance_type, is_in, node, not_in, pod, pool,
};

const APPS: [&str; 4] = ["web", "db", "cache", "batch"];
const TEAMS: [&str; 2] = ["red", "blue"];
/// A class whose kubelets keep more for the system.
const LEAN: &str = "lean";

/// A kind of object or constraint that a random cluster may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Node selectors and required node affinity.
    Selectors,
    /// Preferences of every kind, and soft spread.
    Preferences,
    /// Taints of pools and nodes, tolerations of pods.
    Taints,
    /// Hard topology spread.
    Spread,
    /// Required pod affinity and anti-affinity.
    Affinity,
    /// Host ports.
    Ports,
    /// Volumes that are bound to a zone.
    Volumes,
    /// DaemonSets.
    Daemons,
    /// Weights and limits of pools.
    Pools,
    /// Nodes that are removed, claims on their way.
    ChangingNodes,
    /// Minimum values of pools.
    MinimumValues,
    /// A class whose nodes have less room; the last kind, as [`Features::ALL`] counts them.
    Classes,
}

/// A set of kinds, one bit for each in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(u16);

impl Features {
    /// Sizes only.
    pub const NONE: Self = Self(0);
    /// Everything.
    pub const ALL: Self = Self((2 << Kind::Classes as u16) - 1);

    /// The kinds whose bits are set; bits beyond the last kind are skipped.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// These kinds and no others.
    pub fn of(kinds: &[Kind]) -> Self {
        Self::NONE.with(kinds)
    }

    /// These kinds as well.
    #[must_use]
    pub fn with(self, kinds: &[Kind]) -> Self {
        Self(kinds.iter().fold(self.0, |bits, &kind| bits | bit(kind)))
    }

    /// All but these kinds.
    #[must_use]
    pub fn without(self, kinds: &[Kind]) -> Self {
        Self(kinds.iter().fold(self.0, |bits, &kind| bits & !bit(kind)))
    }

    /// `true` if a kind may occur.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & bit(kind) != 0
    }
}

const fn bit(kind: Kind) -> u16 {
    1 << kind as u16
}

/// How large a random cluster is, and what may occur in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Where all draws begin.
    pub seed: u64,
    /// Waiting pods.
    pub pods: usize,
    /// Existing nodes.
    pub nodes: usize,
    /// Pools.
    pub pools: usize,
    /// Instance types.
    pub types: usize,
    /// Zones, 1 to 3.
    pub zones: usize,
    /// Kinds of constraint.
    pub features: Features,
}

impl Shape {
    /// A shape by its numbers of pods, nodes, pools, types and zones.
    pub const fn of(seed: u64, numbers: [usize; 5], features: Features) -> Self {
        let [pods, nodes, pools, types, zones] = numbers;
        Self {
            seed,
            pods,
            nodes,
            pools,
            types,
            zones,
            features,
        }
    }

    /// As small as the exhaustive oracle can take.
    pub const fn tiny(seed: u64) -> Self {
        Self::of(seed, [4, 1, 2, 3, 2], Features::ALL)
    }
}

/// Shapes up to `most`, with random features; they shrink towards fewer objects and fewer kinds of constraint.
pub fn shapes(most: Shape) -> impl Strategy<Value = Shape> {
    let counts = (
        0..=most.pods,
        0..=most.nodes,
        1..=most.pools,
        1..=most.types,
        1..=most.zones,
    );
    (any::<u64>(), counts, 0..=Features::ALL.0).prop_map(
        |(seed, (pods, nodes, pools, types, zones), bits)| {
            let numbers = [pods, nodes, pools, types, zones];
            Shape::of(seed, numbers, Features::from_bits(bits))
        },
    )
}

/// A random cluster; the same for the same shape.
pub fn random_cluster(shape: &Shape) -> ClusterFixture {
    let zones = &ZONES[..shape.zones.clamp(1, ZONES.len())];
    let mut cluster = cluster().seed(shape.seed);
    for at in 0..shape.types {
        cluster = cluster.sells(random_type(shape, at, zones));
        if shape.features.has(Kind::Classes) {
            cluster = cluster.class_sells(LEAN, lean_type(shape, at, zones));
        }
    }
    for at in 0..shape.pools {
        cluster = cluster.pool(random_pool(shape, at, zones));
    }
    if shape.features.has(Kind::Daemons) {
        let log = pod("log").cpu(50).memory_mib(64).tolerates_all();
        let zonal = pod("zonal").cpu(100).select(ZONE, zones[0]);
        cluster = cluster.daemon(&log).daemon(&zonal);
    }
    for at in 0..shape.nodes {
        cluster = random_node(cluster, shape, at, zones);
    }
    for at in 0..shape.pods {
        cluster = random_pod(cluster, shape, at, zones);
    }
    cluster
}

fn random_type(shape: &Shape, at: usize, zones: &[&str]) -> TypeFixture {
    let mut draw = Draw::new(shape.seed, "type", at);
    let cores = draw.one_of(&[1_i64, 2, 4, 8]);
    let per_core = draw.one_of(&[2_i64, 4, 8]);
    let cents = cores * (2 + per_core) + i64::try_from(draw.below(5)).unwrap_or(0);
    let mut fixture = instance_type(&format!("type-{at}"))
        .cpu(cores * 1000)
        .memory_mib(cores * per_core * 1024)
        .pods(cores * 8)
        .arch(if draw.percent(20) { "arm64" } else { "amd64" })
        .price(f64::from(i32::try_from(cents).unwrap_or(0)) / 100.0);
    for (place, zone) in zones.iter().enumerate() {
        if place == 0 || draw.percent(80) {
            fixture = fixture.offered(zone, OnDemand);
        } else {
            fixture = fixture.sold_out(zone, OnDemand);
        }
    }
    if draw.percent(50) {
        let cents = f64::from(i32::try_from(cents / 3).unwrap_or(0)) / 100.0;
        fixture = fixture.price(cents).offered(zones[0], Spot);
    }
    if shape.features.has(Kind::Volumes) {
        fixture = fixture.attaches("ebs", 1 + u32::try_from(at % 3).unwrap_or(0));
    }
    fixture
}

/// The type as nodes of class [`LEAN`] have it: half the pods, more for the system, and sometimes in the first zone alone.
fn lean_type(shape: &Shape, at: usize, zones: &[&str]) -> TypeFixture {
    let mut draw = Draw::new(shape.seed, "lean type", at);
    let zones = if draw.percent(20) { &zones[..1] } else { zones };
    let fixture = random_type(shape, at, zones);
    let pods = fixture.capacity().get(&ResourceName::Pods) / 2;
    let fixture = fixture.pods(pods).overhead(ResourceName::Cpu, 600);
    fixture.overhead(ResourceName::Memory, 512 * MEBIBYTE)
}

/// The class of a pool's nodes.
fn class_of_pool(shape: &Shape, at: usize) -> &'static str {
    let mut draw = Draw::new(shape.seed, "class", at);
    if shape.features.has(Kind::Classes) && draw.percent(50) {
        LEAN
    } else {
        "default"
    }
}

fn random_pool(shape: &Shape, at: usize, zones: &[&str]) -> PoolFixture {
    let mut draw = Draw::new(shape.seed, "pool", at);
    let mut fixture = pool(&format!("pool-{at}")).label("team", draw.one_of(&TEAMS));
    fixture = fixture.class(class_of_pool(shape, at));
    if shape.features.has(Kind::Pools) {
        fixture = fixture.weight(u32::try_from(draw.below(3) * 10).unwrap_or(0));
        if draw.percent(30) {
            fixture = fixture.limit_cpu(draw.one_of(&[4000, 8000, 16_000]));
        }
        if draw.percent(10) {
            fixture = fixture.limit_nodes(2);
        }
        if draw.percent(20) {
            fixture = fixture.zones(&[draw.one_of(zones)]);
        }
    }
    if shape.features.has(Kind::Taints) && at > 0 {
        fixture = match draw.below(4) {
            0 => fixture.taint("dedicated", "db", NoSchedule),
            1 => fixture.taint("dedicated", "db", PreferNoSchedule),
            2 => fixture.startup_taint("agent", "", NoSchedule),
            _ => fixture,
        };
    }
    if shape.features.has(Kind::MinimumValues) && draw.percent(50) {
        fixture = fixture.min_values(INSTANCE_TYPE, draw.one_of(&[2, 3]));
    }
    fixture
}

fn random_node(
    cluster: ClusterFixture,
    shape: &Shape,
    at: usize,
    zones: &[&str],
) -> ClusterFixture {
    let mut draw = Draw::new(shape.seed, "node", at);
    let name = format!("node-{at}");
    let cores = draw.one_of(&[2_i64, 4, 8]);
    let mut fixture = node(&name)
        .cpu(cores * 1000)
        .memory_mib(cores * 4096)
        .zone(draw.one_of(zones))
        .of_type("type-0")
        .label("team", draw.one_of(&TEAMS))
        .attaches("ebs", 2);
    if draw.percent(60) {
        fixture = fixture.managed("pool-0").class(class_of_pool(shape, 0));
    }
    if shape.features.has(Kind::Taints) && draw.percent(20) {
        fixture = fixture.taint("dedicated", "db", NoSchedule);
    }
    let fixture = if shape.features.has(Kind::ChangingNodes) {
        changing(fixture, &mut draw)
    } else {
        fixture
    };
    let mut cluster = cluster.node(fixture);
    for place in 0..draw.below(4) {
        let mut draw = Draw::new(shape.seed, "bound", at * 16 + place);
        let bound = sized(&format!("bound-{at}-{place}"), &mut draw);
        cluster = cluster.pod(constrained(bound, shape, &mut draw, zones).on(&name));
    }
    cluster
}

fn changing(fixture: NodeFixture, draw: &mut Draw) -> NodeFixture {
    match draw.below(8) {
        0 => fixture.deleting(),
        1 => fixture.phase(ClaimPhase::Registered),
        2 => fixture.phase(ClaimPhase::Launched),
        _ => fixture,
    }
}

fn random_pod(cluster: ClusterFixture, shape: &Shape, at: usize, zones: &[&str]) -> ClusterFixture {
    let mut draw = Draw::new(shape.seed, "pod", at);
    let name = format!("pod-{at:04}");
    let created = i64::try_from(draw.below(1000)).unwrap_or(0);
    let fixture = sized(&name, &mut draw)
        .created(created)
        .owned_by(OwnerKind::ReplicaSet, "set");
    let fixture = constrained(fixture, shape, &mut draw, zones);
    if shape.features.has(Kind::Volumes) && draw.percent(20) {
        let claim = format!("data-{at}");
        let zone = draw.one_of(zones);
        let fixture = fixture.volume(&claim);
        return cluster.bound_volume(&claim, "ebs", &[zone]).pod(fixture);
    }
    cluster.pod(fixture)
}

fn sized(name: &str, draw: &mut Draw) -> PodFixture {
    pod(name)
        .only_labels(&[("app", draw.one_of(&APPS))])
        .cpu(draw.one_of(&[100, 250, 500, 1000, 1500]))
        .memory_mib(draw.one_of(&[100, 256, 512, 1024, 2048]))
}

/// Constraints of the kinds that may occur, each with some chance.
fn constrained(pod: PodFixture, shape: &Shape, draw: &mut Draw, zones: &[&str]) -> PodFixture {
    let features = shape.features;
    let mut pod = pod;
    if features.has(Kind::Selectors) {
        pod = match draw.below(8) {
            0 => pod.select(ZONE, draw.one_of(zones)),
            1 => pod.needs(is_in("team", &[draw.one_of(&TEAMS)])),
            2 => pod
                .needs(is_in(ARCH, &["arm64"]))
                .or_needs(is_in(ARCH, &["amd64"])),
            3 => pod.needs(not_in(ZONE, &[draw.one_of(zones)])),
            _ => pod,
        };
    }
    if features.has(Kind::Taints) && draw.percent(30) {
        pod = pod.tolerates("dedicated", "db", NoSchedule);
    }
    let other = draw.one_of(&APPS);
    if features.has(Kind::Spread) && draw.percent(25) {
        let key = draw.one_of(&[ZONE, HOSTNAME]);
        pod = pod.spread(key, draw.one_of(&[1, 2])).to(other);
    }
    if features.has(Kind::Affinity) {
        let key = draw.one_of(&[ZONE, HOSTNAME]);
        pod = match draw.below(8) {
            0 => pod.affinity(key).to(other),
            1 => pod.anti_affinity(key).to(other),
            _ => pod,
        };
    }
    if features.has(Kind::Preferences) {
        pod = match draw.below(8) {
            0 => pod.prefers(1, is_in(ZONE, &[draw.one_of(zones)])),
            1 => pod.prefers_spread(ZONE, 1).to(other),
            2 => pod.prefers_anti_affinity(1, HOSTNAME).to(other),
            3 => pod.prefers_affinity(1, ZONE).to(other),
            _ => pod,
        };
    }
    if features.has(Kind::Ports) && draw.percent(15) {
        pod = pod.port(draw.one_of(&[8080, 9090]));
    }
    pod
}
