//! Pod sets that packing is measured on. The caller says what is sold and by which pools.

use super::Draw;
use crate::fixture::{ARCH, Amounts, ClusterFixture, PodFixture, ZONE, ZONES, node, pod};

const CPU: [i64; 5] = [100, 250, 500, 1000, 1500];
const MEMORY: [i64; 6] = [100, 256, 512, 1024, 2048, 4096];

/// Thirty sizes, uniform and independent.
pub fn mixed(cluster: ClusterFixture, count: usize, seed: u64) -> ClusterFixture {
    let one = |at: usize| {
        let mut draw = Draw::new(seed, "mixed", at);
        sized(&format!("mixed-{at:05}"), &mut draw)
    };
    cluster.pods((0..count).map(one))
}

/// A pod of one of the thirty sizes.
fn sized(name: &str, draw: &mut Draw) -> PodFixture {
    pod(name)
        .cpu(draw.one_of(&CPU))
        .memory_mib(draw.one_of(&MEMORY))
}

/// 500 pods of 900m and 3100 MiB, 500 of 3500m and 28 GiB: neither shape fills a common type well.
pub fn two_shapes(cluster: ClusterFixture) -> ClusterFixture {
    let small = pod("small").cpu(900).memory_mib(3100).replicas(500);
    let large = pod("large").cpu(3500).memory_mib(28 * 1024).replicas(500);
    cluster.pods(small).pods(large)
}

/// Pods with 8 to 16 GiB per core.
pub fn memory_heavy(cluster: ClusterFixture, count: usize, seed: u64) -> ClusterFixture {
    let one = |at: usize| {
        let mut draw = Draw::new(seed, "memory", at);
        let cpu = draw.one_of(&[250_i64, 500, 1000, 2000]);
        let per_core = draw.one_of(&[8_i64, 12, 16]);
        pod(&format!("memory-{at:05}"))
            .cpu(cpu)
            .memory_mib(cpu * per_core * 1024 / 1000)
    };
    cluster.pods((0..count).map(one))
}

/// The mix, half of it bound to an architecture: a quarter each.
pub fn two_architectures(cluster: ClusterFixture, count: usize, seed: u64) -> ClusterFixture {
    let one = |at: usize| {
        let mut draw = Draw::new(seed, "architectures", at);
        let sized = sized(&format!("arch-{at:05}"), &mut draw);
        match draw.below(4) {
            0 => sized.select(ARCH, "amd64"),
            1 => sized.select(ARCH, "arm64"),
            _ => sized,
        }
    };
    cluster.pods((0..count).map(one))
}

/// The mix, a third of it bound to a zone, beside nodes that are there and half full: one for every ten new ones that the
/// pods would fill.
pub fn three_zones(cluster: ClusterFixture, count: usize, seed: u64) -> ClusterFixture {
    const PODS_PER_NODE: usize = 12;
    let nodes = count.div_ceil(PODS_PER_NODE * 10);
    let with_nodes = (0..nodes).fold(cluster, |cluster, at| {
        let name = format!("there-{at:04}");
        let busy = pod(&format!("busy-{at:04}"))
            .cpu(4000)
            .memory_mib(16 * 1024);
        let node = node(&name).cpu(8000).memory_mib(32 * 1024);
        cluster
            .node(node.zone(ZONES[at % ZONES.len()]))
            .pod(busy.on(&name))
    });
    let one = |at: usize| {
        let mut draw = Draw::new(seed, "zones", at);
        let sized = sized(&format!("zonal-{at:05}"), &mut draw);
        if draw.below(3) == 0 {
            sized.select(ZONE, draw.one_of(&ZONES))
        } else {
            sized
        }
    };
    with_nodes.pods((0..count).map(one))
}
