//! A whole pass: moves are found, valued and taken until none is worth it.
//!
//! A forecast at list prices, without budgets and waits: what consolidation would come to if every move worth its value were
//! carried out.
//! Rounds take moves one after another on one reading of the cluster; a round begins with the cluster that the one before
//! has left, since new nodes may take pods too, and the pass ends with a round that takes nothing.

use super::asker::{KnownPrices, ask_at};
use super::{Move, MoveSettings, carry_out, search};
use crate::snapshot::Snapshot;

/// No pass has more rounds: each saves something, but what the last ones save is little.
const MOST_ROUNDS: usize = 16;

/// What a pass has come to.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The moves taken, in order. Positions in each are those of the snapshot of its round.
    pub moves: Vec<Move>,
    /// How many moves each round took.
    pub rounds: Vec<usize>,
    /// The cluster after them.
    pub after: Snapshot,
}

impl Passed {
    /// How many evictions the moves take; a pod that moves twice counts twice.
    pub fn evictions(&self) -> usize {
        self.moves.iter().map(Move::pods_moved).sum()
    }
}

/// Takes moves until none has a value above zero. `candidates` says which nodes of a snapshot may go, as positions; `value`
/// what a move is worth, in any unit. [`MoveSettings::excluded`] holds for the first round.
pub fn pass(
    snapshot: &Snapshot,
    candidates: impl Fn(&Snapshot) -> Vec<usize>,
    settings: &MoveSettings,
    mut value: impl FnMut(&Move) -> i64,
) -> Passed {
    let mut result = Passed {
        moves: Vec::new(),
        rounds: Vec::new(),
        after: snapshot.clone(),
    };
    let mut settings = settings.clone();
    let mut offers = None;
    for _ in 0..MOST_ROUNDS {
        let going = candidates(&result.after);
        let market = KnownPrices {
            offers: offers.as_ref(),
            quoted: None,
        };
        let (taken, kept) = ask_at(&result.after, &going, &settings, market, |asker| {
            search::take(asker, &mut value)
        });
        offers = Some(kept);
        settings.excluded.clear();
        if taken.is_empty() {
            break;
        }
        result.after = carry_out(&result.after, &taken);
        result.rounds.push(taken.len());
        result.moves.extend(taken);
    }
    result
}
