//! Nodes and moves to ask about, and pools: as many as wanted, with numbers that differ.

use plimsoll_core::allow::{AllowQuestion, AllowQuestionBuilder, PoolRow};
use plimsoll_core::hook::{Capacity, Context};
use plimsoll_core::model::DisruptionReason::{Drifted, Empty, Underutilized};
use plimsoll_core::score::{
    MoveKind, MoveRow, NodeRow, Replacement, ScoreQuestion, ScoreQuestionBuilder,
};

/// 2026-11-21 22:30 in UTC, a Saturday.
const NOW: u64 = 1_795_300_200;

fn context() -> Context {
    Context {
        generation: 1,
        now_unix_s: NOW,
        seed: 7,
    }
}

/// Moves of one to three nodes each, of all kinds in turn.
pub(crate) fn question(nodes: u32, moves: u32) -> ScoreQuestion {
    let mut builder = ScoreQuestionBuilder::new(context());
    for number in 0..nodes {
        builder
            .node(&node(number, &format!("node-{number:05}")))
            .expect("a fleet for tests has numbers that can be");
    }
    for number in 0..moves {
        let kind = [MoveKind::Delete, MoveKind::Replace, MoveKind::Empty][number as usize % 3];
        let members: Vec<u32> = (0..=number % 3)
            .map(|place| (number * 7 + place * 31) % nodes)
            .collect();
        let price = 0.05 + f64::from(number % 50) * 0.01;
        let bought = Replacement {
            type_name: "m7g.large",
            zone: "b",
            capacity: Capacity::Spot,
            price,
        };
        let row = MoveRow {
            kind,
            members: &members,
            replacements: if kind == MoveKind::Replace {
                &[bought]
            } else {
                &[]
            },
            pods_moved: 3 * (number % 3),
        };
        builder
            .propose(&row)
            .expect("a fleet for tests has numbers that can be");
    }
    builder.finish()
}

fn node(number: u32, name: &str) -> NodeRow<'_> {
    let tenth = |count: u32| f32::from(u8::try_from(count % 10).unwrap_or_default()) / 10.0;
    NodeRow {
        name,
        pool: ["general", "batch", "gpu"][number as usize % 3],
        type_name: "m6i.large",
        zone: ["a", "b", "c"][number as usize % 3],
        capacity: Capacity::OnDemand,
        price: 0.1 + f64::from(number % 40) * 0.01,
        age_s: 3_600 + number,
        since_move_s: number * 97 % 1_800,
        cpu_used: tenth(number),
        mem_used: tenth(number / 2),
        pods: 5 + number % 7,
        pods_daemon: 2,
        pods_no_evict: 0,
        pods_last_replica: number % 2,
        youngest_pod_s: number % 3_600,
        evictions_day: number % 6,
        eviction_cost: f64::from(3 + number % 7),
    }
}

/// Pools of 20 nodes, each asked about for every reason, with a tenth declared.
pub(crate) fn pools(count: u32) -> AllowQuestion {
    let mut builder = AllowQuestionBuilder::new(context());
    for number in 0..count {
        let name = format!("pool-{number:03}");
        for reason in [Empty, Underutilized, Drifted] {
            builder.pool(&PoolRow {
                name: &name,
                reason,
                nodes: 20,
                not_ready: number % 2,
                disrupting: 0,
                ceiling: 2,
                pending_pods: 0,
                recent_evictions: number % 5,
                recent_failures: 0,
            });
        }
    }
    builder.finish()
}
