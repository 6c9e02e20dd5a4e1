//! The score card of a run: plain numbers, integers only, the same bytes every time.

use plimsoll_base::ids::TypeName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_engine::{Begun, Landing};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::command::{Refused, Settled};
use serde::{Deserialize, Serialize};

use crate::ladder::{FreshPrice, StepCost};
use crate::loss::Losses;
use crate::series::Series;
use crate::usage::UsageCard;

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreCard {
    /// When it began.
    pub start: Timestamp,
    /// How long it lasted.
    pub lasted: Span,
    /// Cost of the instances over the run, in nano-dollars.
    pub cost: i64,
    /// Part of the cost for instances before pods could use them, in nano-dollars.
    pub cost_starting: i64,
    /// Part of the cost for instances that carried nothing but daemons, or were deleting, in nano-dollars.
    pub cost_idle: i64,
    /// Lower bound on the cost of any fleet for the pods that ran, in nano-dollars at list price; `None` if it was not computed.
    pub bound: Option<i64>,
    /// The cost from the bound on, step by step; empty where it was not computed.
    #[serde(default)]
    pub ladder: Vec<StepCost>,
    /// Prices of fresh plans in order of time; empty where the bound was not computed.
    #[serde(default)]
    pub fresh: Vec<FreshPrice>,
    /// Shares of the work that one loss would have taken.
    #[serde(default)]
    pub losses: Losses,
    /// Hours of nodes by type and capacity type, in thousandths of an hour.
    pub node_hours: Vec<NodeHours>,
    /// Nodes on average, in thousandths.
    pub nodes_mean: i64,
    /// Most nodes at once.
    pub nodes_max: u32,
    /// How long pods waited for a node.
    pub waiting: Waiting,
    /// Pods that never got a node, by name; at most [`MOST_UNPLACED`].
    pub unplaced: Vec<Unplaced>,
    /// How many pods never got a node.
    pub unplaced_count: u32,
    /// Pods that came, those moved and come again included; daemons not.
    pub pods: u32,
    /// Pods that ended by themselves.
    pub completed: u32,
    /// Pods asked to leave a node.
    pub evictions: u32,
    /// How long pods that were moved did not run: from the end of each until its successor was bound, in all; those without
    /// a place at the end of the run count up to then.
    #[serde(default)]
    pub disrupted: Span,
    /// Instances that the cloud took back.
    pub interruptions: u32,
    /// Instances bought.
    pub launches: u32,
    /// Launches that failed, for want of capacity or otherwise.
    pub launch_failures: u32,
    /// Decisions asked for.
    pub decisions: u32,
    /// Share of cpu that pods asked for, in thousandths of what nodes could give, over time.
    pub cpu_used: i64,
    /// Share of memory that pods asked for, likewise.
    pub memory_used: i64,
    /// Planned pods that were pending: those that the scheduler had found unschedulable before they were bound.
    #[serde(default)]
    pub pending_pods: Fidelity,
    /// Planned pods that came in the place of evicted ones.
    #[serde(default)]
    pub evicted_pods: Fidelity,
    /// Nominations that the scheduler dropped.
    pub nominations_dropped: u32,
    /// Faults of policy modules.
    pub faults: u64,
    /// Words of the faults, in the order in which each was first seen: the first [`MOST_FAULT_WORDS`].
    #[serde(default)]
    pub fault_words: Vec<FaultWords>,
    /// Nodes taken away on purpose.
    #[serde(default)]
    pub begun: Begun,
    /// Moves that were found and not made, and who said so.
    #[serde(default)]
    pub refused: Refused,
    /// Commands that came to their end and were to save money or to replace drifted nodes, in order of their ends.
    #[serde(default)]
    pub ledger: Vec<Settled>,
    /// Use of pods beside their requests; `None` where the recording says nothing of use.
    #[serde(default)]
    pub usage: Option<UsageCard>,
    /// The course of things.
    pub series: Series,
}

impl ScoreCard {
    /// Cost of the instances per hour, in nano-dollars: the mean over the run.
    pub fn cost_per_hour(&self) -> i64 {
        let millis = i128::from(self.lasted.millis()).max(1);
        i64::try_from(i128::from(self.cost) * 3_600_000 / millis).unwrap_or(i64::MAX)
    }

    /// Savings of the moves in the ledger, predicted and realised, per hour at list prices.
    pub fn saved(&self) -> (PricePerHour, PricePerHour) {
        let moves = || {
            let entries = self.ledger.iter();
            entries.filter(|entry| entry.reason.facts().saves)
        };
        let predicted = moves().map(|entry| entry.predicted).sum();
        (predicted, moves().map(|entry| entry.realised).sum())
    }
}

/// Bindings of planned pods, held against the plan. Pods of one owner and template count as one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fidelity {
    /// All of them.
    pub bound: u32,
    /// To a node that the pod was planned for.
    pub as_planned: u32,
    /// To another node, before any node that the pod was planned for could be used.
    pub sooner: u32,
}

impl Fidelity {
    pub(crate) fn count(&mut self, landing: Landing) {
        self.bound += 1;
        self.as_planned += u32::from(landing == Landing::AsPlanned);
        self.sooner += u32::from(landing == Landing::Sooner);
    }

    /// Those that were bound no later than planned: where planned, or sooner.
    pub const fn kept(self) -> u32 {
        self.as_planned + self.sooner
    }

    /// Those that were bound to another node although one that the pod was planned for could be used.
    pub const fn elsewhere(self) -> u32 {
        self.bound - self.kept()
    }
}

/// Different faults of policy modules that are listed.
pub const MOST_FAULT_WORDS: usize = 10;

/// A fault of a policy module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultWords {
    /// The fault and its consequence, in a sentence.
    pub words: String,
    /// How often.
    pub times: u64,
}

/// Unschedulable pods that are listed by name.
pub const MOST_UNPLACED: usize = 100;

/// Hours of nodes of one type on one kind of terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeHours {
    /// The type.
    pub instance_type: TypeName,
    /// The terms.
    pub capacity_type: CapacityType,
    /// Thousandths of an hour.
    pub thousandths: i64,
    /// Their cost, in nano-dollars.
    pub cost: i64,
}

/// How long pods waited for a node, of those that got one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Half waited no longer.
    pub p50: Span,
    /// Nine in ten waited no longer.
    pub p90: Span,
    /// Ninety-nine in a hundred waited no longer.
    pub p99: Span,
    /// None waited longer.
    pub max: Span,
    /// Every hundredth of the distribution: 101 spans from the shortest to the longest; empty when no pod waited.
    pub hundredths: Vec<Span>,
}

impl Waiting {
    /// From waits in any order.
    pub(crate) fn of(mut waits: Vec<Span>) -> Self {
        waits.sort_unstable();
        let Some(last) = waits.len().checked_sub(1) else {
            return Self::default();
        };
        let at = |hundredth: usize| waits[(last * hundredth).div_ceil(100)];
        Self {
            p50: at(50),
            p90: at(90),
            p99: at(99),
            max: at(100),
            hundredths: (0..=100).map(at).collect(),
        }
    }
}

/// A pod that never got a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unplaced {
    /// Namespace and name.
    pub pod: String,
    /// Why, as the last plan that looked at it said.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_off_the_sorted_list() {
        let waiting = Waiting::of((1..=100).rev().map(Span::from_secs).collect());
        assert_eq!(waiting.p50, Span::from_secs(51));
        assert_eq!(waiting.p90, Span::from_secs(91));
        assert_eq!(waiting.p99, Span::from_secs(100));
        assert_eq!(waiting.max, Span::from_secs(100));
        assert_eq!(waiting.hundredths.len(), 101);
    }

    #[test]
    fn nobody_waited_is_no_wait() {
        assert_eq!(Waiting::of(Vec::new()), Waiting::default());
    }
}
