//! Types and offerings that each pool may buy, before any pod narrows them, and the pools that can be used at all.
//! Sections 10, 11 and 18.4 of the scheduling contract.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::host::Sold;
use super::listings::Listings;
use crate::catalogue::{CapacityType, InstanceType};
use crate::labels::LabelKey;
use crate::model::{NodePool, Taint};
use crate::requirement::{Requirements, Undefined};
use crate::snapshot::Snapshot;

/// A pool and what it may buy.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) pool: Arc<NodePool>,
    /// Requirements that its nodes satisfy before any pod narrows them.
    pub(super) node: Requirements,
    /// Offerings that are available and that its requirements allow.
    pub(super) sold: Vec<Sold>,
    /// Offerings that its requirements allow but that cannot be had now.
    pub(super) sold_out: Vec<Sold>,
}

/// Why a pool takes no part, if it does not.
pub(super) fn refusal(snapshot: &Snapshot, pool: &NodePool) -> Option<&'static str> {
    let listed = snapshot
        .catalogues
        .classes()
        .any(|class| *class == pool.class);
    let kinds = &snapshot.catalogues.provider().classes;
    let mut own = kinds.iter();
    let is_served = own.any(|own| own.group == pool.class.group && own.kind == pool.class.kind);
    if !listed && !kinds.is_empty() && !is_served {
        Some("is of a class that others serve")
    } else if pool.deleting.is_some() {
        Some("is being deleted")
    } else if pool.replicas.is_some() {
        Some("is static")
    } else if pool.ready {
        None
    } else {
        Some("is not ready")
    }
}

/// The pools that can be used, by name, with what they may buy; possibly nothing.
pub(super) fn shops(snapshot: &Snapshot, listings: &Listings<'_>) -> Vec<Shop> {
    let pools = snapshot.pools.iter();
    let usable = pools.filter(|pool| refusal(snapshot, pool).is_none());
    usable
        .map(|pool| {
            let node = pool.node_requirements();
            let (sold, sold_out) = listed(snapshot, listings.of(&pool.name), &node)
                .into_iter()
                .partition(|listed| listed.offering().available);
            Shop {
                pool: Arc::clone(pool),
                node,
                sold,
                sold_out,
            }
        })
        .collect()
}

/// The available offerings of some types that a node with these requirements may be bought as.
pub(super) fn offerings(
    snapshot: &Snapshot,
    types: &[Arc<InstanceType>],
    node: &Requirements,
) -> Vec<Sold> {
    let mut result = listed(snapshot, types, node);
    result.retain(|listed| listed.offering().available);
    result
}

/// The offerings of some types that a node with these requirements may be bought as, now or some day.
fn listed(snapshot: &Snapshot, types: &[Arc<InstanceType>], node: &Requirements) -> Vec<Sold> {
    let mut result = Vec::new();
    for instance_type in types {
        if instance_type
            .requirements
            .accepts(node, Undefined::Ignored)
            .is_ok()
        {
            result.extend(listed_of(snapshot, node, instance_type));
        }
    }
    result
}

/// The available offerings of one type that a node with these requirements may be bought as.
pub(super) fn offerings_of(
    snapshot: &Snapshot,
    node: &Requirements,
    instance_type: &Arc<InstanceType>,
) -> Vec<Sold> {
    let mut result = listed_of(snapshot, node, instance_type);
    result.retain(|listed| listed.offering().available);
    result
}

fn listed_of(
    snapshot: &Snapshot,
    node: &Requirements,
    instance_type: &Arc<InstanceType>,
) -> Vec<Sold> {
    let well_known = |key: &LabelKey| snapshot.catalogues.is_well_known(key);
    let reserved = snapshot.settings.reserved_capacity;
    let offerings = instance_type.offerings.iter().enumerate();
    offerings
        .filter(|(_, offering)| {
            (reserved || offering.capacity_type != CapacityType::Reserved)
                && node
                    .accepts(
                        &offering.node_requirements(snapshot.catalogues.provider()),
                        Undefined::Allowed(&well_known),
                    )
                    .is_ok()
        })
        .map(|(at, _)| Sold {
            provider: Arc::clone(snapshot.catalogues.provider()),
            instance_type: Arc::clone(instance_type),
            at,
        })
        .collect()
}

/// A value that nodes may have for a key, and the taints that come with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Domain {
    pub(super) value: Arc<str>,
    pub(super) taints: Vec<Taint>,
}

/// How far the values reach that pools can bring about; each step includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DomainReach {
    /// Values that can be bought now.
    OnSale,
    /// Values that a pool's own requirements list, though nothing is on sale there, or nothing at all for the pool.
    Declared,
    /// Values that are sold out just now.
    SoldOut,
}

/// The values of a key that the pools can bring about, sorted.
pub(super) fn domains(shops: &[Shop], key: &LabelKey, reach: DomainReach) -> Vec<Domain> {
    let mut result = BTreeSet::new();
    let counts = |shop: &&Shop| reach >= DomainReach::Declared || !shop.sold.is_empty();
    for shop in shops.iter().filter(counts) {
        let own = shop.node.get(key.as_str());
        let mut values: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut is_sold_by_key = false;
        let sold_out = shop
            .sold_out
            .iter()
            .filter(|_| reach == DomainReach::SoldOut);
        for sold in shop.sold.iter().chain(sold_out) {
            let Some(value) = sold.value(key.as_str()) else {
                continue;
            };
            is_sold_by_key = true;
            let allowed = value.listed().into_iter().flatten();
            values.extend(
                allowed
                    .filter(|v| own.is_none_or(|own| own.allows(v)))
                    .cloned(),
            );
        }
        if reach >= DomainReach::Declared || !is_sold_by_key {
            values.extend(
                own.and_then(|own| own.listed())
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        result.extend(values.into_iter().map(|value| Domain {
            value,
            taints: shop.pool.taints.clone(),
        }));
    }
    result.into_iter().collect()
}
