//! Teams with a pool each that share nothing: cost of planning all of them together beside the sum of planning each alone,
//! without and with zonal spread, and the time of the whole against the number of pools.
//!
//! Pods are the same for every number of pools. Usage: `many_pools [PODS] [POOLS]...`.

#![expect(
    clippy::format_push_string,
    reason = "lines of text that people read, a few at a time"
)]
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use plimsoll_benches::cases::zonal_types;
use plimsoll_benches::{Timed, timed};
use plimsoll_model::catalogue::{Catalogue, Catalogues};
use plimsoll_model::plan::{Plan, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{ClusterFixture, cluster};
use plimsoll_oracles::generate::Teams;

/// Numbers of pools where none are given.
const POOLS: [usize; 7] = [2, 5, 10, 20, 50, 100, 200];
const PODS: usize = 2_000;
const SEED: u64 = 1;
/// Runs of a plan of all pools; the quickest counts.
const RUNS: usize = 3;
/// The most that all pools together may cost of the sum of each alone.
const TOGETHER_BAR: f64 = 1.001;
/// The most that pools may cost of their bounds together, where each alone costs no more of its own.
const BOUND_BAR: f64 = 1.02;

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map(|text| {
        text.parse::<usize>()
            .with_context(|| format!("{text:?} is no number"))
    });
    let pods = numbers.next().transpose()?.unwrap_or(PODS);
    let mut pools = numbers.collect::<Result<Vec<usize>>>()?;
    if pools.is_empty() {
        pools = POOLS.to_vec();
    }
    let market = Arc::new(zonal_types()?);
    println!(
        "{:<8}{:>6}{:>8}{:>11}{:>11}{:>9}{:>9}{:>9}{:>10}{:>10}{:>10}",
        "spread",
        "pools",
        "nodes",
        "$/h",
        "alone $/h",
        "ratio",
        "/ bound",
        "of good",
        "seconds",
        "proc. s",
        "alone s"
    );
    for spread in [false, true] {
        for teams in &pools {
            let teams = Teams {
                teams: *teams,
                pods,
                spread,
                seed: SEED,
            };
            println!("{}", line(&market, teams));
        }
    }
    Ok(())
}

fn line(market: &Arc<Catalogue>, teams: Teams) -> String {
    let snapshot = on_sale(market, teams.all(cluster()));
    let mut runs: Vec<Timed> = (0..RUNS).map(|_| timed(&snapshot)).collect();
    runs.sort_by_key(|run| run.wall);
    let together = &runs[0];
    let plan = &together.plan;
    let alone = (0..teams.teams).map(|team| timed(&on_sale(market, teams.one(cluster(), team))));
    let alone: Vec<Timed> = alone.collect();
    let sum: f64 = alone.iter().map(|run| run.plan.cost.list.dollars()).sum();
    let good = good_pools(plan, &alone);
    let list = plan.cost.list.dollars();
    let waiting = plan.unplaced.len();
    let findings = plimsoll_check::check(&snapshot, plan).len();
    let mut remarks = String::new();
    if list > sum * TOGETHER_BAR {
        remarks += "  dearer than alone";
    }
    if good > BOUND_BAR {
        remarks += "  above the bound's bar";
    }
    if waiting > 0 {
        remarks += &format!("  {waiting} unscheduled");
    }
    if findings > 0 {
        remarks += &format!("  checker: {findings} findings");
    }
    format!(
        "{:<8}{:>6}{:>8}{list:>11.4}{sum:>11.4}{:>9.4}{:>9.4}{good:>9.4}{:>10.3}{:>10.3}{:>10.3}{remarks}",
        if teams.spread { "zones" } else { "none" },
        teams.teams,
        plan.claims.len(),
        list / sum,
        list / plan.cost.bound.dollars(),
        together.wall.as_secs_f64(),
        together.processor.as_secs_f64(),
        alone
            .iter()
            .map(|run| run.wall)
            .sum::<Duration>()
            .as_secs_f64(),
    )
}

/// Cost over bound, in the plan of all, of the pools that alone are within the bar of their bounds; 0 where there are none.
fn good_pools(plan: &Plan, alone: &[Timed]) -> f64 {
    let is_good = |run: &&Timed| {
        let cost = &run.plan.cost;
        cost.list.dollars() <= cost.bound.dollars() * BOUND_BAR
    };
    let (mut cost, mut bound) = (0.0, 0.0);
    for run in alone.iter().filter(is_good) {
        let Some(first) = run.plan.claims.first() else {
            continue;
        };
        let own = plan.claims.iter().filter(|claim| claim.pool == first.pool);
        let chosen = own.filter_map(PlannedClaim::chosen);
        cost += chosen
            .map(|option| option.list_price.dollars())
            .sum::<f64>();
        bound += run.plan.cost.bound.dollars();
    }
    if bound > 0.0 { cost / bound } else { 0.0 }
}

fn on_sale(market: &Arc<Catalogue>, cluster: ClusterFixture) -> Snapshot {
    let mut snapshot = cluster.snapshot();
    snapshot.catalogues = Arc::new(Catalogues::new(Arc::clone(market), []));
    snapshot
}
