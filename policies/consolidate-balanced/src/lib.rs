//! Weighs the share of its pool's cost that a move saves against the share of its pool's pods that it disturbs.
//!
//! README.md has the formula. The rule is the API's consolidation policy `Balanced`, with its factor of 2, told in dollars.

mod totals;

use plimsoll_sdk::consolidation::*;

use crate::totals::{Part, Totals};

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// How many times as large as the share saved the share disturbed may be.
    #[setting(default = 2, min = 0.1, max = 100)]
    pub factor: f64,
}

reasons! {
    EMPTY = "nothing but daemons runs there",
    BALANCED = "saves enough for what it disturbs",
    DISTURBS = "disturbs too much for what it saves",
    NOTHING = "saves nothing",
}

/// Saving share over disruption share, pool by pool.
#[derive(Debug)]
pub struct Balanced;

impl Consolidation for Balanced {
    type Settings = Options;

    fn scores(&self, table: &MoveTable, options: &Options) -> Result<VerdictAnswer, PolicyError> {
        let totals = Totals::count(table);
        Ok(table.map(|mv| verdict(mv, &totals, options)))
    }

    /// A move by itself, as if its nodes were all of their pool: only the whole table knows more.
    fn score(&self, mv: &Move, options: &Options) -> Verdict {
        let mut totals = Totals::default();
        mv.nodes().for_each(|node| totals.add(&node));
        verdict(mv, &totals, options)
    }
}

export_consolidation!(Balanced);

fn verdict(mv: &Move, totals: &Totals, options: &Options) -> Verdict {
    let saving = mv.saving();
    if mv.kind() == MoveKind::Empty {
        return Verdict::dollars(saving.max(LEAST_WORTH), EMPTY);
    }
    if saving <= 0.0 {
        return Verdict::dollars(saving, NOTHING);
    }
    let parts = totals.parts(mv);
    // Every pool that nodes are taken from has to approve of its part of the move.
    let approved = parts
        .iter()
        .all(|part| part.score() * options.factor >= 1.0);
    let charge: f64 = parts.iter().map(Part::charge).sum();
    let value = saving - charge / options.factor;
    if approved {
        Verdict::dollars(value.max(LEAST_WORTH), BALANCED)
    } else {
        Verdict::dollars(value.min(0.0), DISTURBS)
    }
}
