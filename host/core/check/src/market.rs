//! Types and offerings that each pool may buy, before any pod narrows them, and the pools that can be used at all.
//! Sections 10, 11 and 18.4 of the scheduling contract.

use std::sync::Arc;

use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::{Requirements, Undefined};
use plimsoll_model::NodePool;
use plimsoll_model::catalogue::{CapacityType, InstanceType};
use plimsoll_model::snapshot::Snapshot;

use super::host::Sold;
use super::listings::Listings;

/// A pool and what it may buy.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) pool: Arc<NodePool>,
    /// Requirements that its nodes satisfy before any pod narrows them.
    pub(super) node: Requirements,
    /// Offerings that are available and that its requirements allow.
    pub(super) sold: Vec<Sold>,
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
            Shop {
                pool: Arc::clone(pool),
                sold: offerings(snapshot, listings.of(&pool.name), &node),
                node,
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
    let mut result = Vec::new();
    for instance_type in types {
        if instance_type
            .requirements
            .accepts(node, Undefined::Ignored)
            .is_ok()
        {
            result.extend(offerings_of(snapshot, node, instance_type));
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
    let well_known = |key: &LabelKey| snapshot.catalogues.is_well_known(key);
    let reserved = snapshot.settings.reserved_capacity;
    let offerings = instance_type.offerings.iter().enumerate();
    offerings
        .filter(|(_, offering)| {
            offering.available
                && (reserved || offering.capacity_type != CapacityType::Reserved)
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
