//! The most that one new node may hold: a share of its pool, and a part of a workload's replicas. Rules of pools packed by price,
//! where the plan does not say that the guard yields.
//!
//! A pool's share is judged against no less than the planner reckons with: every pod on its nodes that stay, and every waiting
//! one whose own requirements and tolerations do not rule the pool out, whether or not an instance for it is on sale.

use std::collections::BTreeMap;

use plimsoll_base::ids::Uid;
use plimsoll_base::labels::{INSTANCE_TYPE, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements, Undefined};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::plan::{LaunchOption, Plan, PlannedClaim, Target};
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::{Guard, Snapshot};
use plimsoll_model::{Effect, OwnerKind, PackingMode, Pod, Taint, first_untolerated};

use super::daemons;
use super::entry::Eligibility;
use super::finding::{Breach, Finding, Place, Rule, Subject};
use super::host::Sold;
use super::listings::Listings;
use super::market::Shop;

/// New nodes that are too large for their pool, or hold too many replicas of one workload.
pub(super) fn breaches(
    snapshot: &Snapshot,
    listings: &Listings<'_>,
    shops: &[Shop],
    entries: &[Eligibility],
    plan: &Plan,
) -> Vec<Finding> {
    let guards = &snapshot.settings.guards;
    if !guards.enabled {
        return Vec::new();
    }
    let mut pods: Vec<Vec<&Pod>> = vec![Vec::new(); plan.claims.len()];
    for placement in &plan.placements {
        let pod = snapshot.pods.get(placement.pod);
        if let (Target::New(row), Some(pod)) = (placement.target, pod)
            && let Some(pods) = pods.get_mut(row)
        {
            pods.push(pod);
        }
    }
    let replicas = replicas(snapshot);
    let mut requested: BTreeMap<&str, Resources> = BTreeMap::new();
    let mut result = Vec::new();
    for (row, (claim, pods)) in plan.claims.iter().zip(&pods).enumerate() {
        let Some(shop) = shops.iter().find(|shop| shop.pool.name == claim.pool) else {
            continue;
        };
        let packing = snapshot.settings.packing.unwrap_or(shop.pool.packing);
        if packing == PackingMode::Compatible {
            continue;
        }
        let name = shop.pool.name.as_str();
        let requested = requested
            .entry(name)
            .or_insert_with(|| requested_of(snapshot, shop, entries));
        let share = || too_large(snapshot, listings, shop, claim, pods, requested);
        let crowd = || too_many(snapshot, pods, &replicas);
        let found = [
            share().filter(|_| !yields(plan, claim, Guard::NodeShare)),
            crowd().filter(|_| !yields(plan, claim, Guard::ReplicasPerNode)),
        ];
        let pool = claim.pool.clone();
        let subject = Subject::Place(Place::Claim { row, pool });
        let found = found.into_iter().flatten();
        result.extend(found.map(|breach| breach.about(subject.clone())));
    }
    result
}

/// A way to buy a claim's node that is above the size that is always allowed and more than its share, unless every smaller
/// instance is too small for one of its pods: guards yield to moves too, and those carry no notes.
fn too_large(
    snapshot: &Snapshot,
    listings: &Listings<'_>,
    shop: &Shop,
    claim: &PlannedClaim,
    pods: &[&Pod],
    requested: &Resources,
) -> Option<Breach> {
    if pods
        .iter()
        .any(|pod| names_types(snapshot.catalogues.provider(), pod))
    {
        return None;
    }
    let guards = &snapshot.settings.guards;
    // There is no share of a resource that no pod requests, unless no pod requests anything.
    let requests_nothing = [ResourceName::Cpu, ResourceName::Memory]
        .iter()
        .all(|name| requested.get(name) == 0);
    let exceeds = |sold: &Sold| {
        let has = |name: &ResourceName| sold.instance_type.capacity.get(name);
        let exceeds = |name: ResourceName| {
            let part = i128::from(has(&name)) * 100;
            let whole = i128::from(requested.get(&name));
            (whole > 0 || requests_nothing) && part > whole * i128::from(guards.node_share_percent)
        };
        let accelerators = &snapshot.catalogues.provider().accelerators;
        let accelerated = accelerators.iter().any(|name| has(name) > 0);
        has(&ResourceName::Cpu) > guards.node_share_from_cpu_milli
            && !accelerated
            && (exceeds(ResourceName::Cpu) || exceeds(ResourceName::Memory))
    };
    let small = shop.sold.iter().filter(|sold| !exceeds(sold));
    let rooms = small.map(|sold| sold.instance_type.allocatable(sold.offering()));
    let rooms: Vec<Resources> = rooms.collect();
    let fits_none = |pod: &&Pod| !rooms.iter().any(|room| room.fits(&pod.spec.requests));
    if pods.iter().any(fits_none) {
        return None;
    }
    let find = |option: &&LaunchOption| super::options::find(listings, claim, option);
    let mut options = claim.options.iter();
    let option = options.find(|option| find(option).is_some_and(|sold| exceeds(&sold)))?;
    let value = format!(
        "{} of a pool that requests {requested}",
        option.instance_type
    );
    let expected = format!(
        "at most {} milli-cores or {} %",
        guards.node_share_from_cpu_milli, guards.node_share_percent
    );
    Some(Breach::new(Rule::NodeShare, value, expected))
}

/// More replicas of a workload than one new node may get.
fn too_many(snapshot: &Snapshot, pods: &[&Pod], replicas: &BTreeMap<&Uid, u32>) -> Option<Breach> {
    let guards = &snapshot.settings.guards;
    let mut here: BTreeMap<&Uid, u32> = BTreeMap::new();
    for owner in pods.iter().filter_map(|pod| pod.owner.as_ref()) {
        *here.entry(&owner.uid).or_default() += 1;
    }
    here.into_iter().find_map(|(uid, count)| {
        let all = *replicas.get(uid)?;
        let most = (all / guards.replicas_apart_divisor.max(1)).max(1);
        let breaks = all >= guards.replicas_apart_from && count > most;
        breaks.then(|| {
            let value = format!("{count} of {all} replicas of one workload");
            Breach::new(Rule::ReplicasPerNode, value, format!("at most {most}"))
        })
    })
}

/// Active replicas of each workload.
fn replicas(snapshot: &Snapshot) -> BTreeMap<&Uid, u32> {
    let mut result = BTreeMap::new();
    let counted = snapshot.pods.iter();
    for pod in counted.filter(|pod| pod.is_active() && !pod.is_spare()) {
        if let Some(owner) = &pod.owner {
            *result.entry(&owner.uid).or_default() += 1;
        }
    }
    result
}

/// The most that the pods of a pool can be said to request.
fn requested_of(snapshot: &Snapshot, shop: &Shop, entries: &[Eligibility]) -> Resources {
    let pool = &shop.pool;
    let rows = snapshot.rows_by_node();
    let runs_there = |pod: &Pod| {
        let node = pod.node.as_ref().and_then(|name| rows.get(name.as_str()));
        node.is_some_and(|row| {
            let node = &snapshot.nodes[row];
            node.is_managed() && !node.is_deleting() && node.pool().as_ref() == Some(&pool.name)
        })
    };
    let mut result = Resources::new();
    for (pod, entry) in snapshot.pods.iter().zip(entries) {
        let waits = matches!(entry, Eligibility::Waits | Eligibility::Free)
            && may_go_to(snapshot, shop, pod);
        let fixed = [OwnerKind::DaemonSet, OwnerKind::Node];
        let counts = pod.is_active() && !pod.is_spare();
        let runs = counts && !fixed.iter().any(|kind| pod.is_owned_by(*kind)) && runs_there(pod);
        if runs || (waits && !pod.is_spare()) {
            result.add(&pod.spec.requests);
        }
    }
    for (name, limit) in pool.limits.iter().flat_map(Resources::iter) {
        result.set(name.clone(), result.get(name).min(limit));
    }
    result
}

/// `true` if nothing in a pod's own specification rules a pool out.
fn may_go_to(snapshot: &Snapshot, shop: &Shop, pod: &Pod) -> bool {
    let taints = shop.pool.taints.iter();
    let hard = taints.filter(|taint| taint.effect != Effect::PreferNoSchedule);
    let hard: Vec<Taint> = hard.cloned().collect();
    let well_known = |key: &LabelKey| snapshot.catalogues.is_well_known(key);
    let allows = |asked: &Requirements| {
        let accepted = shop.node.accepts(asked, Undefined::Allowed(&well_known));
        accepted.is_ok()
    };
    first_untolerated(&hard, &pod.spec.tolerations).is_none()
        && daemons::alternatives(&pod.spec).iter().any(allows)
}

/// `true` if a pod names the types that it wants, be it as a preference.
fn names_types(provider: &ProviderFacts, pod: &Pod) -> bool {
    let required = pod.spec.node_required.iter().map(|term| &term.requirements);
    let preferred = pod.spec.node_preferred.iter();
    let preferred = preferred.map(|preferred| &preferred.term.requirements);
    let all = std::iter::once(&pod.spec.node_selector).chain(required);
    let mut keys = all
        .chain(preferred)
        .flat_map(Requirements::iter)
        .map(Requirement::key);
    keys.any(|key| key.as_str() == INSTANCE_TYPE || provider.naming.contains(key))
}

/// `true` if a note of the plan tells that a guard yields in a claim's pool.
fn yields(plan: &Plan, claim: &PlannedClaim, guard: Guard) -> bool {
    let said = format!("guard on {} yields", guard.as_str());
    let mut notes = plan.notes.iter();
    notes.any(|note| note.pool.as_ref() == Some(&claim.pool) && note.text.starts_with(&said))
}
