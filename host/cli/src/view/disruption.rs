//! Disruption commands of a simulation as a part of its document.

use plimsoll_model::DisruptionReason;
use plimsoll_model::command::Settled;
use plimsoll_sim::ScoreCard;
use plimsoll_snapshot::section::Duration;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Dollars, Instant, duration, instant};

/// Disruption commands carried out and refused, with their savings.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Disruption {
    /// Commands that consolidated nodes.
    consolidations: u32,
    /// Commands that deleted empty nodes.
    empty: u32,
    /// Commands that replaced drifted nodes.
    drifted: u32,
    /// Dollars per hour that consolidations were to save, at list prices.
    predicted_savings_dollars_per_hour: Dollars,
    /// Dollars per hour that they saved: the price of terminated nodes, less the mean cost per hour, over the hour after, of what
    /// stood in their place: replacements, and nodes launched for the same pods.
    realised_savings_dollars_per_hour: Dollars,
    /// Disruption that was possible and not done, by who refused.
    refused: Refusals,
    /// The commands that ended, without those of empty nodes, by their ends.
    commands: Vec<Command>,
}

/// Numbers of refusals.
#[expect(clippy::struct_field_names, reason = "each name says who refused")]
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Refusals {
    /// By the policy that scores consolidations.
    by_policy: u32,
    /// By guards against churn.
    by_guard: u32,
    /// By budgets of NodePools.
    by_budget: u32,
    /// By pods that may not be evicted, and by PodDisruptionBudgets.
    by_pod: u32,
    /// Since the cluster changed before the command began.
    by_change: u32,
}

/// A disruption command.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Command {
    /// `Underutilized` or `Drifted`.
    reason: String,
    /// When it began.
    start: Instant,
    /// When its last node had terminated, or when it was rolled back.
    end: Instant,
    /// Nodes that it was to terminate.
    nodes: u32,
    /// Those of them that terminated.
    terminated_nodes: u32,
    /// Nodes that replaced them.
    replacements: u32,
    /// Dollars per hour that it was to save, at list prices.
    predicted_savings_dollars_per_hour: Dollars,
    /// Dollars per hour that it saved; negative where what stood in place of its nodes cost more.
    realised_savings_dollars_per_hour: Dollars,
    /// Time after its end over which that is the mean: an hour; zero for drifted nodes, and where the simulation ended before.
    watched: Duration,
}

impl Disruption {
    pub(crate) fn of(card: &ScoreCard) -> Self {
        let (predicted, realised) = card.saved();
        let refused = card.refused;
        Self {
            consolidations: card.begun.of(DisruptionReason::Underutilized),
            empty: card.begun.of(DisruptionReason::Empty),
            drifted: card.begun.of(DisruptionReason::Drifted),
            predicted_savings_dollars_per_hour: predicted.into(),
            realised_savings_dollars_per_hour: realised.into(),
            refused: Refusals {
                by_policy: refused.by_policy,
                by_guard: refused.by_guard,
                by_budget: refused.by_budget,
                by_pod: refused.by_pods,
                by_change: refused.by_change,
            },
            commands: card.ledger.iter().map(Command::of).collect(),
        }
    }
}

impl Command {
    fn of(settled: &Settled) -> Self {
        Self {
            reason: settled.reason.as_str().to_owned(),
            start: instant(settled.begun),
            end: instant(settled.ended),
            nodes: settled.nodes,
            terminated_nodes: u32::try_from(settled.gone.len()).unwrap_or(u32::MAX),
            replacements: settled.replacements,
            predicted_savings_dollars_per_hour: settled.predicted.into(),
            realised_savings_dollars_per_hour: settled.realised.into(),
            watched: duration(settled.watched),
        }
    }
}
