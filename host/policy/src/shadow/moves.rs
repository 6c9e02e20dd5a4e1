//! Two valuations of the same moves: which are worth it to one and not to the other, and what the moves that each would make save.
//!
//! Moves may want the same nodes. Each side takes its own, best first, as long as the nodes are still there; what both save at the
//! prices that decide is held against each other, before budgets.

use std::collections::BTreeSet;

use plimsoll_base::units::PricePerHour;
use plimsoll_hooks::score::{ScoreQuestion, Verdicts};

use super::log::Compared;
use crate::words::move_words;

/// Moves that are named.
const NAMED: usize = 2;

/// A side that failed would move nothing.
pub(super) fn compare(
    question: &ScoreQuestion,
    active: Option<&Verdicts>,
    shadow: Option<&Verdicts>,
) -> Compared {
    let none = Verdicts::none(question.moves.len());
    let (active, shadow) = (active.unwrap_or(&none), shadow.unwrap_or(&none));
    let mine: BTreeSet<usize> = active.worth.iter().copied().collect();
    let theirs: BTreeSet<usize> = shadow.worth.iter().copied().collect();
    let rows = question.moves.len() as u64;
    let apart = mine.symmetric_difference(&theirs).count() as u64;
    let (made, would) = (taken(question, active), taken(question, shadow));
    let saved = |rows: &[usize]| rows.iter().map(|row| saving(question, *row)).sum();
    let (saved, would_save): (PricePerHour, PricePerHour) = (saved(&made), saved(&would));
    let set = |rows: &[usize]| rows.iter().copied().collect::<BTreeSet<usize>>();
    let differ = set(&made) != set(&would);
    Compared {
        rows,
        agree: rows - apart,
        regret: saved - would_save,
        extra_moves: theirs.difference(&mine).count() as u64,
        missing_moves: mine.difference(&theirs).count() as u64,
        words: differ.then(|| {
            (
                words(question, &made, &would),
                words(question, &would, &made),
            )
        }),
        ..Compared::default()
    }
}

fn saving(question: &ScoreQuestion, row: usize) -> PricePerHour {
    PricePerHour::from_dollars(question.saving(row)).unwrap_or(PricePerHour::ZERO)
}

/// The moves that are made, best first, none of which takes a node that one before it took.
fn taken(question: &ScoreQuestion, verdicts: &Verdicts) -> Vec<usize> {
    let mut gone: BTreeSet<u32> = BTreeSet::new();
    let mut rows = Vec::new();
    for &row in &verdicts.worth {
        let members = question.moves.members(row);
        if members.iter().all(|node| !gone.contains(node)) {
            gone.extend(members);
            rows.push(row);
        }
    }
    rows
}

/// The moves that one side makes and the other does not.
fn words(question: &ScoreQuestion, rows: &[usize], others: &[usize]) -> String {
    let own: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|row| !others.contains(row))
        .collect();
    let named = own.iter().take(NAMED);
    let named: Vec<String> = named.map(|row| move_words(question, *row)).collect();
    match own.len() {
        0 => "no other move".to_owned(),
        all if all <= NAMED => named.join("; "),
        all if all == NAMED + 1 => format!("{}; 1 other move", named.join("; ")),
        all => format!("{}; {} other moves", named.join("; "), all - NAMED),
    }
}
