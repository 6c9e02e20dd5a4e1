//! A region's types, the zones that have them and list prices, as EC2 reports them: callers hand them in, in place of the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::units::PricePerHour;

use super::CapacityTypes;
use crate::instance_type::InstanceType;

/// On-demand prices per hour by name of the type, each above 0. All are in one currency, that of the region's spot prices.
pub type ListPrices = BTreeMap<String, PricePerHour>;

/// Names of the zones that have a type, by name of the type.
pub type OfferedZones = BTreeMap<String, BTreeSet<String>>;

/// A type that is sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoldType {
    /// Its hardware.
    pub facts: InstanceType,
    /// The capacity types that there are of it.
    pub capacity_types: CapacityTypes,
}

/// Types of a region, where there are any and at what prices, as somebody was told. Where a part is `None` the tables and their assumptions stand in for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Types by name; `None` for those of the table, on demand and as spot.
    pub types: Option<Arc<BTreeMap<String, SoldType>>>,
    /// Zones of each type, which is sold in none where it is not among them; `None` for every type in every zone.
    pub zones: Option<Arc<OfferedZones>>,
    /// List prices; a type that is not among them is not sold. `None` for those of the table, in dollars.
    pub prices: Option<Arc<ListPrices>>,
}

impl Listing {
    /// `true` if a zone has a type, as far as anybody was told.
    pub(super) fn is_offered(&self, instance_type: &str, zone: &str) -> bool {
        let Some(zones) = &self.zones else {
            return true;
        };
        zones
            .get(instance_type)
            .is_some_and(|zones| zones.contains(zone))
    }
}
