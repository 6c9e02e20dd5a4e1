//! Score cards made up for the tests and the sample page: a fortnight of days and nights, under three ways to buy.

use std::collections::BTreeMap;

use plimsoll_base::ids::TypeName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_report::{Contestant, Report};
use plimsoll_sim::{Fidelity, Figures, NodeHours, ScoreCard, Series, Unplaced, Waiting};

const POINTS: i64 = 672;
const WIDTH: Span = Span::from_secs(1800);
const NANOS_PER_CENT: i64 = 10_000_000;

/// A type, its terms, its price in cents per hour, and nodes at night and by day.
type Bought = (&'static str, CapacityType, i64, i64, i64);

/// Three contestants over fourteen days.
pub(crate) fn report() -> Report {
    let (demand, spot) = (CapacityType::OnDemand, CapacityType::Spot);
    let list = [
        ("m7g.2xlarge", demand, 33, 11, 26),
        ("c7g.4xlarge", demand, 58, 6, 17),
        ("r7g.2xlarge", demand, 43, 3, 9),
        ("c7g.xlarge", demand, 15, 2, 6),
        ("m7g.large", demand, 8, 1, 4),
        ("g5.xlarge", demand, 101, 1, 3),
    ];
    let diversified = [
        ("m7g.2xlarge", spot, 13, 7, 15),
        ("m6g.2xlarge", spot, 12, 5, 13),
        ("c7g.4xlarge", spot, 24, 4, 10),
        ("c6g.4xlarge", spot, 23, 3, 9),
        ("r6g.2xlarge", spot, 17, 3, 8),
        ("c7g.xlarge", demand, 15, 2, 5),
        ("m6i.xlarge", spot, 8, 1, 3),
        ("c6i.2xlarge", spot, 14, 0, 3),
        ("g5.xlarge", demand, 101, 1, 3),
    ];
    let compatible = [
        ("c7a.8xlarge", demand, 164, 5, 16),
        ("m7a.4xlarge", demand, 93, 4, 12),
        ("r7a.4xlarge", demand, 122, 2, 6),
        ("g5.2xlarge", demand, 121, 1, 3),
    ];
    let cheapest = series(&list, &[]).means.cost;
    let bound: Vec<i64> = cheapest.iter().map(|cost| cost / 110 * 108).collect();
    Report {
        title: "Three ways to buy for a fortnight".to_owned(),
        subtitle: vec![
            "input fortnight.yaml.zst, sha256 8f2c41d09b7e".to_owned(),
            "region us-east-1, seed 7".to_owned(),
            "spot prices are modelled, not observed".to_owned(),
        ],
        contestants: vec![
            contestant("list-price", &list, &bound, (31, 42)),
            contestant("spot-diversified", &diversified, &bound, (33, 46)),
            contestant("compatible", &compatible, &bound, (48, 95)),
        ],
        notes: vec![
            "Prices of instance types that the data lacks are left out: 14 types.".to_owned(),
        ],
    }
}

fn contestant(
    name: &str,
    bought: &[Bought],
    bound: &[i64],
    (wait, tail): (i64, i64),
) -> Contestant {
    let series = series(bought, bound);
    let hours = POINTS / 2;
    let sum = |values: &[i64]| values.iter().sum::<i64>();
    let cost = sum(&series.means.cost) / 2;
    let nodes: Vec<i64> = (0..series.means.cost.len())
        .map(|row| series.means.nodes.values().map(|column| column[row]).sum())
        .collect();
    let spot = bought.iter().any(|line| line.1 == CapacityType::Spot);
    Contestant {
        name: name.to_owned(),
        card: ScoreCard {
            start: Timestamp::from_millis(1_750_000_000_000),
            lasted: Span::from_secs(hours * 3600),
            cost,
            cost_starting: cost / 60,
            cost_idle: cost / 25,
            bound: Some(sum(&series.means.bound) / 2),
            node_hours: node_hours(bought, &series),
            nodes_mean: sum(&nodes) / POINTS,
            nodes_max: nodes.iter().max().map_or(0, |most| small(most / 1000)),
            waiting: waiting(wait, tail),
            unplaced: unplaced(name),
            unplaced_count: unplaced(name).iter().map(|_| 1).sum(),
            pods: 31_204,
            completed: 30_871,
            evictions: if spot { 655 } else { 212 },
            interruptions: if spot { 64 } else { 0 },
            launches: if spot { 1480 } else { 1207 },
            launch_failures: if spot { 12 } else { 0 },
            decisions: 2406,
            cpu_used: sum(&series.means.cpu_used) / POINTS,
            memory_used: sum(&series.means.memory_used) / POINTS,
            pending_pods: Fidelity {
                bound: 31_000,
                as_planned: if name == "compatible" { 17_320 } else { 30_805 },
                sooner: 140,
            },
            nominations_dropped: 31,
            faults: 0,
            series,
            ..ScoreCard::default()
        },
    }
}

/// A day's swing between nothing and a thousand, with weekends half as high and a little unrest.
fn swing(row: i64) -> i64 {
    let hour = usize::try_from(row / 2 % 24).unwrap_or_default();
    let day = row / 48;
    let load = [
        120, 80, 60, 40, 40, 70, 150, 300, 520, 720, 880, 960, 1000, 980, 990, 960, 900, 800, 680,
        560, 450, 350, 260, 180,
    ][hour];
    let unrest = row * 7919 % 61 - 30;
    let load = if day % 7 >= 5 { load / 2 } else { load };
    (load + unrest).clamp(0, 1000)
}

fn series(bought: &[Bought], bound: &[i64]) -> Series {
    let rows = || (0..POINTS).map(swing);
    let mut nodes: BTreeMap<TypeName, Vec<i64>> = BTreeMap::new();
    let mut cost: Vec<i64> = rows().map(|_| 0).collect();
    for (name, _, cents, night, day) in bought {
        let column: Vec<i64> = rows()
            .map(|load| night * 1000 + (day - night) * load / 250 * 250)
            .collect();
        for (sum, count) in cost.iter_mut().zip(&column) {
            *sum += count * cents * NANOS_PER_CENT / 1000;
        }
        nodes.insert(TypeName::from(*name), column);
    }
    let dear = [4, 9].map(|types| i64::from(bought.len() == types));
    let idle = 240 * dear[0] + 35 * dear[1];
    Series {
        start: Timestamp::from_millis(1_750_000_000_000),
        width: WIDTH,
        means: Figures {
            cost,
            bound: bound.to_vec(),
            pending: rows().map(|load| load * 9).collect(),
            cpu_used: rows().map(|load| 870 - idle + load / 12).collect(),
            memory_used: rows().map(|load| 720 - idle + load / 8).collect(),
            nodes,
        },
    }
}

fn node_hours(bought: &[Bought], series: &Series) -> Vec<NodeHours> {
    let hours = bought.iter().map(|(name, terms, cents, ..)| {
        let thousandths: i64 = series.means.nodes[*name].iter().sum::<i64>() / 2;
        NodeHours {
            instance_type: TypeName::from(*name),
            capacity_type: *terms,
            thousandths,
            cost: thousandths * cents * NANOS_PER_CENT / 1000,
        }
    });
    hours.collect()
}

fn waiting(wait: i64, tail: i64) -> Waiting {
    let hundredths: Vec<Span> = (0..=100_i64)
        .map(|at| {
            let late = (at - 90).max(0);
            Span::from_millis(wait * 600 + at * wait * 8 + late * late * tail * 9)
        })
        .collect();
    Waiting {
        p50: hundredths[50],
        p90: hundredths[90],
        p99: hundredths[99],
        max: hundredths[100],
        hundredths,
    }
}

fn unplaced(name: &str) -> Vec<Unplaced> {
    let pods = if name == "compatible" { 9 } else { 1 };
    let pods = (0..pods).map(|at| Unplaced {
        pod: format!("batch/train-{at}"),
        reason: if at == 0 {
            "no pool may buy what it needs: asks 412 GiB, most is 384 GiB (r7g.12xlarge)".to_owned()
        } else {
            "limit of pool gpu reached: 16 of 16 nvidia.com/gpu".to_owned()
        },
    });
    pods.collect()
}

fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
