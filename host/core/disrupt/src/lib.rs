//! Taking nodes away on purpose, within what their pools allow.
//!
//! Everything here is a function of a snapshot. The engine decides when to ask and carries out what comes back:
//! [`consider`] answers without policies: moves are worth what they save at list prices. Policies have their place on the
//! same way, by [`pass::DisruptionPass`], with their caps, prices and values in between.

pub mod balanced;
pub mod budget;
pub mod candidate;
mod choose;
pub mod churn;
pub mod confirm;
pub mod consolidate;
pub mod drift;
mod held_pools;
pub mod keep_reason;
mod launch_order;
pub mod moves;
pub mod outlook;
pub mod pass;
mod question;
mod savings;
mod stages;
mod static_drift;
pub mod static_pool;
mod vacant;

use plimsoll_model::command::{Decision, DisruptionQuestion};

use pass::DisruptionPass;
use plimsoll_model::snapshot::Snapshot;

/// Commands begun by one disruption pass at most.
const MOST_COMMANDS: usize = 20;

/// Answers a question without policies: declared budgets alone, and moves worth what they save.
pub fn consider(snapshot: &Snapshot, question: &DisruptionQuestion) -> Decision {
    match question {
        DisruptionQuestion::Pass { consolidate } => DisruptionPass::at(snapshot, *consolidate)
            .propose()
            .decide(None),
        DisruptionQuestion::Confirm(command) => {
            confirm::confirm(&DisruptionPass::at(snapshot, false), command)
        }
    }
}
