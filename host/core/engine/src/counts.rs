//! Counts of what the engine has decided since it began, for those who keep figures: claims made and asked to go, commands begun,
//! failed and not confirmed.
//!
//! A claim counts once it is seen as asked for, so that an answer that was lost or came twice changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels;
use plimsoll_base::time::Timestamp;
use plimsoll_cluster::Cluster;
use plimsoll_disrupt::budget::{Headcount, PoolAllowance};
use plimsoll_lifecycle::DeletionCause;
use plimsoll_model::catalogue::Market;
use plimsoll_model::command::Command;
use plimsoll_model::snapshot::StateNode;
use plimsoll_model::{DisruptionReason, NodeClaim, NodePool};

use super::Engine;
use super::resume::command_reason;

/// Counts since the engine began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineCounts {
    /// Claims that were made.
    pub created: BTreeMap<CreatedClaim, u64>,
    /// Claims that were asked to go, by cause, pool and capacity type; empty where the claim does not say which.
    pub deleted: BTreeMap<(DeletionCause, PoolName, Arc<str>), u64>,
    /// Commands begun.
    pub commands: BTreeMap<CommandKind, u64>,
    /// The same by pool: one that takes nodes of several counts for each.
    pub commands_by_pool: BTreeMap<(PoolName, CommandKind), u64>,
    /// Replacements that had not come when their command was taken back.
    pub failed_replacements: BTreeMap<CommandKind, u64>,
    /// Commands that no longer held when they were looked at again.
    pub unconfirmed: BTreeMap<CommandKind, u64>,
}

/// Kind of a claim that was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CreatedClaim {
    /// Its pool.
    pub pool: PoolName,
    /// Reason of the command that it was bought for; `None` where it was bought for waiting pods or a static pool.
    pub replaces: Option<DisruptionReason>,
    /// `true` if a minimum of values was lowered for it.
    pub min_values_relaxed: bool,
}

/// Kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandKind {
    /// Its reason.
    pub reason: DisruptionReason,
    /// `true` if something is bought in place of what goes.
    pub replaces: bool,
    /// `true` if more than one node goes.
    pub is_multi: bool,
}

impl CommandKind {
    /// The kind of a command that takes so many nodes and buys so many.
    pub fn new(reason: DisruptionReason, members: usize, replacements: usize) -> Self {
        Self {
            reason,
            replaces: replacements > 0,
            is_multi: members > 1,
        }
    }

    /// The kind of a command.
    pub fn of(command: &Command) -> Self {
        let replacements = command.plan.claims.len();
        Self::new(command.reason, command.members.len(), replacements)
    }
}

impl EngineCounts {
    /// A command begins.
    pub(super) fn begin(&mut self, command: &Command, cluster: &Cluster) {
        let kind = CommandKind::of(command);
        *self.commands.entry(kind).or_default() += 1;
        let claims = command.members.iter();
        let claims = claims.filter_map(|name| cluster.claims.get(name));
        let mut pools: Vec<&PoolName> = claims.map(|claim| &claim.pool).collect();
        pools.sort_unstable();
        pools.dedup();
        for pool in pools {
            let key = (pool.clone(), kind);
            *self.commands_by_pool.entry(key).or_default() += 1;
        }
    }

    /// A command is taken back while so many replacements have not come.
    pub(super) fn roll_back(&mut self, kind: CommandKind, missing: usize) {
        let missing = u64::try_from(missing).unwrap_or(u64::MAX);
        *self.failed_replacements.entry(kind).or_default() += missing;
    }

    /// A command does not hold any more.
    pub(super) fn lapse(&mut self, kind: CommandKind) {
        *self.unconfirmed.entry(kind).or_default() += 1;
    }

    fn create(&mut self, claim: &NodeClaim) {
        let relaxed = claim.annotations.get(labels::MIN_VALUES_RELAXED);
        let created = CreatedClaim {
            pool: claim.pool.clone(),
            replaces: command_reason(claim),
            min_values_relaxed: relaxed.is_some_and(|value| &**value == "true"),
        };
        *self.created.entry(created).or_default() += 1;
    }

    fn delete(&mut self, claim: &NodeClaim, cause: DeletionCause) {
        let capacity_type = claim.labels.get(labels::CAPACITY_TYPE);
        let capacity_type = capacity_type.cloned().unwrap_or_default();
        let key = (cause, claim.pool.clone(), capacity_type);
        *self.deleted.entry(key).or_default() += 1;
    }
}

impl Engine {
    /// Catalogues, less what was out of stock a moment ago.
    pub fn market(&self) -> &Market {
        &self.market
    }

    /// Counts of what was decided so far.
    pub fn counts(&self) -> &EngineCounts {
        &self.counts
    }

    /// Nodes that are worth disrupting, by reason: empty, drifted, or consolidatable and not empty.
    pub fn eligible(&self) -> [(DisruptionReason, usize); DisruptionReason::ALL.len()] {
        let hints = self.notes.hints();
        DisruptionReason::ALL.map(|reason| {
            let nodes = match reason {
                DisruptionReason::Empty => hints.empty,
                DisruptionReason::Underutilized => hints.consolidatable,
                DisruptionReason::Drifted => hints.drifted,
            };
            (reason, nodes)
        })
    }

    /// Allowances of every pool for every reason, by what pools declare.
    pub fn allowances(&self, now: Timestamp) -> Vec<PoolAllowance> {
        let mut heads: BTreeMap<PoolName, Headcount> = BTreeMap::new();
        for claim in self.cluster.claims.unordered() {
            let Some(node) = self.cluster.nodes_of(claim).first() else {
                continue;
            };
            let mut claim = Arc::clone(claim);
            if claim.deleting.is_none() && self.cluster.is_deleting(&node.name) {
                Arc::make_mut(&mut claim).deleting = Some(now);
            }
            let pool = claim.pool.clone();
            let node = StateNode {
                node: Some(Arc::clone(node)),
                claim: Some(claim),
            };
            heads.entry(pool).or_default().add(&node);
        }
        let pools = self.cluster.pools.sorted().into_iter();
        let of_pool = |pool: &Arc<NodePool>| {
            let nodes = heads.get(&pool.name).copied().unwrap_or_default();
            DisruptionReason::ALL.map(|reason| PoolAllowance::of(pool, reason, nodes, now))
        };
        pools.flat_map(of_pool).collect()
    }

    /// A claim is seen that was asked for, for the first time.
    pub(super) fn count_created(&mut self, claim: &NodeClaim) {
        if self.expected.get(&claim.name).is_some() {
            self.counts.create(claim);
        }
    }

    /// A claim is seen to go, or is gone: it counts where we asked it to.
    pub(super) fn count_deleted(&mut self, claim: &NodeClaim) {
        let asked = self.notes.get(&claim.name).and_then(|own| own.deletes);
        if let Some(cause) = asked {
            self.notes.of(&claim.name).deletes = None;
            self.counts.delete(claim, cause);
        }
    }
}
