//! Questions of the sizes that bars are about: what fuel baselines are measured on, and what laws of the smaller hooks are tried on.
//!
//! Made by rule, without randomness, so that fuel on them is the same number everywhere. They are part of what a baseline means:
//! a change here moves every baseline.

use std::sync::Arc;

use plimsoll_hooks::allow::{AllowQuestion, AllowQuestionBuilder, BudgetRow};
use plimsoll_hooks::hook::{Capacity, Context};
use plimsoll_hooks::rank::{
    Architecture, ClaimRow, Claims, InstanceTypeRow, OfferingRow, OrderQuestion, PoolRow as Buyer,
    Pools, PriceQuestion, Tables, TablesBuilder,
};
use plimsoll_hooks::score::{
    MoveKind, MoveRow, NodeRow, Replacement, ScoreQuestion, ScoreQuestionBuilder,
};
use plimsoll_model::DisruptionReason;

/// 2026-11-21 22:30 in UTC, a Saturday.
const NOW: u64 = 1_795_300_200;
/// Types of the market that claims are planned on.
const TYPES: u32 = 800;
/// Labels of a type.
const LABELS: usize = 16;
const ZONES: [&str; 3] = ["a", "b", "c"];

fn context() -> Context {
    Context {
        now_unix_s: NOW,
        seed: 7,
        generation: 0,
    }
}

/// Pools that may each buy every offering of so many types in so many zones: the bar is about 3, 800 and 3, which is 7,200 rows.
pub fn prices(pools: u32, types: u32, zones: u32) -> PriceQuestion {
    let mut builder = TablesBuilder::default();
    let rows = offerings(&mut builder, types, zones);
    let mut asked = Pools::default();
    for pool in 0..pools {
        let row = Buyer {
            name: builder.symbol(&format!("pool-{pool}")),
            weight: 0,
            nodes: 0,
            cost: 0.0,
        };
        asked.push(row, &rows);
    }
    PriceQuestion {
        context: context(),
        tables: Arc::new(builder.finish()),
        pools: asked,
    }
}

/// Claims, each with as many of the market's offerings that can hold it, all different: the bar is about 1,000 and 60.
pub fn claims(count: u32, held_by: u32) -> OrderQuestion {
    let mut builder = TablesBuilder::default();
    let offerings = offerings(&mut builder, TYPES, 3);
    let general = builder.symbol("general");
    let of_market = TYPES * 3;
    let mut claims = Claims::default();
    for claim in 0..count {
        let mut rows: Vec<u32> = (0..held_by.min(of_market))
            .map(|place| offerings[((claim + place * 37) % of_market) as usize])
            .collect();
        rows.sort_unstable();
        let row = ClaimRow {
            pool: general,
            cpu_milli: 300 + 100 * (claim % 13),
            mem_mib: 1_024 + 512 * (claim % 11),
            pods: 1 + claim % 9,
            gpus: 0,
        };
        claims.push(row, &rows);
    }
    let tables: Tables = builder.finish();
    OrderQuestion {
        context: context(),
        tables: Arc::new(tables),
        claims,
    }
}

/// Every type in every zone; spot in every third one.
fn offerings(builder: &mut TablesBuilder, types: u32, zones: u32) -> Vec<u32> {
    let labels: Vec<(String, String)> = (0..LABELS)
        .map(|row| (format!("example.com/label-{row}"), format!("v{row}")))
        .collect();
    let labels: Vec<(&str, &str)> = labels
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    let mut rows = Vec::new();
    for number in 0..types {
        let family = format!("f{}", number % 90);
        let size = 1 << (number % 5);
        let instance_type = builder.instance_type(&InstanceTypeRow {
            name: &format!("{family}.{number}"),
            family: &family,
            architecture: Architecture::Amd64,
            cpu_milli: 2_000 * size,
            memory_mib: 4_096 * size * (1 + number % 3),
            pods: 29,
            gpus: 0,
            gpu_kind: "",
            labels: &labels,
        });
        for (zone, name) in (0..zones).zip(ZONES.into_iter().cycle()) {
            let number = number * zones + zone;
            let added = builder.offering(&OfferingRow {
                instance_type,
                zone: name,
                capacity: if zone % 3 == 2 {
                    Capacity::Spot
                } else {
                    Capacity::OnDemand
                },
                price: 0.01 + f64::from(number) * 0.001,
                price_age_s: 60,
                interruptions_per_day: f32::from(u8::try_from(number % 5).unwrap_or(0)) * 0.5,
                failures_1h: number % 3,
                reserved_left: 0,
                running: number % 4,
            });
            rows.extend(added);
        }
    }
    rows
}

/// Moves of one to three nodes each, of all kinds in turn: the bar is about 5,000 and 2,000.
pub fn moves(nodes: u32, moves: u32) -> ScoreQuestion {
    let mut builder = ScoreQuestionBuilder::new(context());
    for number in 0..nodes {
        let name = format!("node-{number:05}");
        let added = builder.node(&node(number, &name));
        added.expect("numbers made by rule are within limits");
    }
    for number in 0..moves {
        let kind = [MoveKind::Delete, MoveKind::Replace, MoveKind::Empty][number as usize % 3];
        let members: Vec<u32> = (0..=number % 3)
            .map(|place| (number * 7 + place * 31) % nodes)
            .collect();
        let bought = [Replacement {
            type_name: "m7g.large",
            zone: "b",
            capacity: Capacity::Spot,
            price: 0.05 + f64::from(number % 50) * 0.01,
        }];
        let added = builder.propose(&MoveRow {
            kind,
            members: &members,
            replacements: if kind == MoveKind::Replace {
                &bought
            } else {
                &[]
            },
            pods_moved: 3 * (number % 3),
        });
        added.expect("numbers made by rule are within limits");
    }
    builder.finish()
}

fn node(number: u32, name: &str) -> NodeRow<'_> {
    let tenth = |count: u32| f32::from(u8::try_from(count % 10).unwrap_or_default()) / 10.0;
    NodeRow {
        name,
        pool: ["general", "batch", "gpu"][number as usize % 3],
        type_name: "m6i.large",
        zone: ZONES[number as usize % 3],
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

/// Pools of 20 nodes, each asked about for every reason, with a tenth declared: the bar is about 20.
pub fn pools(count: u32) -> AllowQuestion {
    let mut builder = AllowQuestionBuilder::new(context());
    for number in 0..count {
        let name = format!("pool-{number:03}");
        for reason in DisruptionReason::ALL {
            builder.pool(&BudgetRow {
                name: &name,
                reason,
                nodes: 20,
                not_ready: number % 4,
                disrupting: number % 2,
                ceiling: 2,
                pending_pods: 7 * (number % 5),
                recent_evictions: number % 5,
                recent_failures: number % 4,
            });
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_the_rows_that_bars_are_about() {
        assert_eq!(prices(3, 800, 3).pools.cand.len(), 7_200);
        assert_eq!(claims(1_000, 60).claims.cand.len(), 60_000);
        let question = moves(5_000, 2_000);
        assert_eq!(
            (question.nodes.name.len(), question.moves.len()),
            (5_000, 2_000)
        );
        assert_eq!(pools(20).pools.len(), 60);
    }
}
