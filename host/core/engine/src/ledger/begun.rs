//! Counts of the commands that were begun, for those who keep score.

use plimsoll_base::units::PricePerHour;
use plimsoll_model::DisruptionReason;
use serde::{Deserialize, Serialize};

/// Commands begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Commands by reason, in the order of codes.
    commands: [u32; DisruptionReason::ALL.len()],
    /// Nodes that all of them took or will take away.
    pub nodes: u32,
    /// Saving as predicted of those that are made to save, in all, per hour at list prices.
    pub saving: PricePerHour,
}

impl Begun {
    /// Commands begun for a reason.
    pub fn of(&self, reason: DisruptionReason) -> u32 {
        self.commands[usize::from(reason.code())]
    }

    /// Adds what another engine began.
    pub fn join(&mut self, other: Self) {
        for (own, more) in self.commands.iter_mut().zip(other.commands) {
            *own += more;
        }
        self.nodes += other.nodes;
        self.saving += other.saving;
    }

    pub(crate) fn add(&mut self, reason: DisruptionReason, nodes: usize, saving: PricePerHour) {
        self.commands[usize::from(reason.code())] += 1;
        self.nodes += u32::try_from(nodes).unwrap_or(u32::MAX);
        if reason.facts().saves {
            self.saving += saving;
        }
    }
}
