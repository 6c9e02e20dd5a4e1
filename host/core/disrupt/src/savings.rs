//! A command made of the nodes that it takes away, and what it saves.

use plimsoll_base::units::PricePerHour;
use plimsoll_model::DisruptionReason;
use plimsoll_model::command::Command;
use plimsoll_model::plan::Plan;

use super::candidate::Candidate;
use super::moves::Move;

/// A command for these nodes.
pub(super) fn command_of(
    reason: DisruptionReason,
    members: &[&Candidate],
    savings: Savings,
    plan: Plan,
) -> Command {
    let mut sorted: Vec<&Candidate> = members.to_vec();
    sorted.sort_unstable_by(|a, b| a.claim.cmp(&b.claim));
    Command {
        reason,
        members: sorted.iter().map(|member| member.claim.clone()).collect(),
        prices: sorted.iter().map(|member| member.price).collect(),
        later: Vec::new(),
        saving: savings.decides,
        list_saving: savings.list,
        plan,
        past: None,
    }
}

/// Saving of a command per hour, at the prices that decide and at list prices.
#[derive(Clone, Copy, Default)]
pub(crate) struct Savings {
    pub(crate) decides: PricePerHour,
    list: PricePerHour,
}

impl Savings {
    pub(crate) fn of(found: &Move) -> Self {
        Self {
            decides: found.saving,
            list: found.list_saving,
        }
    }

    /// Nodes without pods go whatever they are worth: what is told is their list price.
    pub(crate) fn of_empty(members: &[&Candidate]) -> Self {
        let list = members.iter().map(|member| member.price).sum();
        Self {
            decides: list,
            list,
        }
    }
}
