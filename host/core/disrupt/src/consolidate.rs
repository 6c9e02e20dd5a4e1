//! Candidates that consolidation considers, and why it skips the others.
//!
//! Rules and order are Karpenter's, and two guards of ours after them (`churn`): work of Jobs is not lost for less than it is worth,
//! and a node that is replaced has a least age. A node counts as consolidatable when `consolidateAfter` has passed since its last pod event.

use std::fmt;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::snapshot::{Activity, Snapshot};
use plimsoll_model::{ClaimPhase, ConsolidationPolicy, NodeClaim, NodePool};

use super::candidate::Candidate;
use super::churn;

/// Why consolidation leaves a candidate alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Its pool keeps a fixed number of nodes.
    Static,
    /// Its type is not sold, so that it has no price.
    UnknownType,
    /// It carries no label of its capacity type.
    NoCapacityType,
    /// It carries no label of its zone.
    NoZone,
    /// Its pool never consolidates.
    Never,
    /// It is empty: emptiness is to take it.
    Empty,
    /// Its pool consolidates only what is empty.
    WhenEmptyOnly,
    /// A pod came, ended or was asked to go too short a time ago.
    NotQuiet {
        /// When it will be consolidatable.
        from: Timestamp,
    },
    /// It is empty, and its room is kept for pods that are yet to come.
    KeepsSpare,
    /// Pods of Jobs run there whose work would be lost, and no move would make up for it.
    RunsJob,
    /// It is younger than any node that is replaced to save money.
    Young {
        /// When it will be old enough.
        from: Timestamp,
    },
}

impl Unfit {
    /// When it ends by itself.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::NotQuiet { from } | Self::Young { from } => Some(*from),
            _ => None,
        }
    }

    /// `true` if people are told: of what they can change.
    pub fn is_told(&self) -> bool {
        matches!(
            self,
            Self::UnknownType
                | Self::NoCapacityType
                | Self::NoZone
                | Self::Never
                | Self::WhenEmptyOnly
                | Self::KeepsSpare
        )
    }
}

impl fmt::Display for Unfit {
    /// In words, to follow "not consolidated now: ".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Static => "its pool keeps a fixed number of nodes",
            Self::UnknownType => "its instance type is not sold any more",
            Self::NoCapacityType => "it has no label of its capacity type",
            Self::NoZone => "it has no label of its zone",
            Self::Never => "its pool has consolidateAfter: Never",
            Self::Empty => "it is empty and is removed as such",
            Self::WhenEmptyOnly => "its pool has consolidationPolicy: WhenEmpty",
            Self::NotQuiet { .. } => "pods came or went there less than consolidateAfter ago",
            Self::KeepsSpare => "it is empty, and its room is kept by a capacity buffer",
            Self::RunsJob => "a pod of a Job runs there, whose work would be lost",
            Self::Young { .. } => "it is younger than any node that is replaced to save money",
        })
    }
}

/// From when a node counts as consolidatable, if nothing happens there; `None` while it is not complete, and in pools that never
/// consolidate or keep a fixed number.
pub fn consolidatable_from(
    pool: &NodePool,
    claim: &NodeClaim,
    last_pod_event: Option<Timestamp>,
) -> Option<Timestamp> {
    let after = pool.disruption.consolidate_after?;
    let complete = claim.phase() == ClaimPhase::Initialized && pool.replicas.is_none();
    let since = last_pod_event.map_or(claim.phase_since(), |at| at.max(claim.phase_since()));
    complete.then(|| since + after)
}

fn claim_of<'s>(snapshot: &'s Snapshot, candidate: &Candidate) -> Option<&'s NodeClaim> {
    snapshot.nodes[candidate.row].claim.as_deref()
}

/// From when a candidate counts as consolidatable.
pub fn candidate_consolidatable_from(
    snapshot: &Snapshot,
    candidate: &Candidate,
) -> Option<Timestamp> {
    let claim = claim_of(snapshot, candidate)?;
    let last = snapshot.activity.pod_events.get(&claim.name).copied();
    consolidatable_from(&candidate.pool, claim, last)
}

/// `Ok` if an empty candidate may go as such, else the first rule that it does not meet.
pub fn fits_emptiness(snapshot: &Snapshot, candidate: &Candidate) -> Result<(), Unfit> {
    if candidate.pool.replicas.is_some() {
        return Err(Unfit::Static);
    }
    is_consolidatable(snapshot, candidate)
}

fn is_consolidatable(snapshot: &Snapshot, candidate: &Candidate) -> Result<(), Unfit> {
    match candidate_consolidatable_from(snapshot, candidate) {
        None => Err(Unfit::Never),
        Some(from) if from > snapshot.now => Err(Unfit::NotQuiet { from }),
        Some(_) => Ok(()),
    }
}

/// `Ok` if consolidation may take a candidate, else the first rule that it does not meet.
pub fn fits_consolidation(snapshot: &Snapshot, candidate: &Candidate) -> Result<(), Unfit> {
    let disruption = &candidate.pool.disruption;
    let refusals = [
        (candidate.pool.replicas.is_some(), Unfit::Static),
        (candidate.instance_type.is_none(), Unfit::UnknownType),
        (candidate.capacity_type.is_none(), Unfit::NoCapacityType),
        (candidate.zone.is_none(), Unfit::NoZone),
        (disruption.consolidate_after.is_none(), Unfit::Never),
        (candidate.cost.is_of_empty(), Unfit::Empty),
        (
            disruption.policy == ConsolidationPolicy::WhenEmpty,
            Unfit::WhenEmptyOnly,
        ),
    ];
    if let Some((_, unfit)) = refusals.into_iter().find(|(refused, _)| *refused) {
        return Err(unfit);
    }
    is_consolidatable(snapshot, candidate)?;
    if churn::is_spared(snapshot, candidate) {
        return Err(Unfit::RunsJob);
    }
    Ok(())
}

/// `Ok` if a candidate that consolidation may take may go for a new node too, not only for none.
pub fn fits_replacement(snapshot: &Snapshot, candidate: &Candidate) -> Result<(), Unfit> {
    match churn::old_enough_from(snapshot, candidate) {
        Some(from) if from > snapshot.now => Err(Unfit::Young { from }),
        _ => Ok(()),
    }
}

/// Nodes that take no pods of others during consolidation: those that are not complete, and those inside their own pool's
/// `consolidateAfter`, unless it is zero or never. Rows of the snapshot.
pub fn excluded(snapshot: &Snapshot) -> Vec<usize> {
    let is_excluded = |(row, node): (usize, &plimsoll_model::snapshot::StateNode)| {
        if !node.is_initialized() {
            return Some(row);
        }
        let claim = node.claim.as_ref()?;
        let pool = snapshot.pool(claim.pool.as_str())?;
        let settling = pool.disruption.consolidate_after > Some(Span::ZERO)
            && consolidatable_from(pool, claim, event_of(&snapshot.activity, &claim.name))
                .is_some_and(|from| from > snapshot.now);
        settling.then_some(row)
    };
    let nodes = snapshot.nodes.iter().enumerate();
    nodes.filter_map(is_excluded).collect()
}

fn event_of(activity: &Activity, claim: &ClaimName) -> Option<Timestamp> {
    activity.pod_events.get(claim).copied()
}
