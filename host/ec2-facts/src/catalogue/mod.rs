//! From facts to the core's catalogue: every priced type of a region, with an offering per zone and capacity type.
//!
//! A type without a price in the region, or whose room cannot be computed, is left out, and [`left_out`] says why. Offerings
//! are in the order of zone and capacity type. A type that the class's image family cannot boot keeps its offerings, marked unavailable.

mod requirements;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_core::catalogue::{
    CapacityType, Catalogue, InstanceType as CoreType, Offering, PriceSource,
};
use plimsoll_core::ids::TypeName;
use plimsoll_core::labels::LabelKey;
use plimsoll_core::requirement::Requirement;
use plimsoll_core::units::PricePerHour;

use self::requirements::RequirementsOfTypes;
use crate::allocatable::{AllocatableError, AllocatableSettings, ImageFamily};
use crate::attach::EBS_DRIVER;
use crate::instance_type::{InstanceType, instance_types};
use crate::price::{Region, region};
use crate::provider::{ZONE_ID, provider};
use crate::zone::assumed_zones;

pub use settings::{
    CapacityTypes, CatalogueError, CatalogueSettings, QuoteError, SpotQuote, SpotQuotes, Zone,
};

/// Why a documented type is not in a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// The source has no price for it in the region.
    NoPrice,
    /// Its capacity cannot be told: no source has its network limits.
    NoNetworkLimits,
}

/// Types with their offerings under `settings`; fails on an unknown region, zone or type.
pub fn catalogue(settings: &CatalogueSettings) -> Result<Catalogue, CatalogueError> {
    let market = Market::new(settings)?;
    let mut requirements = RequirementsOfTypes::new(market.region.name());
    let types: Vec<CoreType> = instance_types()
        .iter()
        .filter_map(|facts| market.instance_type(facts, &mut requirements).ok())
        .collect();
    Ok(Catalogue::new(provider(), types, []))
}

/// The documented types that [`catalogue`] leaves out under the same settings, in name order.
pub fn left_out(
    settings: &CatalogueSettings,
) -> Result<Vec<(&'static str, LeftOut)>, CatalogueError> {
    let market = Market::new(settings)?;
    let mut requirements = RequirementsOfTypes::new(market.region.name());
    let reason = |facts: &InstanceType| {
        market
            .instance_type(facts, &mut requirements)
            .err()
            .map(|reason| (facts.name, reason))
    };
    Ok(instance_types().iter().filter_map(reason).collect())
}

/// A region's prices and zones, checked.
struct Market<'a> {
    settings: &'a CatalogueSettings,
    region: &'static Region,
    /// Zone names with what an offering there satisfies, in name order.
    zones: BTreeMap<Arc<str>, Option<Requirement>>,
}

impl<'a> Market<'a> {
    fn new(settings: &'a CatalogueSettings) -> Result<Self, CatalogueError> {
        let region = region(&settings.region)?;
        region.check_dollars(settings.exchange_rate)?;
        let zones: BTreeMap<Arc<str>, Option<Requirement>> = match &settings.zones {
            None => assumed_zones(region.name())
                .into_iter()
                .map(|name| (name.into(), None))
                .collect(),
            Some(zones) => zones
                .iter()
                .map(|zone| (zone.name.as_str().into(), zone.id.as_deref().map(zone_id)))
                .collect(),
        };
        if zones.is_empty() {
            return Err(CatalogueError::NoZones {
                region: settings.region.clone(),
            });
        }
        Ok(Self {
            settings,
            region,
            zones,
        })
    }

    fn instance_type(
        &self,
        facts: &InstanceType,
        requirements: &mut RequirementsOfTypes,
    ) -> Result<CoreType, LeftOut> {
        let price = self.region.on_demand(facts.name).ok_or(LeftOut::NoPrice)?;
        let on_demand = price
            .dollars(self.settings.exchange_rate)
            .ok_or(LeftOut::NoPrice)?;
        let room = facts.room(&self.settings.allocatable);
        let room =
            room.map_err(|AllocatableError::NoNetworkLimits { .. }| LeftOut::NoNetworkLimits)?;
        let overhead = room.overhead.total();
        Ok(CoreType {
            name: TypeName::from(facts.name),
            requirements: requirements.of(facts),
            capacity: room.capacity,
            overhead,
            offerings: self.offerings(facts, on_demand),
            attach_limits: attach_limits(facts, &self.settings.allocatable),
        })
    }

    fn offerings(&self, facts: &InstanceType, on_demand: PricePerHour) -> Vec<Offering> {
        let (settings, family) = (self.settings, facts.family());
        let available = boots(settings.allocatable.family, family);
        let mut offerings = Vec::with_capacity(2 * self.zones.len());
        for (zone, satisfied) in &self.zones {
            let mut push = |capacity_type, price, source, age_s| {
                let mut offering = Offering::new(Arc::clone(zone), capacity_type, price);
                offering.price_source = source;
                offering.price_age_s = age_s;
                offering.available = available;
                offering.requirements = satisfied.iter().cloned().collect();
                offerings.push(offering);
            };
            if settings.capacity_types != CapacityTypes::OnDemandOnly {
                let (spot, age_s) = settings.spot_price(facts.name, family, zone, on_demand);
                let source = if spot.is_modelled() {
                    PriceSource::Model
                } else {
                    PriceSource::Quote
                };
                push(CapacityType::Spot, spot.price(), source, age_s);
            }
            if settings.capacity_types != CapacityTypes::SpotOnly {
                push(
                    CapacityType::OnDemand,
                    on_demand,
                    PriceSource::List,
                    settings.list_price_age_s,
                );
            }
        }
        offerings
    }
}

/// How many volumes of the EBS driver a node attaches, where the sources tell.
fn attach_limits(facts: &InstanceType, settings: &AllocatableSettings) -> BTreeMap<Arc<str>, u32> {
    let slots = facts.attach_slots(settings).into_iter();
    slots.map(|slots| (Arc::from(EBS_DRIVER), slots)).collect()
}

fn zone_id(id: &str) -> Requirement {
    Requirement::one_of(LabelKey::from(ZONE_ID), [id])
}

/// `true` if images of a family run on types of `family`: AL2023 has none for the first Arm generation.
fn boots(image: ImageFamily, family: &str) -> bool {
    image != ImageFamily::Al2023 || family != "a1"
}
