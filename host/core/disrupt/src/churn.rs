//! Guards against moving for moving's sake: a least age, a least saving, what Jobs lose, and no going back.
//!
//! They hold in pools packed by price; a pool packed as Karpenter packs has its rules alone.

use std::collections::BTreeSet;

use plimsoll_base::ids::{PoolName, TypeName};
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::plan::PlannedClaim;
use plimsoll_model::snapshot::{PastMove, Snapshot};
use plimsoll_model::{DisruptionReason, OwnerKind, PackingMode};

use super::candidate::Candidate;
use super::moves;
use super::pass::{BudgetsLeft, DisruptionPass};

/// `true` if a candidate's pool is packed by price, not by Karpenter's rules.
pub(super) fn is_packed_by_price(snapshot: &Snapshot, candidate: &Candidate) -> bool {
    let packing = snapshot.settings.packing.unwrap_or(candidate.pool.packing);
    packing == PackingMode::Price
}

fn is_guarded(snapshot: &Snapshot, candidate: &Candidate) -> bool {
    is_packed_by_price(snapshot, candidate) && snapshot.settings.guards.enabled
}

/// From when a candidate is old enough to be replaced; `None` where its pool has no such guard.
pub fn old_enough_from(snapshot: &Snapshot, candidate: &Candidate) -> Option<Timestamp> {
    let claim = snapshot.nodes[candidate.row].claim.as_ref()?;
    let age = snapshot.settings.churn.node_age;
    is_guarded(snapshot, candidate).then(|| claim.created + age)
}

/// `true` if a candidate stays for the sake of its pods of Jobs: because it is asked for, or because no move saves what they would lose.
pub fn is_spared(snapshot: &Snapshot, candidate: &Candidate) -> bool {
    let mut pods = candidate.pods.iter().map(|row| &snapshot.pods[*row]);
    let spares = snapshot.settings.churn.spare_jobs
        && is_guarded(snapshot, candidate)
        && pods.any(|pod| pod.is_owned_by(OwnerKind::Job));
    let lost = lost_work(snapshot, &[candidate]);
    spares || (lost > PricePerHour::ZERO && lost >= candidate.worth)
}

/// Use that a move makes of the budgets of its NodePools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetUse {
    /// Other nodes may be removed meanwhile.
    LeavesSome,
    /// No other node may be removed until this move has ended.
    UsesUp,
}

impl BudgetUse {
    /// The use by a move of these nodes where so much is left with it.
    pub(super) fn of(
        pass: &DisruptionPass<'_>,
        left: &BudgetsLeft,
        members: &[&Candidate],
    ) -> Self {
        let reason = DisruptionReason::Underutilized;
        let pools = members.iter().map(|own| &own.pool.name);
        let is_used_up = |pool: &&PoolName| {
            let left = left.get(&(PoolName::clone(pool), reason));
            left.is_none_or(|left| *left == 0)
        };
        let used_up: BTreeSet<&PoolName> = pools.filter(is_used_up).collect();
        let waits = |other: &Candidate| {
            used_up.contains(&other.pool.name) && !members.iter().any(|own| own.row == other.row)
        };
        if !used_up.is_empty() && pass.graceful.iter().any(waits) {
            Self::UsesUp
        } else {
            Self::LeavesSome
        }
    }
}

/// The least that a move of these nodes must save at the prices that decide to be worth it. One that buys nothing cannot be taken
/// back: it is worth whatever it saves beyond the work that Jobs lose by it. One that uses budgets up must save twice as much: while it is
/// under way, better ones wait.
pub fn least_saving(
    snapshot: &Snapshot,
    members: &[&Candidate],
    bought: &[PlannedClaim],
    budgets: BudgetUse,
) -> PricePerHour {
    let lost = lost_work(snapshot, members);
    let guarded = members.iter().any(|member| is_guarded(snapshot, member));
    if !guarded || bought.is_empty() {
        return lost.max(PricePerHour::from_nanos(1));
    }
    let price: PricePerHour = members.iter().map(|member| member.worth).sum();
    let guards = &snapshot.settings.churn;
    let percent = match budgets {
        BudgetUse::LeavesSome => guards.saving_percent,
        BudgetUse::UsesUp => guards.saving_percent.saturating_mul(2),
    };
    moves::least_of(price, guards.saving, percent).max(lost)
}

/// Work of Jobs that is lost if these nodes go, as the saving that makes up for it.
///
/// A pod that is moved does its work again, on the same share of a node. Waiting until the last of them has ended loses nothing but the
/// saving, and takes about as long as that pod has run already: processes that have lived for a while are as likely as not to live for
/// as long again (Harchol-Balter and Downey, Exploiting Process Lifetime Distributions for Dynamic Load Balancing, 1997). So a move is
/// worth it if what it saves in that time is more than the work costs, times `lost_work_percent`. With one pod of a Job its age does not
/// matter: the move must save so much of what the pod's share of its node costs.
pub fn lost_work(snapshot: &Snapshot, members: &[&Candidate]) -> PricePerHour {
    let (mut work, mut longest) = (0_i128, 0_i128);
    for member in members.iter().filter(|it| is_guarded(snapshot, it)) {
        let allocatable = snapshot.nodes[member.row].allocatable();
        let pods = member.pods.iter().map(|row| &snapshot.pods[*row]);
        for pod in pods.filter(|pod| pod.is_owned_by(OwnerKind::Job)) {
            let age = pod.started.map_or(0, |at| snapshot.now.since(at).millis());
            let age = i128::from(age.max(0));
            longest = longest.max(age);
            work += age * i128::from(share(member.worth, &pod.spec.requests, &allocatable));
        }
    }
    let percent = i128::from(snapshot.settings.churn.lost_work_percent);
    let lost = (work * percent / 100).checked_div(longest);
    PricePerHour::from_nanos(lost.map_or(0, |nanos| i64::try_from(nanos).unwrap_or(i64::MAX)))
}

/// A pod's share of what its node is worth, in nano-dollars an hour: that of the resource of which it has most.
fn share(worth: PricePerHour, requests: &Resources, allocatable: &Resources) -> i64 {
    let shares = requests.iter().map(|(name, amount)| {
        let all = i128::from(allocatable.get(name).max(amount).max(1));
        i128::from(worth.nanos()) * i128::from(amount.max(0)) / all
    });
    i64::try_from(shares.max().unwrap_or(0)).unwrap_or(i64::MAX)
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
