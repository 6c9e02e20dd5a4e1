//! Plans the incumbent's benchmark mix and prints what it cost and how long it took.

use std::time::Instant;

use plimsoll_core::labels;
use plimsoll_core::schedule;
use plimsoll_oracles::fixture::*;

fn main() {
    let count: usize = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(10_000);
    let mut state: u64 = 42;
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % below
    };
    let letters = ["a", "b", "c", "d", "e", "f", "g"];
    let cpus = [100, 250, 500, 1000, 1500];
    let memories = [100, 256, 512, 1024, 2048, 4096];
    let mut pods = Vec::new();
    for number in 0..count {
        let base = pod(&format!("p{number}"))
            .cpu(cpus[draw(5)])
            .memory_mib(memories[draw(6)]);
        let label = letters[draw(7)];
        let selector = letters[draw(7)];
        pods.push(match number * 5 / count {
            0 => base.only_labels(&[("my-label", label)]),
            1 => base
                .only_labels(&[("my-label", label)])
                .spread(labels::ZONE, 1)
                .selecting(&[("my-label", selector)]),
            2 => base
                .only_labels(&[("my-label", label)])
                .spread(labels::HOSTNAME, 1)
                .selecting(&[("my-label", selector)]),
            3 => base
                .only_labels(&[("my-affininity", label)])
                .affinity(labels::ZONE)
                .selecting(&[("my-affininity", label)]),
            _ => base
                .only_labels(&[("app", "nginx")])
                .anti_affinity(labels::HOSTNAME)
                .selecting(&[("app", "nginx")]),
        });
    }
    let snapshot = cluster()
        .types(ladder(400))
        .pool(pool("default"))
        .pods(pods)
        .settings(|s| s.guards.enabled = false)
        .snapshot();
    for _ in 0..3 {
        let start = Instant::now();
        let prepared = schedule::prepare(&snapshot);
        let middle = start.elapsed();
        let plan = schedule::finish(&prepared, None);
        eprintln!(
            "prepare {middle:?} all {:?}: placed {} unplaced {} claims {} cost {} list {} bound {} first fit {}",
            start.elapsed(),
            plan.placements.len(),
            plan.unplaced.len(),
            plan.claims.len(),
            plan.cost.planned,
            plan.cost.list,
            plan.cost.bound,
            plan.cost.first_fit
        );
    }
}
