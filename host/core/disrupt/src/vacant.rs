//! Empty nodes that are removed: as many as budgets allow, and as leave spare room its place.
//!
//! Spare room that was found on a node moves on if there is room for it elsewhere, on nodes that stay. Nodes are taken one after
//! another, the dearest first, each as if those before it had gone.

use plimsoll_model::DisruptionReason;

use super::candidate::Candidate;
use super::moves::{self, KnownPrices, MoveSettings};
use super::pass::{BudgetsLeft, DisruptionPass};

/// Empty nodes, parted by what happens to them.
#[derive(Default)]
pub(super) struct Vacant<'c> {
    /// Those that go.
    pub(super) members: Vec<&'c Candidate>,
    /// Those whose room is kept for pods that are yet to come.
    pub(super) kept: Vec<&'c Candidate>,
    /// How many a budget holds back.
    pub(super) over_budget: u32,
}

/// Need of spare room for one empty node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpareRoom {
    /// No pod needs it.
    Free,
    /// Spare room has no other place.
    Kept,
    /// Pods on their way count on it.
    Awaited,
}

/// Chooses among empty nodes that are fit to go, in their order.
pub(super) fn choose<'c>(pass: &DisruptionPass<'_>, fit: &[&'c Candidate]) -> Vacant<'c> {
    let snapshot = pass.fleet.snapshot;
    let left = pass.left_of_all();
    if fit.is_empty() || !snapshot.pods.iter().any(|pod| pod.is_spare()) {
        return within_budgets(fit, left, &mut |_| SpareRoom::Free);
    }
    let rows: Vec<usize> = fit.iter().map(|candidate| candidate.row).collect();
    let settings = MoveSettings::default();
    // Nothing is bought: prices do not matter.
    let market = KnownPrices {
        offers: Some(pass.offers()),
        quoted: None,
    };
    let (vacant, _) = moves::ask_at(snapshot, &rows, &settings, market, |simulation| {
        within_budgets(fit, left, &mut |row| match simulation.may_go(row) {
            false => SpareRoom::Awaited,
            true if simulation.vacate(row) => SpareRoom::Free,
            true => SpareRoom::Kept,
        })
    });
    vacant
}

fn within_budgets<'c>(
    fit: &[&'c Candidate],
    mut left: BudgetsLeft,
    room: &mut dyn FnMut(usize) -> SpareRoom,
) -> Vacant<'c> {
    let mut vacant = Vacant::default();
    for candidate in fit {
        let key = (candidate.pool.name.clone(), DisruptionReason::Empty);
        let Some(left) = left.get_mut(&key).filter(|left| **left > 0) else {
            vacant.over_budget += 1;
            continue;
        };
        match room(candidate.row) {
            SpareRoom::Free => {
                *left -= 1;
                vacant.members.push(candidate);
            }
            SpareRoom::Kept => vacant.kept.push(candidate),
            SpareRoom::Awaited => {}
        }
    }
    vacant
}
