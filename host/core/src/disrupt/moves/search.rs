//! Looks for moves: cheap looks at loads and prices say which nodes to ask the scheduler about, and in which order.
//!
//! Nodes whose pods are worth least for their price come first. They go without replacement where they can; then several for
//! one, as whole nodes fill a new one; then one by one; then neighbours in that order, packed again together; at last several
//! without replacement. Nodes too young to be replaced are tried only without.

use std::collections::BTreeSet;

use super::{Move, MoveSimulation, bundle, together};
use crate::schedule::simulation::{NodeLoads, To};

/// Nodes that are packed again together; a pool of up to [`WHOLE`] as a whole too.
const NEIGHBOURS: usize = 8;
const WHOLE: usize = 64;

/// Failures of the packer in a row before a search does without it.
const MOST_FAILED_SEARCHES: usize = 4;

/// Pods worth this share of their node's price, in permille, have nothing to gain from a new node; the worth is a bound.
const WELL_USED: i64 = 985;

/// A node that may go.
#[derive(Clone, Copy)]
struct Ranked {
    /// Worth of its pods as a share of its price, in permille.
    worth: i64,
    row: usize,
}

/// All moves that stand by themselves, best saving for its disruption first.
pub(super) fn find(simulation: &mut MoveSimulation<'_, '_>) -> Vec<Move> {
    let worth = simulation.worth();
    let loads = simulation.loads(&worth);
    let order = wasteful_first(simulation, &loads);
    let mut moves: Vec<Move> = Vec::new();
    let mut failed_searches = 0;
    let mut alone = Vec::new();
    for node in &order {
        let found = simulation.attempt(&[node.row], To::Staying);
        if found.is_some() {
            alone.push(node.row);
        }
        let may_be_replaced = simulation.may_be_replaced(node.row);
        let replace = || node.worth < WELL_USED && may_be_replaced;
        let found =
            found.or_else(|| replace().then(|| simulation.attempt(&[node.row], To::Both))?);
        let found = found.or_else(|| {
            let asks = replace()
                && failed_searches < MOST_FAILED_SEARCHES
                && simulation.may_split(node.row);
            let found = asks.then(|| simulation.attempt(&[node.row], To::Packed))?;
            failed_searches = if found.is_some() {
                0
            } else {
                failed_searches + 1
            };
            found
        });
        moves.extend(found);
    }
    let replaced = |node: &Ranked| simulation.may_be_replaced(node.row);
    let order: Vec<Ranked> = order.into_iter().filter(replaced).collect();
    let mut used: BTreeSet<usize> = BTreeSet::new();
    for (at, seed) in order.iter().enumerate() {
        if used.contains(&seed.row) || seed.worth >= WELL_USED {
            continue;
        }
        let later = order[at + 1..].iter().map(|node| node.row);
        let later = later.filter(|row| !used.contains(row));
        if let Some(members) = bundle::around(simulation, &worth.kinds, &loads, seed.row, later) {
            moves.extend(simulation.attempt(&members, To::New));
            used.extend(members);
        }
    }
    failed_searches = 0;
    for together in neighbourhoods(&order) {
        let found = simulation.attempt(&together, To::Packed);
        failed_searches = if found.is_some() {
            0
        } else {
            failed_searches + 1
        };
        moves.extend(found);
        if failed_searches == MOST_FAILED_SEARCHES {
            break;
        }
    }
    moves.extend(together::deletions(simulation, &alone));
    simulation.rest();
    moves.sort_by(|left, right| rank(right).total_cmp(&rank(left)));
    moves
}

/// Saving for its disruption, more being better.
fn rank(found: &Move) -> f64 {
    found.saving.dollars() / found.disruption.pods()
}

/// Nodes that may go, least worth for their price first; those without a price last.
fn wasteful_first(simulation: &MoveSimulation<'_, '_>, loads: &NodeLoads) -> Vec<Ranked> {
    let rank = |row: usize| {
        let price = simulation.price(row).nanos();
        let worth = simulation.load(loads, row).map_or(0, |load| load.worth);
        let worth = worth.saturating_mul(1000).checked_div(price);
        Ranked {
            worth: worth.unwrap_or(i64::MAX),
            row,
        }
    };
    let mut order: Vec<Ranked> = simulation.rows().into_iter().map(rank).collect();
    order.sort_unstable_by_key(|node| (node.worth, node.row));
    order
}

fn rows(nodes: &[Ranked]) -> Vec<usize> {
    nodes.iter().map(|node| node.row).collect()
}

/// Nodes to be packed again together: all of them where they are few, then the most wasteful and their neighbours.
fn neighbourhoods(order: &[Ranked]) -> Vec<Vec<usize>> {
    let poor: Vec<Ranked> = order
        .iter()
        .copied()
        .filter(|node| node.worth < WELL_USED)
        .collect();
    let whole = (NEIGHBOURS + 1..=WHOLE)
        .contains(&poor.len())
        .then(|| rows(&poor));
    let parts = poor
        .chunks(NEIGHBOURS)
        .filter(|part| part.len() > 1)
        .map(rows);
    whole.into_iter().chain(parts).collect()
}
