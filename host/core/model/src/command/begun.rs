//! A command that begins: the nodes that it takes away, and what is bought in their place.

use std::collections::BTreeSet;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Timestamp;
use serde::Serialize;

use super::{Command, CommandId};
use crate::DisruptionReason;

/// One command at its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BegunCommand {
    /// Its identity.
    pub id: CommandId,
    /// Why it was begun.
    pub reason: DisruptionReason,
    /// Claims of the nodes that are removed, ascending.
    pub members: Vec<ClaimName>,
    /// Claims that are bought in their place, by name.
    pub replacements: Vec<ClaimName>,
    /// Pods that are moved.
    pub pods: u32,
}

impl BegunCommand {
    /// A command that begins now, with these replacements.
    pub fn of(
        command: &Command,
        replacements: &BTreeSet<ClaimName>,
        pods: u32,
        now: Timestamp,
    ) -> Self {
        Self {
            id: CommandId::of(&command.members, now),
            reason: command.reason,
            members: command.members.clone(),
            replacements: replacements.iter().cloned().collect(),
            pods,
        }
    }
}
