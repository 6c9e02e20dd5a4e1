//! Looks for moves on one reading of a snapshot.

use std::sync::Arc;

use super::{Move, MoveKind, MoveSettings};
use crate::disrupt::cost::MoveCost;
use crate::schedule::Offers;
use crate::schedule::trial::{Ceiling, Ground, Outcome, Trial};
use crate::snapshot::Snapshot;
use crate::units::PricePerHour;

/// All moves that stand by themselves, best saving for its disruption first.
pub(super) fn find(
    snapshot: &Snapshot,
    candidates: &[usize],
    settings: &MoveSettings,
    earlier: Option<&Arc<Offers>>,
) -> (Vec<Move>, Arc<Offers>) {
    let ground = Ground::new(snapshot, candidates, &settings.shut, earlier);
    let mut search = Search::new(snapshot, &ground, settings);
    let rows = search.rows();
    let mut moves: Vec<Move> = rows.iter().filter_map(|row| search.alone(*row)).collect();
    moves.sort_by(|left, right| rank(right).total_cmp(&rank(left)));
    drop(search);
    (moves, Arc::clone(ground.offers()))
}

/// Moves that may all be carried out, one after another: each is tried on what those before it have left, and taken if its
/// value is above zero.
pub(super) fn take(
    snapshot: &Snapshot,
    candidates: &[usize],
    settings: &MoveSettings,
    value: &mut dyn FnMut(&Move) -> i64,
    earlier: Option<&Arc<Offers>>,
) -> (Vec<Move>, Arc<Offers>) {
    let ground = Ground::new(snapshot, candidates, &settings.shut, earlier);
    let mut search = Search::new(snapshot, &ground, settings);
    let mut taken: Vec<Move> = Vec::new();
    for row in search.rows() {
        for most_new in 0..=1 {
            if !search.trial.may_go(row) {
                break;
            }
            if let Some((found, outcome)) = search.attempt(&[row], most_new)
                && value(&found) > 0
            {
                search.trial.keep(&found.members, &outcome);
                taken.push(found);
                break;
            }
        }
    }
    drop(search);
    (taken, Arc::clone(ground.offers()))
}

/// Saving for its disruption, more being better.
fn rank(found: &Move) -> f64 {
    found.saving.dollars() / found.disruption.pods()
}

/// The search for moves.
pub(super) struct Search<'a, 's> {
    snapshot: &'s Snapshot,
    ground: &'a Ground<'s>,
    trial: Trial<'a, 's>,
    settings: &'a MoveSettings,
}

impl<'a, 's> Search<'a, 's> {
    fn new(snapshot: &'s Snapshot, ground: &'a Ground<'s>, settings: &'a MoveSettings) -> Self {
        Self {
            snapshot,
            ground,
            trial: Trial::new(ground),
            settings,
        }
    }

    /// Nodes that may go, ascending.
    fn rows(&self) -> Vec<usize> {
        let all = 0..self.snapshot.nodes.len();
        all.filter(|row| self.trial.may_go(*row)).collect()
    }

    /// The best move of a single node.
    fn alone(&mut self, row: usize) -> Option<Move> {
        let found = self.attempt(&[row], 0).or_else(|| self.attempt(&[row], 1));
        self.trial.undo();
        found.map(|(found, _)| found)
    }

    /// Tries to make nodes go with at most so many new ones.
    fn attempt(&mut self, members: &[usize], most_new: usize) -> Option<(Move, Outcome)> {
        self.trial.undo();
        let price: PricePerHour = members.iter().map(|row| self.ground.price(*row)).sum();
        let ceiling = Ceiling {
            nanos: self.most(price),
            leaving: members,
            spot_to_spot: self.settings.spot_to_spot,
        };
        let outcome = self.trial.attempt(members, most_new, &ceiling)?;
        Some((self.named(members, price, &outcome), outcome))
    }

    /// What replacements of nodes of this price must cost less than, in nano-dollars per hour.
    fn most(&self, price: PricePerHour) -> i64 {
        let share = price.nanos() / 100 * i64::from(self.settings.least_saving_percent);
        let least = self.settings.least_saving.nanos().max(share);
        price.nanos().saturating_sub(least.saturating_sub(1).max(0))
    }

    fn named(&self, members: &[usize], price: PricePerHour, outcome: &Outcome) -> Move {
        let cost = |row: &usize| {
            let pods = self.ground.pods(*row);
            MoveCost::of_node(pods.map(|pod| self.snapshot.pods[pod].as_ref()))
        };
        let mut members = members.to_vec();
        members.sort_unstable();
        Move {
            kind: match (outcome.placements.is_empty(), outcome.claims.is_empty()) {
                (true, _) => MoveKind::Empty,
                (_, true) => MoveKind::Delete,
                _ => MoveKind::Replace,
            },
            disruption: members.iter().map(cost).sum(),
            saving: price - outcome.list,
            claims: outcome.claims.clone(),
            placements: outcome.placements.clone(),
            members,
        }
    }
}
