//! A command that has come to its end: the nodes that went, what came in their place, what it was to save, and what it did save.
//!
//! The engine's ledger, the simulator's score cards, events and records tell it by this one value, and figures mean the same in all.

use std::collections::BTreeSet;
use std::fmt;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::fixed_hash::hash_of;
use plimsoll_base::ids::{ClaimName, NodeName, PoolName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_base::words::shortened;
use serde::{Deserialize, Serialize};

use crate::DisruptionReason;

/// How long the bill of a command that is made to save is watched after its end.
pub const WATCHED: Span = Span::from_secs(3600);

/// Identity of a command: the same claims removed from the same instant on give the same id on every machine, also to a process
/// that takes the command up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(u64);

impl CommandId {
    /// The id of the command that began at an instant and takes away the nodes of these claims, ascending.
    pub fn of(members: &[ClaimName], begun: Timestamp) -> Self {
        Self(hash_of(&(members, begun.millis())))
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// One command from its beginning to its end, and to the end of the hour after where it was made to save. All prices are list prices,
/// of when the command was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Its identity.
    pub id: CommandId,
    /// Why it was begun.
    pub reason: DisruptionReason,
    /// Pools of the nodes that were to go.
    pub pools: BTreeSet<PoolName>,
    /// When it was begun.
    pub begun: Timestamp,
    /// When the last of its nodes was gone, or it was taken back.
    pub ended: Timestamp,
    /// Nodes that were to go.
    pub nodes: u32,
    /// Of those, the ones that went, by name.
    pub gone: Vec<NodeName>,
    /// Nodes that were to come in their place.
    pub replacements: u32,
    /// Claims of those that came, by name.
    pub came: Vec<ClaimName>,
    /// Claims that were bought since the nodes were asked to go for pods which ran on them, by name.
    pub bought_since: Vec<ClaimName>,
    /// Saving per hour, as it was predicted.
    pub predicted: PricePerHour,
    /// Price of the nodes that went, less what stood in their place cost per hour: the mean over the time watched, or, where that
    /// is none, at the command's end. Below nothing where that cost more, or its nodes stayed.
    ///
    /// In their place stand the claims that came, and of each claim bought since the share of the command's pods in all that it was
    /// bought for: pods that come back count once each, by their owner and template, and no more of them than ran on the nodes. A
    /// claim counts from when it has its instance until it is gone; one that another command replaces counts on, since what
    /// that saves is the other's.
    pub realised: PricePerHour,
    /// How long it was watched after its end: [`WATCHED`] in the last word on a command that was made to save. Nothing at its end,
    /// which is the only word on other commands, on those whose hour had not passed when a simulation ended, and on those within
    /// whose hour the process did.
    pub watched: Span,
}

impl Settled {
    /// `true` if it is the last word on a command that was made to save.
    pub fn is_realised(&self) -> bool {
        self.watched >= WATCHED
    }

    /// `true` if nodes went that were to go to save money: people are told of it.
    pub fn is_saving(&self) -> bool {
        self.reason.facts().saves && !self.gone.is_empty()
    }

    /// Reason of the event on each of its pools.
    pub fn event(&self) -> EventReason {
        if self.is_realised() {
            EventReason::SavingRealised
        } else {
            EventReason::SavingPredicted
        }
    }

    /// A sentence for people.
    pub fn words(&self) -> String {
        let (predicted, realised) = (self.predicted, self.realised);
        let saving = if self.is_realised() {
            format!("saved {realised} in the hour after it, predicted {predicted}")
        } else {
            format!("saves {predicted} as predicted, list prices")
        };
        let some = |what: &str, names: &[ClaimName]| {
            let some = !names.is_empty();
            some.then(|| format!("{what}: {}", shortened(names)))
        };
        let parts = [
            Some(saving),
            Some(format!("nodes that went: {}", shortened(&self.gone))),
            some("claims that came", &self.came),
            some("bought since for pods that came back", &self.bought_since),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("command {}: {}", self.id, parts.join("; "))
    }
}
