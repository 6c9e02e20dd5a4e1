//! Shares of the pods that one loss would have taken, in the document of a simulation.

use plimsoll_sim::{Loss, Losses};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Percent, percent};

/// The largest shares that one loss would have taken.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LossShares {
    /// The node with most replicas of a workload: its share of that workload, for the one that loses most of those of at least ten replicas;
    /// absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<LossShare>,
    /// The zone with most pods: its share of all; absent without samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<LossShare>,
    /// The spot capacity of one instance type and zone with most pods: its share of all; absent without samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    spot_pool: Option<LossShare>,
}

/// A share over the samples of a run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LossShare {
    /// The mean.
    mean_percent: Percent,
    /// The largest.
    most_percent: Percent,
}

impl LossShares {
    pub(crate) fn of(losses: Losses) -> Self {
        let share = |loss: Loss| LossShare {
            mean_percent: percent(loss.mean),
            most_percent: percent(loss.most),
        };
        Self {
            node: losses.node.map(share),
            zone: losses.zone.map(share),
            spot_pool: losses.spot.map(share),
        }
    }
}
