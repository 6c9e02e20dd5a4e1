//! Moves in stages: several nodes for one where budgets let only some of them go now.
//!
//! ```text
//! a, b, c ─► new         budget: one node at a time
//! first   a ─► new       bought with room for the pods of a, b and c
//! later   b ─► new       found by later passes, as nodes whose pods have room elsewhere
//! ```
//!
//! The dearest nodes go first, so that little is paid twice, and a move is made only if an hour's saving pays for that. It must be worth
//! it as a whole, and is confirmed as a whole. Until the first nodes have gone, those that go later stay out of other moves. What comes in
//! between (a pod that takes the room, a budget that closes) leaves a node that is larger than needed, a candidate like any other.
//!
//! Pools packed by Karpenter's rules make such moves at once or not at all.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Span;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::command::{Command, LaterNode};
use plimsoll_model::plan::PlannedClaim;
use plimsoll_model::snapshot::Snapshot;

use super::candidate::Candidate;
use super::churn;
use super::moves::Move;
use super::pass::{BudgetsLeft, take};

/// Time that a stage takes beside `consolidateAfter`: the room is found, the move holds for 15 s, pods are evicted and start.
const STAGE: Span = Span::from_secs(120);

/// Time in which a move must earn what is paid twice meanwhile.
const EARNED_WITHIN: Span = Span::from_secs(3600);

/// Takes the nodes of a move that go now out of what budgets leave; rows of those that go later, `None` where the move cannot be made.
pub(super) fn take_now(
    snapshot: &Snapshot,
    left: &mut BudgetsLeft,
    found: &Move,
    members: &[&Candidate],
) -> Option<BTreeSet<usize>> {
    if take(left, members) {
        return Some(BTreeSet::new());
    }
    let [claim] = found.claims.as_slice() else {
        return None;
    };
    let by_price = |member: &&Candidate| churn::is_packed_by_price(snapshot, member);
    if !members.iter().all(by_price) || !found.receivers().is_empty() {
        return None;
    }
    let mut dearest_first = members.to_vec();
    dearest_first.sort_by_key(|member| (Reverse(member.worth), member.row));
    let mut rest = left.clone();
    let (now, later): (Vec<&Candidate>, Vec<&Candidate>) = dearest_first
        .into_iter()
        .partition(|member| take(&mut rest, &[*member]));
    let is_made = !now.is_empty() && earns_in_time(found.saving, claim, &now, &later);
    is_made.then(|| {
        *left = rest;
        later.iter().map(|member| member.row).collect()
    })
}

/// `true` if an hour's saving makes up for the new node until the last of the others has gone.
fn earns_in_time(
    saving: PricePerHour,
    claim: &PlannedClaim,
    now: &[&Candidate],
    later: &[&Candidate],
) -> bool {
    let pools = now.iter().chain(later).map(|member| &member.pool);
    let after = pools.filter_map(|pool| pool.disruption.consolidate_after);
    let stage = STAGE + after.max().unwrap_or_default();
    let stages = i128::try_from(later.len().div_ceil(now.len())).unwrap_or(i128::MAX);
    let price = claim.chosen().map_or(0, |option| option.price.nanos());
    let paid = i128::from(price) * i128::from(stage.millis());
    paid.saturating_mul(stages) <= i128::from(saving.nanos()) * i128::from(EARNED_WITHIN.millis())
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
