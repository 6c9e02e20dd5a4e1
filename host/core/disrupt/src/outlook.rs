//! Outlook of one node: the command that takes it away, or the first rule that keeps it, as a disruption pass finds it.
//!
//! It is read off a proposal before its commands are made, with the values that policies gave its moves. Rules are those of the
//! pass, in its order: empty nodes, drifted ones, moves.

use std::fmt;

use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::DisruptionReason;
use plimsoll_model::command::Command;
use plimsoll_model::snapshot::Snapshot;

use super::budget::PoolAllowance;
use super::candidate::{Blocked, Candidate};
use super::churn;
use super::consolidate::{self, Unfit};
use super::pass::{DisruptionPass, Proposal, without};

/// Why a node goes or stays.
#[derive(Clone, Debug, PartialEq)]
pub enum Outlook {
    /// A command takes it away.
    Goes(Box<Command>),
    /// It may not be disrupted.
    Blocked(Blocked),
    /// Budgets let no node of its pool go for the reason.
    OverBudget(OverBudget),
    /// It has drifted, and its pods find no place without it.
    NoPlace,
    /// It has drifted, and others go first.
    DriftsLater,
    /// It has drifted, and its pool of a fixed size cannot replace it now, in words.
    NotReplaceable(String),
    /// Consolidation leaves it alone.
    Unfit(Unfit),
    /// No savings are looked for, since nodes go that are empty or drifted.
    NotSearched,
    /// A move was found that takes it away, and is not made.
    Declined(Declined),
    /// No move that takes it away saves anything.
    NoSaving {
        /// From when it may be replaced, where it is too young for it; until then it could go only for nothing in its place.
        young_until: Option<Timestamp>,
    },
}

/// Budgets of a pool that let none of its nodes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// The pool.
    pub pool: PoolName,
    /// The reason that the node would go for.
    pub reason: DisruptionReason,
    /// Nodes that may be down at once by the pool's own budgets.
    pub allowed: u32,
    /// Nodes that are down: not ready, or deleting.
    pub down: u32,
    /// When a window of its budgets opens or ends; `None` where no schedule is involved.
    pub until: Option<Timestamp>,
}

/// The best move that takes a node away, and who declined it.
#[derive(Clone, Debug, PartialEq)]
pub struct Declined {
    /// Saving per hour at the prices that decide.
    pub saving: PricePerHour,
    /// Value per hour by the consolidation policy; the saving where none is asked.
    pub value: PricePerHour,
    /// Pods that would be evicted.
    pub pods: usize,
    /// The rule.
    pub by: DeclinedBy,
}

/// Rule that a move does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclinedBy {
    /// It is worth nothing to the policy that values moves.
    Value,
    /// It saves less than a move that buys something must.
    LeastSaving(PricePerHour),
    /// It saves less than makes up for the work that Jobs would lose.
    LostWork(PricePerHour),
    /// It would take back a move of the last hour.
    Reversal,
    /// The ranking policy would take it back.
    Ranking,
    /// It is made now, and budgets let other nodes of it go first.
    LaterStage,
    /// Budgets do not let so many nodes go at once.
    Budgets {
        /// Nodes of the move.
        nodes: usize,
    },
    /// A better move touches the same nodes, or takes what budgets leave.
    OtherMove,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pool, reason) = (&self.pool, self.reason.as_str());
        let (allowed, down) = (self.allowed, self.down);
        match allowed.saturating_sub(down) {
            0 => write!(
                f,
                "budgets of pool {pool} allow {allowed} disrupted for {reason}, and {down} are"
            ),
            _ => write!(f, "budgets leave no node of pool {pool} for {reason}"),
        }
    }
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (saving, pods) = (self.saving, self.pods);
        match self.by {
            DeclinedBy::Value => write!(
                f,
                "consolidation value {} (saving {saving}, pods evicted {pods})",
                self.value
            ),
            DeclinedBy::LeastSaving(least) => write!(
                f,
                "consolidation would save {saving}, less than the {least} that a move must"
            ),
            DeclinedBy::LostWork(lost) => write!(
                f,
                "consolidation would save {saving}, less than the {lost} that makes up for work its Jobs would lose"
            ),
            DeclinedBy::Reversal => write!(
                f,
                "consolidation would save {saving}, and would take back a move of the last hour"
            ),
            DeclinedBy::Ranking => write!(
                f,
                "consolidation would save {saving}, and the ranking policy would take it back"
            ),
            DeclinedBy::LaterStage => write!(
                f,
                "consolidation saves {saving} with other nodes, which budgets let go first"
            ),
            DeclinedBy::Budgets { nodes } => write!(
                f,
                "consolidation would save {saving} with {nodes} nodes, and budgets do not let so many go at once"
            ),
            DeclinedBy::OtherMove => write!(
                f,
                "consolidation would save {saving}, and a better move comes first"
            ),
        }
    }
}

impl fmt::Display for Outlook {
    /// A sentence without a full stop.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NOT_NOW: &str = "not disrupted now";
        match self {
            Self::Goes(command) => write!(f, "disrupted now: {}", command.reason.facts().because),
            Self::Blocked(blocked) => write!(f, "{NOT_NOW}: {blocked}"),
            Self::OverBudget(over) => write!(f, "{NOT_NOW}: {over}"),
            Self::NoPlace => write!(f, "{NOT_NOW}: its pods find no other place"),
            Self::DriftsLater => write!(f, "{NOT_NOW}: other nodes go first"),
            Self::NotReplaceable(words) => write!(f, "{NOT_NOW}: {words}"),
            Self::Unfit(unfit) => write!(f, "not consolidated now: {unfit}"),
            Self::NotSearched => write!(
                f,
                "{NOT_NOW}: savings are looked for once no node is empty or drifted"
            ),
            Self::Declined(declined) => write!(f, "{NOT_NOW}: {declined}"),
            Self::NoSaving { young_until: None } => {
                write!(f, "{NOT_NOW}: consolidation found no saving")
            }
            Self::NoSaving {
                young_until: Some(_),
            } => write!(
                f,
                "{NOT_NOW}: its pods do not fit on other nodes, and {}",
                Unfit::Young {
                    from: Timestamp::default()
                }
            ),
        }
    }
}

impl Outlook {
    /// When the rule that keeps the node ends by itself; `None` where that is not known.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Blocked(blocked) => blocked.until(),
            Self::OverBudget(over) => over.until,
            Self::Unfit(unfit) => unfit.until(),
            Self::NoSaving { young_until } => *young_until,
            _ => None,
        }
    }
}

/// The outlook of the node in a row without policies: declared budgets alone, and moves worth what they save.
pub fn outlook(snapshot: &Snapshot, row: usize) -> Outlook {
    DisruptionPass::at(snapshot, true)
        .propose()
        .outlook(row, None)
}

impl Proposal<'_, '_> {
    /// The outlook of the node in a row. `values` are those that [`Proposal::decide`] is given.
    pub fn outlook(&self, row: usize, values: Option<&[PricePerHour]>) -> Outlook {
        if let Some(command) = self.command_about(row, values) {
            return Outlook::Goes(Box::new(command));
        }
        if let Some(held) = self.held_drift(row) {
            return held;
        }
        let mut blocked = self.pass().blocked.iter();
        if let Some((_, why)) = blocked.find(|(blocked, _)| *blocked == row) {
            return Outlook::Blocked(why.clone());
        }
        let mut may = self.pass().graceful.iter();
        match may.find(|candidate| candidate.row == row) {
            Some(candidate) => self.held_saving(candidate, values),
            None => Outlook::Blocked(Blocked::NotOurs),
        }
    }

    fn command_about(&self, row: usize, values: Option<&[PricePerHour]>) -> Option<Command> {
        let name = &self.snapshot().nodes[row].claim.as_ref()?.name;
        let mut decided = self.decided.iter();
        let decided = decided.find(|command| command.members.contains(name));
        decided.cloned().or_else(|| self.move_about(row, values))
    }

    /// The rule that keeps a drifted node; `None` for any other.
    fn held_drift(&self, row: usize) -> Option<Outlook> {
        let mut drifted = self.pass().drifted().iter();
        let candidate = drifted.find(|candidate| candidate.row == row)?;
        let mut held = self.held_static.iter();
        if let Some((_, words)) = held.find(|(held, _)| *held == row) {
            return Some(Outlook::NotReplaceable(words.clone()));
        }
        let over = self.over_budget(candidate, DisruptionReason::Drifted);
        Some(match over {
            Some(over) => over,
            None if without(self.pass(), candidate).is_none() => Outlook::NoPlace,
            None => Outlook::DriftsLater,
        })
    }

    fn held_saving(&self, candidate: &Candidate, values: Option<&[PricePerHour]>) -> Outlook {
        let snapshot = self.snapshot();
        let is_empty = candidate.cost.is_of_empty();
        let fits = if is_empty {
            consolidate::fits_emptiness(snapshot, candidate)
        } else {
            consolidate::fits_consolidation(snapshot, candidate)
        };
        let mut unfit = self.unfit.iter();
        let spare = unfit.find(|(row, why)| *row == candidate.row && *why == Unfit::KeepsSpare);
        let spare = spare.map(|(_, why)| why.clone());
        if let Some(unfit) = fits.err().or(spare) {
            return Outlook::Unfit(unfit);
        }
        let reason = if is_empty {
            DisruptionReason::Empty
        } else {
            DisruptionReason::Underutilized
        };
        if let Some(over) = self.over_budget(candidate, reason) {
            return over;
        }
        if is_empty {
            return Outlook::DriftsLater;
        }
        if !self.searched {
            return Outlook::NotSearched;
        }
        match self.declined(candidate.row, values) {
            Some(declined) => Outlook::Declined(declined),
            None => Outlook::NoSaving {
                young_until: churn::old_enough_from(snapshot, candidate)
                    .filter(|from| *from > snapshot.now),
            },
        }
    }

    fn over_budget(&self, candidate: &Candidate, reason: DisruptionReason) -> Option<Outlook> {
        let pool = &candidate.pool.name;
        let left = self.left.get(&(pool.clone(), reason)).copied();
        if left.unwrap_or(0) > 0 {
            return None;
        }
        let is_own = |row: &&PoolAllowance| row.pool == *pool && row.reason == reason;
        let allowance = self.pass().allowances.iter().find(is_own)?;
        Some(Outlook::OverBudget(OverBudget {
            pool: pool.clone(),
            reason,
            allowed: allowance.declared.nodes,
            down: allowance.nodes.down,
            until: allowance.declared.until,
        }))
    }
}
