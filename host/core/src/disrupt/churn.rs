//! Guards against moving for moving's sake: a least age, a least saving, no work of Jobs lost, and no going back.
//!
//! They hold in pools packed by price; a pool packed as the incumbent packs has the incumbent's rules alone.

use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::moves;
use crate::ids::{PoolName, TypeName};
use crate::model::{OwnerKind, PackingMode};
use crate::plan::PlannedClaim;
use crate::snapshot::{PastMove, Snapshot};
use crate::time::Timestamp;
use crate::units::PricePerHour;

fn is_guarded(snapshot: &Snapshot, candidate: &Candidate) -> bool {
    let packing = snapshot.settings.packing.unwrap_or(candidate.pool.packing);
    packing == PackingMode::Price && snapshot.settings.guards.enabled
}

/// From when a candidate is old enough to be replaced; `None` where its pool has no such guard.
pub fn old_enough_from(snapshot: &Snapshot, candidate: &Candidate) -> Option<Timestamp> {
    let claim = snapshot.nodes[candidate.row].claim.as_ref()?;
    let age = snapshot.settings.churn.node_age;
    is_guarded(snapshot, candidate).then(|| claim.created + age)
}

/// `true` if a candidate runs pods of Jobs, whose work would be lost, in a pool that spares them.
pub fn is_spared(snapshot: &Snapshot, candidate: &Candidate) -> bool {
    let mut pods = candidate.pods.iter().map(|row| &snapshot.pods[*row]);
    snapshot.settings.churn.spare_jobs
        && is_guarded(snapshot, candidate)
        && pods.any(|pod| pod.is_owned_by(OwnerKind::Job))
}

/// The least that a move of these nodes must save at the prices that decide to be worth it. One that buys nothing cannot be taken
/// back: whatever it saves is worth it.
pub fn least_saving(
    snapshot: &Snapshot,
    members: &[&Candidate],
    bought: &[PlannedClaim],
) -> PricePerHour {
    let guarded = members.iter().any(|member| is_guarded(snapshot, member));
    if !guarded || bought.is_empty() {
        return PricePerHour::from_nanos(1);
    }
    let price: PricePerHour = members.iter().map(|member| member.worth).sum();
    let guards = &snapshot.settings.churn;
    moves::least_of(price, guards.saving, guards.saving_percent)
}

/// The past move that a move would take back: types that it brought would go, types that it took away would come.
pub fn is_reversal<'s>(
    snapshot: &'s Snapshot,
    members: &[&Candidate],
    bought: &[PlannedClaim],
) -> Option<&'s PastMove> {
    let (from, to) = (types_of(members), types_bought(bought));
    let since = snapshot.now - snapshot.settings.churn.reversal_cooldown;
    let pools: BTreeSet<&PoolName> = members.iter().map(|member| &member.pool.name).collect();
    let guarded = members.iter().any(|member| is_guarded(snapshot, member));
    let mut past = snapshot.activity.moves.iter();
    past.find(|past| {
        guarded
            && past.at > since
            && past.pools.iter().any(|pool| pools.contains(pool))
            && !past.from.is_disjoint(&to)
            && !past.to.is_disjoint(&from)
    })
}

/// The move as later ones remember it, so that none reverses it within the cooldown.
pub fn remembered(
    snapshot: &Snapshot,
    members: &[&Candidate],
    bought: &[PlannedClaim],
) -> PastMove {
    PastMove {
        at: snapshot.now,
        pools: members
            .iter()
            .map(|member| member.pool.name.clone())
            .collect(),
        from: types_of(members),
        to: types_bought(bought),
    }
}

fn types_of(members: &[&Candidate]) -> BTreeSet<TypeName> {
    let listed = members.iter().filter_map(|m| m.instance_type.as_ref());
    listed.map(|listed| listed.name.clone()).collect()
}

fn types_bought(bought: &[PlannedClaim]) -> BTreeSet<TypeName> {
    let chosen = bought.iter().filter_map(|claim| claim.chosen());
    chosen.map(|option| option.instance_type.clone()).collect()
}
