//! Karpenter's benchmark: a fifth each of plain pods, zonal spread, host spread, zonal affinity and host anti-affinity,
//! on its ladder of fake types. Labels, selectors and sizes are drawn independently, so a term often speaks of others.

use plimsoll_model::snapshot::Snapshot;

use super::Draw;
use crate::fixture::{Amounts, HOSTNAME, PodFixture, ZONE, cluster, ladder, pod, pool};

const CPU: [i64; 5] = [100, 250, 500, 1000, 1500];
const MEMORY: [i64; 6] = [100, 256, 512, 1024, 2048, 4096];
const VALUES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
/// Karpenter's spelling.
const AFFINITY_LABEL: &str = "my-affininity";
const LABEL: &str = "my-label";

/// One pool, `types` fake types, `pods` waiting pods of the mix.
pub fn benchmark_mix(pods: usize, types: i64, seed: u64) -> Snapshot {
    cluster()
        .seed(seed)
        .types(ladder(types))
        .pool(pool("default"))
        .pods(diverse_pods(pods, seed))
        .snapshot()
}

/// Pods of the mix, by kind; what five does not divide is plain.
pub fn diverse_pods(count: usize, seed: u64) -> Vec<PodFixture> {
    let each = count / 5;
    (0..count)
        .map(|at| {
            let mut draw = Draw::new(seed, "diverse", at);
            let kind = at.checked_div(each).unwrap_or(0);
            one(&format!("pod-{at:05}"), kind, &mut draw)
        })
        .collect()
}

fn one(name: &str, kind: usize, draw: &mut Draw) -> PodFixture {
    let sized = |draw: &mut Draw| {
        pod(name)
            .cpu(draw.one_of(&CPU))
            .memory_mib(draw.one_of(&MEMORY))
    };
    let labelled = |draw: &mut Draw| {
        let value = draw.one_of(&VALUES);
        sized(draw).only_labels(&[(LABEL, value)])
    };
    match kind {
        1 | 2 => {
            let key = if kind == 1 { ZONE } else { HOSTNAME };
            let others = draw.one_of(&VALUES);
            labelled(draw).spread(key, 1).selecting(&[(LABEL, others)])
        }
        3 => {
            let (own, others) = (draw.one_of(&VALUES), draw.one_of(&VALUES));
            let pod = sized(draw).only_labels(&[(AFFINITY_LABEL, own)]);
            pod.affinity(ZONE).selecting(&[(AFFINITY_LABEL, others)])
        }
        4 => {
            let pod = sized(draw).only_labels(&[("app", "nginx")]);
            pod.anti_affinity(HOSTNAME).to("nginx")
        }
        _ => labelled(draw),
    }
}
