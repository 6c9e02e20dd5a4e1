//! Plans Karpenter's benchmark mix, several times: what does it cost, how long does it take, what does the checker say?
//!
//! The clock runs from the snapshot in memory to the plan, grouping included. Usage: `mix [PODS] [RUNS]`.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use plimsoll_benches::{argument, timed};
use plimsoll_oracles::generate::benchmark_mix;

fn main() {
    let (pods, runs) = (argument(1, 10_000), argument(2, 3));
    let snapshot = benchmark_mix(pods, 400, 1);
    for _ in 0..runs {
        let decided = timed(&snapshot);
        let plan = decided.plan;
        let findings = plimsoll_check::check(&snapshot, &plan);
        println!(
            "{pods} pods: {} placed on {} nodes for {} (bound {}, first fit {}) in {:.1?}, {:.1?} of processors; checker: {}",
            plan.placements.len(),
            plan.claims.len(),
            plan.cost.list,
            plan.cost.bound,
            plan.cost.first_fit,
            decided.wall,
            decided.processor,
            findings.first().map_or_else(
                || "nothing found".to_owned(),
                |first| format!("{} findings, first: {first}", findings.len())
            ),
        );
    }
}
