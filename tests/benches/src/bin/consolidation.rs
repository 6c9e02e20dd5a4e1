//! Consolidation of fleets that have gone to waste: cost against the bound, evictions and moves, beside
//! Karpenter's rules on the same fleets; then how long a full pass takes as fleets grow, and how long one pass of the
//! controller: without a ranking policy, with one that answers list prices, and with one that finds every second family dear;
//! last, one pass over a fleet of which some nodes have drifted and cannot go, beside as many plans on copies of the cluster.
//!
//! Fleets are bought by price in waves and scaled down at random; types c, m and r of up to 16 cores, on demand; guards off.
//! Nothing that a move saves is too little. Usage: `consolidation [FLEETS] [MOST_NODES]`.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use plimsoll_benches::cases::general_types;
use plimsoll_benches::karpenter;
use plimsoll_benches::{argument, processor_time};
use plimsoll_disrupt::consider;
use plimsoll_disrupt::moves::MoveSettings;
use plimsoll_disrupt::pass::DisruptionPass;
use plimsoll_hooks::rank::{check_prices, list_price};
use plimsoll_model::command::{Decision, DisruptionQuestion};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::template_hash;
use plimsoll_oracles::fixture::{below, cluster, is_in, pool};
use plimsoll_oracles::generate::{Waste, fragmented};
use plimsoll_oracles::moves::{fleet_cost, pass, vacated};
use plimsoll_schedule::{Session, bound_from_nothing, finish};

/// Nodes of the fleets whose pass is timed.
const GROWTH: [usize; 4] = [500, 1_000, 2_000, 5_000];
/// Nodes of the fleet of which some have drifted.
const DRIFT_NODES: usize = 2_000;
/// Plans on copies of the cluster that are timed.
const COPIES: usize = 20;
/// Pods that stay on a node, about.
const PODS_PER_NODE: usize = 10;

fn main() -> anyhow::Result<()> {
    let fleets = argument(1, 10);
    let most = argument(2, 5_000);
    let market = market()?;
    println!(
        "fleet  nodes  cost/bound |  nodes  cost/bound  moves  evictions  s | karpenter: nodes  cost/bound  commands  evictions"
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
    println!(
        "nodes  pods  drifted  pass: processor s  us a drifted node | plan on a copy: us | one to the other"
    );
    drift_pass(&market, DRIFT_NODES.min(most));
    Ok(())
}

/// One pass over a fleet in which one node in ten has drifted and holds a pod that has no other place, so that each is asked
/// about; and what it costs to plan without one node on a copy of the cluster.
fn drift_pass(market: &Snapshot, nodes: usize) {
    let mut calm = fragmented(market, waste(nodes, 99));
    for pool in &mut calm.pools {
        Arc::make_mut(pool).disruption.consolidate_after = None;
    }
    let (fleet, rows) = stuck(&calm);
    let question = DisruptionQuestion::Pass { consolidate: false };
    let (_, idle) = timed(|| consider(&calm, &question));
    let (decision, seconds) = timed(|| consider(&fleet, &question));
    assert!(decision.commands.is_empty(), "no drifted node can go");
    let session = Session::default();
    let ((), copied) = timed(|| {
        for row in rows.iter().take(COPIES) {
            finish(&session.prepare(&vacated(&fleet, &[*row])), None);
        }
    });
    let each = (seconds - idle) / rows.len() as f64 * 1e6;
    let copy = copied / COPIES as f64 * 1e6;
    println!(
        "{:5}  {:5}  {:4}  {seconds:.2}  {each:.0} | {copy:.0} | {:.3}",
        fleet.nodes.len(),
        fleet.pods.len(),
        rows.len(),
        each / copy,
    );
}

/// The fleet with every tenth node drifted, and on each of those a pod that could run nowhere else; the rows of those nodes.
fn stuck(calm: &Snapshot) -> (Snapshot, Vec<usize>) {
    let mut fleet = calm.clone();
    let rows: Vec<usize> = (0..fleet.nodes.len()).step_by(10).collect();
    let bound = fleet.pods_by_node();
    for row in &rows {
        if let Some(claim) = &mut fleet.nodes[*row].claim {
            let written = [
                (template_hash::HASH_ANNOTATION, "0"),
                (
                    template_hash::HASH_VERSION_ANNOTATION,
                    template_hash::HASH_VERSION,
                ),
            ];
            let written = written.map(|(key, value)| (key.into(), value.into()));
            Arc::make_mut(claim).annotations.extend(written);
        }
        for pod in bound[*row].iter().take(1) {
            let pod = Arc::make_mut(&mut fleet.pods[*pod]);
            let spec = Arc::make_mut(&mut pod.spec);
            spec.node_selector.add(is_in("example.com/rack", &["gone"]));
        }
    }
    (fleet, rows)
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

/// Types, and one pool that buys instances of up to 16 cores.
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
    let theirs = karpenter::consolidated(&fleet);
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
