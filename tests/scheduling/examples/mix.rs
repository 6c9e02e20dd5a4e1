//! Plans the incumbent's benchmark mix, several times, and prints what it cost, how long it took, and what the checker says.
//!
//! The clock runs from the snapshot in memory to the plan, grouping included. Usage: `mix [PODS] [RUNS]`.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::time::Instant;

use plimsoll_core::{check, schedule};
use plimsoll_oracles::generate::benchmark_mix;

fn main() {
    let number = |at: usize, default: usize| {
        std::env::args()
            .nth(at)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (pods, runs) = (number(1, 10_000), number(2, 3));
    let snapshot = benchmark_mix(pods, 400, 1);
    for _ in 0..runs {
        let began = Instant::now();
        let prepared = schedule::prepare(&snapshot);
        let compiled = began.elapsed();
        let plan = schedule::finish(&prepared, None);
        let took = began.elapsed();
        let findings = check::check(&snapshot, &plan);
        println!(
            "{pods} pods: {} placed on {} nodes for {} (bound {}, first fit {}) in {took:.1?}, {compiled:.1?} of it to compile; checker: {}",
            plan.placements.len(),
            plan.claims.len(),
            plan.cost.list,
            plan.cost.bound,
            plan.cost.first_fit,
            findings.first().map_or_else(
                || "nothing found".to_owned(),
                |first| format!("{} findings, first: {first}", findings.len())
            ),
        );
    }
}
