//! Reasons for which a node in use is still there at a moment, in few kinds: what a report on cost charges the node's price to.

use std::sync::Arc;

use plimsoll_base::time::Span;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use super::candidate::Blocked;
use super::consolidate::Unfit;
use super::outlook::{DeclinedBy, Outlook};

/// Kind of the first rule that keeps a node, in the order in which a disruption pass asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum KeepReason {
    /// It goes now, other nodes go before it, or it is only just there.
    Moving,
    /// The node or one of its pods carries the annotation `karpenter.sh/do-not-disrupt`.
    DoNotDisrupt,
    /// A PodDisruptionBudget allows no eviction.
    PodDisruptionBudget,
    /// Its NodePool disrupts only empty nodes, or never consolidates.
    ConsolidationPolicy,
    /// `consolidateAfter` has not passed.
    ConsolidateAfter,
    /// Pods of Jobs would lose work that is worth more than what is saved.
    JobPods,
    /// The least age of a node that is replaced.
    LeastAge,
    /// Budgets of its NodePool.
    Budgets,
    /// The consolidation policy or the ranking policy declines the move.
    Policy,
    /// The move saves less than a move must, or takes back one of the last hour.
    LeastSaving,
    /// It is not ours, or something about it cannot be read.
    NotConsidered,
    /// No move was found that saves anything, or its pods have no other place.
    NoMove,
}

/// A snapshot in which a rule does not hold.
type Lift = fn(&Snapshot) -> Snapshot;

impl KeepReason {
    /// All of them, in order.
    pub const ALL: [Self; 12] = [
        Self::Moving,
        Self::DoNotDisrupt,
        Self::PodDisruptionBudget,
        Self::ConsolidationPolicy,
        Self::ConsolidateAfter,
        Self::JobPods,
        Self::LeastAge,
        Self::Budgets,
        Self::Policy,
        Self::LeastSaving,
        Self::NotConsidered,
        Self::NoMove,
    ];

    /// In words, to follow "nodes kept:".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Moving => "being moved or just started",
            Self::DoNotDisrupt => "do-not-disrupt",
            Self::PodDisruptionBudget => "PodDisruptionBudgets",
            Self::ConsolidationPolicy => "consolidationPolicy",
            Self::ConsolidateAfter => "consolidateAfter",
            Self::JobPods => "work of Jobs",
            Self::LeastAge => "least age of a node",
            Self::Budgets => "budgets of NodePools",
            Self::Policy => "a policy declines",
            Self::LeastSaving => "least saving",
            Self::NotConsidered => "not considered",
            Self::NoMove => "no move found",
        }
    }

    /// The kind of an outlook.
    pub fn of(outlook: &Outlook) -> Self {
        match outlook {
            Outlook::Goes(_) | Outlook::NotSearched | Outlook::DriftsLater => Self::Moving,
            Outlook::Blocked(blocked) => Self::of_blocked(blocked),
            Outlook::OverBudget(_) => Self::Budgets,
            Outlook::Unfit(unfit) => Self::of_unfit(unfit),
            Outlook::Declined(declined) => match declined.by {
                DeclinedBy::Budgets { .. } => Self::Budgets,
                DeclinedBy::Value | DeclinedBy::Ranking => Self::Policy,
                DeclinedBy::LeastSaving(_) | DeclinedBy::Reversal => Self::LeastSaving,
                DeclinedBy::LostWork(_) => Self::JobPods,
                DeclinedBy::LaterStage | DeclinedBy::OtherMove => Self::Moving,
            },
            Outlook::NoSaving {
                young_until: Some(_),
            } => Self::LeastAge,
            Outlook::NoSaving { young_until: None }
            | Outlook::NoPlace
            | Outlook::NotReplaceable(_) => Self::NoMove,
        }
    }

    /// The kinds for several nodes of a snapshot, whose outlooks `ask` knows. If no move is found for a node, `ask` is asked again as if
    /// NodePools had no budgets, and then as if a move had to save nothing: moves that break these rules are not looked for.
    pub fn of_nodes(
        snapshot: &Snapshot,
        rows: &[usize],
        ask: impl Fn(&Snapshot, &[usize]) -> Vec<Outlook>,
    ) -> Vec<Self> {
        let mut kinds: Vec<Self> = ask(snapshot, rows).iter().map(Self::of).collect();
        let lifted: [(Lift, Self); 2] = [
            (without_budgets, Self::Budgets),
            (without_least_saving, Self::LeastSaving),
        ];
        for (lift, rule) in lifted {
            if !kinds.contains(&Self::NoMove) {
                break;
            }
            let again = ask(&lift(snapshot), rows);
            for (kind, again) in kinds.iter_mut().zip(&again) {
                *kind = match (*kind, Self::of(again)) {
                    (Self::NoMove, Self::Moving) => rule,
                    (Self::NoMove, again) => again,
                    (kind, _) => kind,
                };
            }
        }
        kinds
    }

    fn of_blocked(blocked: &Blocked) -> Self {
        match blocked {
            Blocked::UnderWay
            | Blocked::NoNode
            | Blocked::NotInitialized
            | Blocked::Deleting
            | Blocked::Promised => Self::Moving,
            Blocked::NodeAsksToStay | Blocked::PodAsksToStay { .. } => Self::DoNotDisrupt,
            Blocked::SeveralBudgets { .. }
            | Blocked::BudgetUnset { .. }
            | Blocked::BudgetExhausted { .. } => Self::PodDisruptionBudget,
            Blocked::NotOurs
            | Blocked::NoPool
            | Blocked::ClaimNotUnderstood(_)
            | Blocked::PoolNotUnderstood(..)
            | Blocked::PoolUnusable(_) => Self::NotConsidered,
        }
    }

    fn of_unfit(unfit: &Unfit) -> Self {
        match unfit {
            Unfit::UnknownType | Unfit::NoCapacityType | Unfit::NoZone => Self::NotConsidered,
            Unfit::Static | Unfit::Never | Unfit::WhenEmptyOnly | Unfit::KeepsSpare => {
                Self::ConsolidationPolicy
            }
            Unfit::NotQuiet { .. } => Self::ConsolidateAfter,
            Unfit::RunsJob => Self::JobPods,
            Unfit::Young { .. } => Self::LeastAge,
            Unfit::Empty => Self::Moving,
        }
    }
}

/// The snapshot with NodePools whose budgets limit nothing.
fn without_budgets(snapshot: &Snapshot) -> Snapshot {
    let mut result = snapshot.clone();
    for pool in &mut result.pools {
        Arc::make_mut(pool).disruption.budgets.clear();
    }
    result
}

/// The snapshot with settings by which a move may save as little as it likes.
fn without_least_saving(snapshot: &Snapshot) -> Snapshot {
    let mut result = snapshot.clone();
    let churn = &mut Arc::make_mut(&mut result.settings).churn;
    churn.saving_percent = 0;
    churn.saving = PricePerHour::ZERO;
    churn.reversal_cooldown = Span::ZERO;
    result
}
