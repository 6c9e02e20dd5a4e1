//! A plan's effect on its pools as a whole: limits, reservations, weights. Sections 10, 19 and 21 of the scheduling contract.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ReservationId;
use plimsoll_base::labels::LabelKey;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::catalogue::LAUNCH_ORDER_ANNOTATION;
use plimsoll_model::plan::{LaunchOption, Plan, PlannedClaim};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ClaimPhase, NodeClaim, PackingMode, Pod};

use super::alone;
use super::finding::{Breach, Finding, Place, Rule, Subject};
use super::host::Host;
use super::listings::Listings;
use super::market::Shop;

/// Limits of every pool that the plan buys for: with the chosen options, and with the largest that may come.
pub(super) fn limits(
    snapshot: &Snapshot,
    listings: &Listings<'_>,
    shops: &[Shop],
    plan: &Plan,
) -> Vec<Finding> {
    let mut result = Vec::new();
    for shop in shops {
        let pool = &shop.pool;
        let claims = || plan.claims.iter().filter(|claim| claim.pool == pool.name);
        let Some(limits) = &pool.limits else { continue };
        if claims().next().is_none() {
            continue;
        }
        let mut used = Resources::new();
        let ours = snapshot
            .nodes
            .iter()
            .filter(|node| !node.is_deleting() && node.pool().as_ref() == Some(&pool.name));
        for node in ours {
            used.add(&node.capacity());
        }
        let chosen = claims().map(|claim| capacity(listings, claim, claim.options.iter().take(1)));
        let worst = claims().map(|claim| capacity(listings, claim, claim.options.iter()));
        let breach = exceeded(Rule::PoolLimit, limits, &used, chosen)
            .or_else(|| exceeded(Rule::PoolLimitAtWorst, limits, &used, worst));
        result.extend(breach.map(|breach| breach.about(Subject::Pool(pool.name.clone()))));
    }
    result
}

/// The most of each resource that one of some options brings, with the node itself.
fn capacity<'a>(
    listings: &Listings<'_>,
    claim: &PlannedClaim,
    options: impl Iterator<Item = &'a LaunchOption>,
) -> Resources {
    let of_option = |option: &LaunchOption| {
        let sold = super::options::find(listings, claim, option)?;
        let mut capacity = sold.instance_type.capacity.clone();
        for (name, amount) in sold.offering().capacity_override.iter() {
            capacity.set(name.clone(), amount);
        }
        Some(capacity)
    };
    options
        .filter_map(of_option)
        .fold(Resources::new(), |most, capacity| most.larger(&capacity))
        .with(ResourceName::Nodes, 1)
}

fn exceeded(
    rule: Rule,
    limits: &Resources,
    used: &Resources,
    bought: impl Iterator<Item = Resources>,
) -> Option<Breach> {
    let mut total = used.clone();
    for capacity in bought {
        total.add(&capacity);
    }
    let (name, limit) = limits
        .iter()
        .find(|(name, limit)| total.get(name) > *limit)?;
    let value = format!("{} of {name}", total.get(name));
    Some(Breach::new(rule, value, format!("at most {limit}")))
}

/// No reservation is named by more claims than it has instances left after claims in flight.
pub(super) fn reservations(snapshot: &Snapshot, plan: &Plan) -> Vec<Finding> {
    let mut left: BTreeMap<&ReservationId, u32> = BTreeMap::new();
    let catalogues = snapshot.catalogues.distinct().iter();
    for named in catalogues.flat_map(|catalogue| catalogue.types()) {
        for reservation in named
            .offerings
            .iter()
            .filter_map(|o| o.reservation.as_ref())
        {
            let remaining = left.entry(&reservation.id).or_insert(reservation.remaining);
            *remaining = (*remaining).min(reservation.remaining);
        }
    }
    let in_flight = snapshot.nodes.iter().filter_map(|node| node.claim.as_ref());
    let in_flight = in_flight.filter(|claim| {
        claim.provider_id.is_none()
            && claim.phase() == ClaimPhase::Created
            && claim.deleting.is_none()
            && !claim.is_instance_terminating()
    });
    let key = snapshot.catalogues.provider().reservation_id.as_ref();
    for claim in in_flight {
        for (id, left) in &mut left {
            if will_draw_on(key, claim, id) {
                *left = left.saturating_sub(1);
            }
        }
    }
    let mut named: BTreeMap<&ReservationId, u32> = BTreeMap::new();
    for claim in &plan.claims {
        let ids: BTreeSet<&ReservationId> = claim
            .options
            .iter()
            .filter_map(|o| o.reservation.as_ref())
            .collect();
        for id in ids {
            *named.entry(id).or_default() += 1;
        }
    }
    let over = named.into_iter().filter_map(|(id, claims)| {
        let left = left.get(id).copied().unwrap_or(0);
        (claims > left).then(|| {
            let value = format!("{claims} claims name reservation {id}");
            Breach::new(Rule::Reservation, value, format!("at most {left}")).about(Subject::Plan)
        })
    });
    over.collect()
}

/// `true` if a claim in flight requires a reservation by id or, where it requires none, was planned as it: the last part of the
/// first offering written on it.
fn will_draw_on(key: Option<&LabelKey>, claim: &NodeClaim, id: &ReservationId) -> bool {
    if let Some(required) = key.and_then(|key| claim.requirements.get(key.as_str())) {
        return required.named().contains(id.as_str());
    }
    let written = claim.annotations.get(LAUNCH_ORDER_ANNOTATION);
    let first = written.and_then(|order| order.split(',').next());
    first.and_then(|first| first.split('/').nth(3)) == Some(id.as_str())
}

/// A claim of a pool is wrong when a heavier pool could have bought a node for each of its pods alone, and worth a remark
/// when that is so for some.
///
/// Of several required alternatives of a pod one is given up only after every pool has refused it. So a heavier pool that
/// could serve a later alternative than the one that this claim meets has been passed over rightly.
///
/// Left out are heavier pools with limits, pods with preferences, pods in topology constraints, and pods that others must be
/// near, whom the heavier pool may not serve: there a lighter pool may be right. So are pools that pack as Karpenter
/// does, which puts pods on what has been opened for others.
pub(super) fn weight(
    snapshot: &Snapshot,
    shops: &[Shop],
    row: usize,
    claim: &PlannedClaim,
    host: &Host,
    pods: &[(Arc<Pod>, bool)],
) -> Option<Finding> {
    let own = shops.iter().find(|shop| shop.pool.name == claim.pool)?;
    let packing = snapshot.settings.packing.unwrap_or(own.pool.packing);
    if packing == PackingMode::Compatible {
        return None;
    }
    let heavier = |pod: &Pod| {
        let met = alone::first_met(host, pod);
        shops.iter().find(|shop| {
            let could = || alone::first_served(snapshot, shop, pod);
            shop.pool.weight > own.pool.weight
                && shop.pool.limits.is_none()
                && could().is_some_and(|first| met.is_none_or(|met| first <= met))
        })
    };
    let served: Vec<(&Arc<Pod>, &Shop)> = pods
        .iter()
        .filter(|(pod, is_plain)| *is_plain && !alone::has_preferences(snapshot, pod))
        .filter_map(|(pod, _)| Some((pod, heavier(pod)?)))
        .collect();
    let (first, shop) = served.first()?;
    let rule = if served.len() == pods.len() {
        Rule::PoolWeight
    } else {
        Rule::PoolWeightShared
    };
    let value = format!(
        "pool {} could have bought a node for pod {}",
        shop.pool.name, first.name
    );
    let expected = format!(
        "a pool of weight {}, not {}",
        shop.pool.weight, own.pool.weight
    );
    let pool = claim.pool.clone();
    Some(Breach::new(rule, value, expected).about(Subject::Place(Place::Claim { row, pool })))
}
