//! Consolidation of fleets that have gone to waste: cost against the bound, evictions and moves, beside the
//! incumbent's rules on the same fleets; then how long a full pass takes as fleets grow, and how long one pass of the
//! controller: without a ranking policy, with one that answers list prices, and with one that finds every second family dear.
//!
//! Fleets are bought by price in waves and scaled down at random; types c, m and r of up to 16 cores, on demand; guards off.
//! Nothing that a move saves is too little. Usage: `consolidation [FLEETS] [MOST_NODES]`.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::sync::Arc;

use plimsoll_benches::cases::general_types;
use plimsoll_benches::incumbent;
use plimsoll_benches::{argument, processor_time};
use plimsoll_core::command::{Decision, DisruptionQuestion};
use plimsoll_core::disrupt::consider;
use plimsoll_core::disrupt::moves::MoveSettings;
use plimsoll_core::disrupt::pass::DisruptionPass;
use plimsoll_core::rank::{check_prices, list_price};
use plimsoll_core::schedule::bound_from_nothing;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::units::PricePerHour;
use plimsoll_oracles::fixture::{below, cluster, pool};
use plimsoll_oracles::generate::{Waste, fragmented};
use plimsoll_oracles::moves::{fleet_cost, pass};

/// Nodes of the fleets whose pass is timed.
const GROWTH: [usize; 4] = [500, 1_000, 2_000, 5_000];
/// Pods that stay on a node, about.
const PODS_PER_NODE: usize = 10;

fn main() -> anyhow::Result<()> {
    let fleets = argument(1, 10);
    let most = argument(2, 5_000);
    let market = market()?;
    println!(
        "fleet  nodes  cost/bound |  nodes  cost/bound  moves  evictions  s | incumbent: nodes  cost/bound  commands  evictions"
    );
    for seed in 0..fleets {
        compare(&market, seed as u64);
    }
    println!(
        "nodes  pods  rounds  moves  evictions  cost/bound  processor s  n log n from the first | one pass: commands  processor s  at list prices answered  at others"
    );
    let mut first: Option<(usize, f64)> = None;
    for nodes in GROWTH.into_iter().filter(|nodes| *nodes <= most) {
        let fleet = fragmented(&market, waste(nodes, 99));
        let (passed, seconds) = timed(|| pass(&fleet, all, &eager()));
        let question = DisruptionQuestion::Pass { consolidate: true };
        let (decision, looking) = timed(|| consider(&fleet, &question));
        let (_, listed) = timed(|| priced(&fleet, &question, |_| 1.0));
        let (_, others) = timed(|| priced(&fleet, &question, taste));
        let (count, pods) = (fleet.nodes.len(), fleet.pods.len());
        let (base, known) = *first.get_or_insert((count, seconds));
        let expected = known * n_log_n(count) / n_log_n(base);
        println!(
            "{count:5}  {pods:5}  {:2}  {:5}  {:6}  {:.3}  {seconds:.2}  {expected:.2} | {:3}  {looking:.2}  {listed:.2}  {others:.2}",
            passed.rounds.len(),
            passed.moves.len(),
            passed.evictions(),
            ratio(fleet_cost(&passed.after), bound_from_nothing(&fleet)),
            decision.commands.len(),
        );
    }
    Ok(())
}

/// A look at list prices times what a ranking policy makes of each type.
fn priced(
    fleet: &Snapshot,
    question: &DisruptionQuestion,
    factor: impl Fn(&str) -> f64,
) -> Decision {
    let mut pass = DisruptionPass::at(fleet, true);
    if let Some(asked) = pass.price_question(question) {
        let mut answer = list_price(&asked);
        let columns = answer.first.iter_mut().zip(&mut answer.then);
        for ((first, then), row) in columns.zip(&asked.pools.cand) {
            *then *= factor(asked.tables.type_name(*row));
            *first = *then;
        }
        pass.price(check_prices(&asked, &answer).expect("the answer is well formed"));
    }
    pass.propose().decide(None)
}

/// Families of odd names are dear.
fn taste(name: &str) -> f64 {
    let family = name.split('.').next().unwrap_or_default();
    let odd = family.bytes().map(u32::from).sum::<u32>() % 2 == 1;
    if odd { 1.3 } else { 1.0 }
}

fn n_log_n(count: usize) -> f64 {
    count as f64 * (count as f64).ln()
}

/// Types, and one pool that buys machines of up to 16 cores.
fn market() -> anyhow::Result<Snapshot> {
    let small = below("karpenter.k8s.aws/instance-cpu", 17);
    let mut market = cluster().pool(pool("general").needs(small)).snapshot();
    market.catalogues = Arc::new(general_types()?.into());
    Arc::make_mut(&mut market.settings).guards.enabled = false;
    Ok(market)
}

/// A fleet of about so many nodes.
fn waste(nodes: usize, seed: u64) -> Waste {
    Waste {
        pods: nodes * PODS_PER_NODE * 2,
        stay_percent: (20, 75),
        seed,
    }
}

fn eager() -> MoveSettings {
    MoveSettings {
        least_saving: PricePerHour::ZERO,
        least_saving_percent: 0,
        ..MoveSettings::default()
    }
}

fn all(snapshot: &Snapshot) -> Vec<usize> {
    (0..snapshot.nodes.len()).collect()
}

/// The result, and the processor seconds of the quickest of three runs.
fn timed<T>(work: impl Fn() -> T) -> (T, f64) {
    let run = || {
        let before = processor_time();
        let made = work();
        let seconds = processor_time().saturating_sub(before).as_secs_f64();
        (made, seconds)
    };
    let (made, first) = run();
    let least = (1..3).map(|_| run().1).fold(first, f64::min);
    (made, least)
}

fn compare(market: &Snapshot, seed: u64) {
    let fleet = fragmented(market, waste(250, seed));
    let bound = bound_from_nothing(&fleet);
    let (ours, seconds) = timed(|| pass(&fleet, all, &eager()));
    let theirs = incumbent::consolidated(&fleet);
    println!(
        "{seed:5}  {:5}  {:.3}      |  {:5}  {:.3}  {:5}  {:6}  {seconds:.2} |  {:5}  {:.3}  {:5}  {:6}",
        fleet.nodes.len(),
        ratio(fleet_cost(&fleet), bound),
        ours.after.nodes.len(),
        ratio(fleet_cost(&ours.after), bound),
        ours.moves.len(),
        ours.evictions(),
        theirs.after.nodes.len(),
        ratio(fleet_cost(&theirs.after), bound),
        theirs.moves.len(),
        theirs.evictions(),
    );
}

fn ratio(cost: PricePerHour, bound: PricePerHour) -> f64 {
    cost.dollars() / bound.dollars()
}
