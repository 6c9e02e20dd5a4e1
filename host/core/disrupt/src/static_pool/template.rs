//! One more node of a static pool, straight from the pool's template.
//!
//! The claim requires what the template does and nothing more: no pods, no list of types, no terms. What it may become is
//! chosen by list price, within the guards that hold for the pool's packing; a guard yields only where the template leaves
//! nothing else, sold out or not. No share of what pods request counts here, since the pool's nodes are not bought for pods:
//! a node above the size that is always allowed is too large. Of offerings at one price those in the zone with fewest of the pool's nodes come first.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::labels;
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::catalogue::{CapacityType, Catalogue, TypeOffering};
use plimsoll_model::plan::{LaunchOption, PlannedClaim, launch_option, of_one_launch, sold};
use plimsoll_model::snapshot::Settings;
use plimsoll_model::supply::Supply;
use plimsoll_model::{NodeClaim, NodePool, PackingMode};
use plimsoll_schedule::claims::claim::{annotations_of, labels_of};

/// The claim of one more node of a pool that sells `catalogue`. Without options where nothing that the pool requires can be
/// had now.
pub fn planned(pool: &NodePool, catalogue: &Catalogue, settings: &Settings) -> PlannedClaim {
    let mut requirements = pool.node_requirements();
    for key in [labels::REGISTERED, labels::INITIALIZED, labels::HOSTNAME] {
        requirements.remove(key);
    }
    let requests = Resources::new();
    PlannedClaim {
        pool: pool.name.clone(),
        class: pool.class.clone(),
        labels: labels_of(pool, &requirements, catalogue),
        annotations: annotations_of(pool, false),
        taints: pool.taints.clone(),
        startup_taints: pool.startup_taints.clone(),
        expire_after: pool.expire_after,
        termination_grace: pool.termination_grace,
        options: options(pool, &requirements, catalogue, settings),
        requirements,
        requests,
    }
}

/// How many of these claims each zone has, or will have once those on their way have become what they were planned as.
pub fn zones<'a>(
    claims: impl IntoIterator<Item = &'a NodeClaim>,
    catalogue: &Catalogue,
) -> BTreeMap<Arc<str>, u32> {
    let mut zones = BTreeMap::new();
    for claim in claims {
        let became = claim.labels.get(labels::ZONE).map(Arc::clone);
        let planned = || {
            let sold = catalogue.planned(claim)?;
            Some(Arc::clone(&sold.offering.zone))
        };
        if let Some(zone) = became.or_else(planned) {
            *zones.entry(zone).or_insert(0) += 1;
        }
    }
    zones
}

/// Prefers, among equal prices, zones with fewer nodes of the pool.
pub fn spread(planned: &mut PlannedClaim, nodes: &BTreeMap<Arc<str>, u32>) {
    let have = |option: &LaunchOption| nodes.get(&option.zone).copied().unwrap_or(0);
    planned.options.sort_by(|a, b| {
        (a.list_price, have(a), &a.instance_type, &a.zone).cmp(&(
            b.list_price,
            have(b),
            &b.instance_type,
            &b.zone,
        ))
    });
}

/// Takes away options that draw on a reservation with nothing left: they are the cheapest, and cannot be had.
pub fn drop_exhausted(planned: &mut PlannedClaim, supply: &Supply) {
    planned.options.retain(|option| {
        let id = option.reservation.as_ref();
        id.is_none_or(|id| supply.reservation_left(id) > 0)
    });
}

/// Offerings that can be had now, cheapest first, as many as one launch may name.
fn options(
    pool: &NodePool,
    requirements: &Requirements,
    catalogue: &Catalogue,
    settings: &Settings,
) -> Vec<LaunchOption> {
    let mut all = sold(requirements, &Resources::new(), catalogue);
    all.retain(|sold| settings.reserved_capacity || sold.offering.reservation.is_none());
    for held_back in held_back(pool, catalogue, settings) {
        if all.iter().any(|sold| !held_back(sold)) {
            all.retain(|sold| !held_back(sold));
        }
    }
    let available = all.into_iter().filter(|sold| sold.offering.available);
    let named = of_one_launch(available, |sold| &sold.instance_type.name);
    let named = named.into_iter();
    named
        .map(|sold| launch_option(sold, settings.node_cost))
        .collect()
}

type OfferingRule<'a> = Box<dyn Fn(&TypeOffering<'_>) -> bool + 'a>;

/// Rules of guards for a pool, each `true` of an offering that it must not buy; empty where guards are off.
fn held_back<'a>(
    pool: &NodePool,
    catalogue: &Catalogue,
    settings: &'a Settings,
) -> Vec<OfferingRule<'a>> {
    let guards = &settings.guards;
    let packing = settings.packing.unwrap_or(pool.packing);
    let mut rules: Vec<OfferingRule<'a>> = Vec::new();
    if !guards.enabled || packing == PackingMode::Compatible {
        return rules;
    }
    let mut keys = pool.requirements.iter().map(Requirement::key);
    if !guards.unrequested_spot && !keys.any(|key| key.as_str() == labels::CAPACITY_TYPE) {
        rules.push(Box::new(|sold| {
            sold.offering.capacity_type == CapacityType::Spot
        }));
    }
    let provider = catalogue.provider();
    let mut asked = pool.requirements.iter();
    if !guards.exotic_types && !asked.any(|asked| provider.names_types(asked)) {
        rules.push(Box::new(|sold| {
            let listed = sold.instance_type;
            sold.provider
                .is_exotic(&listed.requirements, &listed.capacity)
        }));
    }
    rules.push(Box::new(|sold| {
        let cores = sold.instance_type.capacity.get(&ResourceName::Cpu);
        cores > guards.node_share_from_cpu_milli
            && !sold.provider.is_accelerated(&sold.instance_type.capacity)
    }));
    rules
}
