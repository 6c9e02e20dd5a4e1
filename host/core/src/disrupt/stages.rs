//! Moves in stages: several nodes for one where budgets let only some of them go now.
//!
//! ```text
//! a, b, c ─► new         budget: one node at a time
//! first   a ─► new       bought with room for the pods of a, b and c
//! later   b ─► new       found by later passes, as nodes whose pods have room elsewhere
//! ```
//!
//! The dearest nodes go first, so that little is paid twice. The move as a whole must be worth it, and is confirmed as a whole. Until the
//! first nodes have gone, those that go later stay out of other moves. What comes in between (a pod that takes the room, a budget that
//! closes) leaves a node that is larger than needed, which is a candidate like any other.
//!
//! Pools packed by Karpenter's rules make such moves at once or not at all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::candidate::Candidate;
use super::moves::Move;
use super::pass::take;
use crate::command::{Command, LaterNode};
use crate::ids::{ClaimName, PoolName};
use crate::model::{DisruptionReason, PackingMode};
use crate::snapshot::Snapshot;
use crate::units::PricePerHour;

/// `true` if a node may be one of those that go later.
pub(super) fn may_wait(snapshot: &Snapshot, candidate: &Candidate) -> bool {
    let packing = snapshot.settings.packing.unwrap_or(candidate.pool.packing);
    packing == PackingMode::Price
}

/// Takes the nodes of a move that go now out of what budgets leave; rows of those that go later, `None` where the move cannot be made.
pub(super) fn take_now(
    snapshot: &Snapshot,
    left: &mut BTreeMap<(PoolName, DisruptionReason), u32>,
    found: &Move,
    members: &[&Candidate],
) -> Option<BTreeSet<usize>> {
    if take(left, members) {
        return Some(BTreeSet::new());
    }
    let all_to_one = found.claims.len() == 1 && found.receivers().is_empty();
    if !all_to_one || !members.iter().all(|member| may_wait(snapshot, member)) {
        return None;
    }
    let mut dearest_first = members.to_vec();
    dearest_first.sort_by_key(|member| (Reverse(member.worth), member.row));
    let mut later = BTreeSet::new();
    for member in dearest_first {
        if !take(left, &[member]) {
            later.insert(member.row);
        }
    }
    (later.len() < members.len()).then_some(later)
}

/// The first stage of a command for all nodes of a move: `members` are all of them, `later` the rows of those that go later.
pub(super) fn first_stage(
    mut command: Command,
    members: &[&Candidate],
    later: &BTreeSet<usize>,
) -> Command {
    let (later, now): (Vec<&Candidate>, Vec<&Candidate>) = members
        .iter()
        .partition(|member| later.contains(&member.row));
    if later.is_empty() {
        return command;
    }
    let stay: BTreeSet<usize> = later
        .iter()
        .flat_map(|it| it.pods.iter().copied())
        .collect();
    command.plan.placements.retain(|it| !stay.contains(&it.pod));
    let of_now = |claim: &ClaimName| now.iter().any(|member| member.claim == *claim);
    let kept = command.members.into_iter().zip(command.prices);
    (command.members, command.prices) = kept.filter(|(claim, _)| of_now(claim)).unzip();
    let listed: PricePerHour = later.iter().map(|member| member.price).sum();
    command.list_saving = command.list_saving - listed;
    command.later = later
        .iter()
        .map(|member| LaterNode {
            claim: member.claim.clone(),
            price: member.price,
        })
        .collect();
    command.later.sort_unstable_by(|a, b| a.claim.cmp(&b.claim));
    command
}
