//! What was begun on our own initiative so far, for those who keep score.

use serde::{Deserialize, Serialize};

use crate::model::DisruptionReason;
use crate::units::PricePerHour;

/// Commands begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Commands that took empty nodes away.
    pub empty: u32,
    /// Commands that moved pods to save money.
    pub moves: u32,
    /// Commands that replaced drifted nodes.
    pub drifted: u32,
    /// Nodes that all of them took or will take away.
    pub nodes: u32,
    /// What moves were to save, in all, at list prices.
    pub saving: PricePerHour,
}

impl Begun {
    /// Adds what another engine began.
    pub fn join(&mut self, other: Self) {
        self.empty += other.empty;
        self.moves += other.moves;
        self.drifted += other.drifted;
        self.nodes += other.nodes;
        self.saving += other.saving;
    }

    pub(super) fn add(&mut self, reason: DisruptionReason, nodes: usize, saving: PricePerHour) {
        self.nodes += u32::try_from(nodes).unwrap_or(u32::MAX);
        match reason {
            DisruptionReason::Drifted => self.drifted += 1,
            DisruptionReason::Empty => self.empty += 1,
            DisruptionReason::Underutilized => {
                self.moves += 1;
                self.saving += saving;
            }
        }
    }
}
