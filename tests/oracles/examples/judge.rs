//! Lets the checker judge plans of random clusters: `judge [clusters] [first seed]`. Prints each cluster whose plan is wrong,
//! and each tiny one whose plan leaves more pods waiting, or costs more, than must be. Guards are off.

use std::collections::BTreeMap;
use std::process::ExitCode;

use plimsoll_check::{Rule, check};
use plimsoll_oracles::exhaustive::exhaustive;
use plimsoll_oracles::generate::{Features, Kind, Shape, random_cluster};

fn argument(at: usize, otherwise: u64) -> u64 {
    let text = std::env::args().nth(at);
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Shapes from tiny to middling, with every set of features in turn.
fn shape(seed: u64) -> Shape {
    let tiny = Shape::tiny(seed);
    let bits = u16::try_from(seed.wrapping_mul(2_654_435_761) >> 7 & 1023).unwrap_or(0);
    let sized = match seed % 3 {
        0 => tiny,
        1 => Shape {
            pods: 12,
            nodes: 4,
            types: 6,
            zones: 3,
            ..tiny
        },
        _ => Shape {
            pods: 60,
            nodes: 8,
            pools: 3,
            types: 12,
            zones: 3,
            ..tiny
        },
    };
    Shape {
        features: Features::from_bits(bits),
        ..sized
    }
}

fn main() -> ExitCode {
    let (clusters, first) = (argument(1, 300), argument(2, 0));
    let mut wrong: BTreeMap<Rule, u32> = BTreeMap::new();
    let (mut bad, mut short, mut dear) = (0_u32, 0_u32, 0_u32);
    let (mut compared, mut ours, mut least) = (0_u32, 0.0, 0.0);
    for seed in first..first + clusters {
        let shape = shape(seed);
        let cluster = random_cluster(&shape).settings(|settings| settings.guards.enabled = false);
        let snapshot = cluster.snapshot();
        let plan = plimsoll_schedule::finish(&plimsoll_schedule::prepare(&snapshot), None);
        let findings = check(&snapshot, &plan);
        if let Some(finding) = findings.first() {
            bad += 1;
            eprintln!("seed {seed}: {} findings; {finding}", findings.len());
        }
        for finding in findings {
            *wrong.entry(finding.rule).or_default() += 1;
        }
        if let Some(best) = exhaustive(&snapshot).filter(|_| shape.pods <= 5) {
            let waiting = plan.unplaced.len();
            // The oracle gives every preference up; a planner that keeps them pays for it.
            let comparable = !shape.features.has(Kind::Preferences);
            if comparable && waiting == best.unplaced {
                compared += 1;
                ours += plan.cost.list.dollars();
                least += best.cost.dollars();
            }
            if waiting > best.unplaced {
                short += 1;
                eprintln!("seed {seed}: {waiting} wait where {} must", best.unplaced);
            } else if comparable && waiting == best.unplaced && plan.cost.list > best.cost {
                dear += 1;
                let cost = plan.cost.list;
                eprintln!("seed {seed}: {cost} where {} would do", best.cost);
            }
        }
    }
    eprintln!(
        "{clusters} clusters: {bad} bad plans, {short} short, {dear} dear; by rule {wrong:?}"
    );
    eprintln!("{compared} compared in cost: ours {ours:.2}, least {least:.2} dollars per hour");
    if bad + short == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
