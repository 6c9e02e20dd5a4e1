//! Looks for moves: cheap looks at loads and prices say which nodes to ask the scheduler about, and in which order.
//!
//! Nodes whose pods are worth least for their price come first. They go without replacement where they can; then several for
//! one, as whole nodes fill a new one; then one by one; then neighbours in that order, packed again together; at last several
//! without replacement. Nodes too young to be replaced are tried only without.
//!
//! Nodes whose pods nothing for sale could hold together, as those of pools that exclude one another, are looked at part by part.

use std::collections::BTreeSet;

use plimsoll_base::bits::Bits;
use plimsoll_schedule::prices::priced::NewKind;
use plimsoll_schedule::simulation::{NodeLoads, To};

use super::{BudgetRoom, Move, MoveSimulation, bundle, together};

/// Nodes that are packed again together; a pool of up to [`WHOLE`] as a whole too.
const NEIGHBOURS: usize = 8;
const WHOLE: usize = 64;

/// Failures of the packer in a row before a search does without it.
const MOST_FAILED_SEARCHES: usize = 4;

/// Pods worth this share of their node's price, in permille, have nothing to gain from a new node; the worth is a bound.
const WELL_USED: i64 = 985;

/// A node that may be removed.
#[derive(Clone, Copy)]
struct Ranked {
    /// Worth of its pods as a share of its price, in permille.
    worth: i64,
    row: usize,
}

impl Ranked {
    /// Sort key, the most wasteful being first.
    fn key(&self) -> (i64, usize) {
        (self.worth, self.row)
    }
}

/// All moves that stand by themselves, best saving for its disruption first.
pub(super) fn find(simulation: &mut MoveSimulation<'_, '_>) -> Vec<Move> {
    let worth = simulation.worth();
    let loads = simulation.loads(&worth);
    let order = wasteful_first(simulation, &loads);
    let parts = parts(simulation, &loads, &order);
    let mut search = MoveSearch {
        simulation,
        kinds: &worth.kinds,
        loads: &loads,
        moves: Vec::new(),
        alone: BTreeSet::new(),
    };
    for part in &parts {
        search.one_by_one(part);
    }
    let replaced = |part: &CandidatePart| {
        let nodes = part.nodes.iter().copied();
        let nodes = nodes.filter(|node| search.simulation.may_be_replaced(node.row));
        CandidatePart {
            nodes: nodes.collect(),
            rows: part.rows.clone(),
        }
    };
    let parts: Vec<CandidatePart> = parts.iter().map(replaced).collect();
    for part in &parts {
        search.several_for_one(part);
    }
    for part in &parts {
        search.neighbours(part);
    }
    let MoveSearch {
        mut moves, alone, ..
    } = search;
    let alone = order
        .iter()
        .map(|node| node.row)
        .filter(|row| alone.contains(row));
    let alone: Vec<usize> = alone.collect();
    moves.extend(together::deletions(simulation, &alone));
    simulation.rest();
    moves.sort_by(|left, right| rank(right).total_cmp(&rank(left)));
    moves
}

/// Nodes whose pods could stand on new nodes of one kind, and those of other parts could not.
struct CandidatePart {
    /// Nodes that may be removed, least worth for their price first.
    nodes: Vec<Ranked>,
    /// Ways to buy that are open to the pods of any of them.
    rows: Bits,
}

/// Nodes by what is for sale to their pods, in the order of the first of each part. Nodes without pods are a part of their own.
fn parts(
    simulation: &MoveSimulation<'_, '_>,
    loads: &NodeLoads,
    order: &[Ranked],
) -> Vec<CandidatePart> {
    let mut parts: Vec<CandidatePart> = Vec::new();
    let mut empty = Vec::new();
    for node in order {
        let load = simulation.load(loads, node.row);
        let Some(load) = load.filter(|load| load.amounts.iter().any(|amount| *amount > 0)) else {
            empty.push(*node);
            continue;
        };
        let meets = |part: &CandidatePart| part.rows.meets(&load.rows);
        let Some(first) = parts.iter().position(meets) else {
            parts.push(CandidatePart {
                nodes: vec![*node],
                rows: load.rows.clone(),
            });
            continue;
        };
        // A node may be what two parts have in common.
        let (mut nodes, mut rows) = (Vec::new(), load.rows.clone());
        for part in parts.extract_if(first.., |part| part.rows.meets(&load.rows)) {
            nodes.extend(part.nodes);
            rows.join(&part.rows);
        }
        nodes.push(*node);
        nodes.sort_unstable_by_key(Ranked::key);
        parts.insert(first, CandidatePart { nodes, rows });
    }
    if !empty.is_empty() {
        parts.push(CandidatePart {
            nodes: empty,
            rows: Bits::default(),
        });
    }
    parts
}

/// A search for moves, part by part: what fails in one part says nothing of another.
struct MoveSearch<'f, 'a, 's> {
    simulation: &'f mut MoveSimulation<'a, 's>,
    kinds: &'f [NewKind],
    loads: &'f NodeLoads,
    moves: Vec<Move>,
    /// Nodes that may go without a replacement.
    alone: BTreeSet<usize>,
}

impl MoveSearch<'_, '_, '_> {
    fn one_by_one(&mut self, part: &CandidatePart) {
        let mut failed_searches = 0;
        for node in &part.nodes {
            let simulation = &mut *self.simulation;
            let found = simulation.attempt(&[node.row], To::Staying);
            if found.is_some() {
                self.alone.insert(node.row);
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
            self.moves.extend(found);
        }
    }

    /// Within what budgets let go at once, and before it in stages: of these the choice is made later.
    fn several_for_one(&mut self, part: &CandidatePart) {
        let kinds = self.kinds.iter();
        let kinds: Vec<&NewKind> = kinds.filter(|kind| kind.rows.meets(&part.rows)).collect();
        let room = self.simulation.room();
        for room in room.in_stages().into_iter().chain([room.at_once()]) {
            self.bundles(part, &kinds, &room);
        }
    }

    fn bundles(&mut self, part: &CandidatePart, kinds: &[&NewKind], room: &BudgetRoom) {
        let mut used: BTreeSet<usize> = BTreeSet::new();
        for (at, seed) in part.nodes.iter().enumerate() {
            if used.contains(&seed.row) || seed.worth >= WELL_USED {
                continue;
            }
            let later = part.nodes[at + 1..].iter().map(|node| node.row);
            let later = later.filter(|row| !used.contains(row));
            let found = bundle::around(self.simulation, kinds, self.loads, seed.row, later, room);
            if let Some(members) = found {
                self.moves
                    .extend(self.simulation.attempt(&members, To::New));
                used.extend(members);
            }
        }
    }

    fn neighbours(&mut self, part: &CandidatePart) {
        let mut failed_searches = 0;
        for together in neighbourhoods(&part.nodes, &self.simulation.room().at_once()) {
            let found = self.simulation.attempt(&together, To::Packed);
            failed_searches = if found.is_some() {
                0
            } else {
                failed_searches + 1
            };
            self.moves.extend(found);
            if failed_searches == MOST_FAILED_SEARCHES {
                break;
            }
        }
    }
}

/// Saving for its disruption, more being better.
fn rank(found: &Move) -> f64 {
    found.saving.dollars() / found.disruption.pods()
}

/// Nodes that may be removed, least worth for their price first; those without a price last.
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
    order.sort_unstable_by_key(Ranked::key);
    order
}

/// Nodes to be packed again together: all of them where they are few, then the most wasteful and their neighbours; each as far as budgets
/// let them go at once.
fn neighbourhoods(order: &[Ranked], room: &BudgetRoom) -> Vec<Vec<usize>> {
    let poor = order.iter().filter(|node| node.worth < WELL_USED);
    let poor: Vec<usize> = poor.map(|node| node.row).collect();
    let whole = (NEIGHBOURS + 1..=WHOLE).contains(&poor.len());
    let whole = whole.then(|| admitted(&mut poor.clone(), WHOLE, room));
    // No more than the parts have.
    let whole = whole.filter(|rows| rows.len() > NEIGHBOURS);
    let mut parts = Vec::new();
    let mut left = poor;
    while !left.is_empty() {
        parts.push(admitted(&mut left, NEIGHBOURS, room));
    }
    parts.retain(|part| part.len() > 1);
    whole.into_iter().chain(parts).collect()
}

/// Takes off the first nodes that may be removed at once, at most so many and at least one.
fn admitted(left: &mut Vec<usize>, most: usize, room: &BudgetRoom) -> Vec<usize> {
    let mut room = room.clone();
    let mut taken: Vec<usize> = Vec::new();
    left.retain(|row| {
        let takes = taken.len() < most && (room.take(*row) || taken.is_empty());
        if takes {
            taken.push(*row);
        }
        !takes
    });
    taken
}
