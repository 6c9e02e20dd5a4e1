//! Several nodes for one: whose pods together fill a new node of some kind best.
//!
//! Whole nodes are the pieces, so that one new node takes all that a bundle sets free and no order of binding matters. Around
//! the most wasteful node, pieces are added for every kind for sale by how well they suit the room that is left; the kind that
//! is used best wins, if it costs less than the pieces do.

use plimsoll_base::bits::Bits;
use plimsoll_base::units::PricePerHour;
use plimsoll_schedule::prices::priced::NewKind;
use plimsoll_schedule::simulation::{NodeLoad, NodeLoads};

use super::{BudgetRoom, MoveSimulation};

/// How many nodes are looked at as pieces.
const WINDOW: usize = 64;

/// Pieces for one kind.
struct Bundle {
    members: Vec<usize>,
    worth: i64,
    kind_price: i64,
}

/// The best bundle of a node with later ones, of two nodes or more and within this room; nothing where none is cheaper than its pieces.
pub(super) fn around(
    simulation: &MoveSimulation<'_, '_>,
    kinds: &[&NewKind],
    loads: &NodeLoads,
    seed: usize,
    later: impl Iterator<Item = usize>,
    room: &BudgetRoom,
) -> Option<Vec<usize>> {
    let first = simulation.load(loads, seed)?;
    let window: Vec<(usize, &NodeLoad)> = later
        .filter_map(|row| Some((row, simulation.load(loads, row)?)))
        .take(WINDOW)
        .collect();
    let mut best: Option<Bundle> = None;
    for kind in kinds {
        let Some(found) = fill(kind, (seed, first), &window, room.clone()) else {
            continue;
        };
        let price: PricePerHour = found.members.iter().map(|row| simulation.price(*row)).sum();
        let saves = found.kind_price < simulation.most(price);
        // Used better: more worth for the price.
        let better = |best: &Bundle| {
            i128::from(found.worth) * i128::from(best.kind_price)
                > i128::from(best.worth) * i128::from(found.kind_price)
        };
        if saves && found.members.len() > 1 && best.as_ref().is_none_or(better) {
            best = Some(found);
        }
    }
    best.map(|best| best.members)
}

/// A kind filled with a first piece and whatever suits the room that is left.
fn fill(
    kind: &NewKind,
    first: (usize, &NodeLoad),
    window: &[(usize, &NodeLoad)],
    mut room: BudgetRoom,
) -> Option<Bundle> {
    let mut rows: Bits = kind.rows.and(&first.1.rows);
    let mut left: Vec<i64> = kind.capacity.to_vec();
    if rows.is_empty() || !room.take(first.0) || !put(&mut left, &first.1.amounts) {
        return None;
    }
    let mut bundle = Bundle {
        members: vec![first.0],
        worth: first.1.worth,
        kind_price: kind.price,
    };
    let mut used = vec![false; window.len()];
    loop {
        let mut best: Option<(f64, usize)> = None;
        for (at, (row, load)) in window.iter().enumerate() {
            let fits = load
                .amounts
                .iter()
                .zip(&left)
                .all(|(asked, left)| asked <= left);
            if used[at] || !fits || !load.rows.meets(&rows) || !room.admits(*row) {
                continue;
            }
            let suits = suits(&load.amounts, &left, &kind.capacity);
            if best.is_none_or(|(most, _)| suits > most) {
                best = Some((suits, at));
            }
        }
        let Some((_, at)) = best else { break };
        let (row, load) = window[at];
        used[at] = true;
        room.take(row);
        put(&mut left, &load.amounts);
        rows.keep(&load.rows);
        bundle.members.push(row);
        bundle.worth = bundle.worth.saturating_add(load.worth);
    }
    Some(bundle)
}

/// How well an amount suits the room that is left: large, and of its shape.
fn suits(amounts: &[i64], left: &[i64], capacity: &[i64]) -> f64 {
    let parts = amounts.iter().zip(left).zip(capacity);
    parts
        .filter(|(_, capacity)| **capacity > 0)
        .map(|((asked, left), capacity)| {
            let whole = *capacity as f64;
            *asked as f64 / whole * (*left as f64 / whole)
        })
        .sum()
}

/// Takes an amount from what is left, if it fits.
fn put(left: &mut [i64], amounts: &[i64]) -> bool {
    let fits = left.iter().zip(amounts).all(|(left, asked)| asked <= left);
    if fits {
        for (left, asked) in left.iter_mut().zip(amounts) {
            *left -= asked;
        }
    }
    fits
}
