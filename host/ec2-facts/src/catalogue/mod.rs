//! From facts to the core's catalogue: every priced type of a region, with an offering per zone and capacity type.
//!
//! Types, their zones and prices are those of the tables, or of a [`Listing`] that was handed in. A type without a price in the region, that no
//! zone has, or whose room cannot be computed, is left out, and [`left_out`] says why. Offerings are in the order of zone and capacity type. A type that the class cannot launch keeps its offerings, marked unavailable.

mod listing;
mod requirements;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::TypeName;
use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::{
    CapacityType, Catalogue, InstanceType as CoreType, Offering, PriceSource,
};

use self::requirements::RequirementsOfTypes;
use crate::allocatable::{AllocatableError, AllocatableSettings};
use crate::attach::EBS_DRIVER;
use crate::instance_type::{InstanceType, instance_types};
use crate::price::{ExchangeRate, Region, region};
use crate::provider::{ZONE_ID, provider};
use crate::zone::assumed_zones;

pub use listing::{ListPrices, Listing, OfferedZones, SoldType};
pub use settings::{
    CapacityTypes, CatalogueError, CatalogueSettings, QuoteError, SpotQuote, SpotQuotes,
    UnquotedSpot, Zone,
};

/// Why a documented type is not in a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// The source has no price for it in the region.
    NoPrice,
    /// None of the zones has it, on any of the capacity types that are wanted.
    NotOffered,
    /// Its capacity cannot be told: no source has its network limits.
    NoNetworkLimits,
}

/// Types with their offerings under `settings`; fails on an unknown region, or without zones.
pub fn catalogue(settings: &CatalogueSettings) -> Result<Catalogue, CatalogueError> {
    let market = Market::new(settings)?;
    let mut requirements = RequirementsOfTypes::new(&settings.region);
    let types: Vec<CoreType> = known_types(settings)
        .into_iter()
        .filter_map(|known| market.instance_type(known, &mut requirements).ok())
        .collect();
    Ok(Catalogue::new(provider(), types, []))
}

/// The known types that [`catalogue`] leaves out under the same settings, in name order.
pub fn left_out(
    settings: &CatalogueSettings,
) -> Result<Vec<(&'static str, LeftOut)>, CatalogueError> {
    let market = Market::new(settings)?;
    let mut requirements = RequirementsOfTypes::new(&settings.region);
    let reason = |known: Known<'_>| {
        market
            .instance_type(known, &mut requirements)
            .err()
            .map(|reason| (known.facts.name, reason))
    };
    Ok(known_types(settings)
        .into_iter()
        .filter_map(reason)
        .collect())
}

/// A type that there is, and the capacity types of it.
#[derive(Clone, Copy)]
struct Known<'a> {
    facts: &'a InstanceType,
    capacity_types: CapacityTypes,
}

/// Types in name order: those of the listing, else those of the table.
fn known_types(settings: &CatalogueSettings) -> Vec<Known<'_>> {
    let documented = |facts| Known {
        facts,
        capacity_types: CapacityTypes::OnDemandAndSpot,
    };
    match &settings.listing.types {
        Some(types) => types
            .values()
            .map(|own| Known {
                facts: &own.facts,
                capacity_types: own.capacity_types,
            })
            .collect(),
        None => instance_types().iter().map(documented).collect(),
    }
}

/// Where list prices come from.
enum Prices<'a> {
    Told(&'a ListPrices),
    Table(&'static Region, Option<ExchangeRate>),
}

impl Prices<'_> {
    fn of(&self, instance_type: &str) -> Option<PricePerHour> {
        match self {
            Self::Told(prices) => prices.get(instance_type).copied(),
            Self::Table(region, rate) => region.on_demand(instance_type)?.dollars(*rate),
        }
    }
}

/// A region's prices and zones, checked.
struct Market<'a> {
    settings: &'a CatalogueSettings,
    prices: Prices<'a>,
    /// Zone names with what an offering there satisfies, in name order.
    zones: BTreeMap<Arc<str>, Option<Requirement>>,
}

impl<'a> Market<'a> {
    fn new(settings: &'a CatalogueSettings) -> Result<Self, CatalogueError> {
        let prices = if let Some(prices) = &settings.listing.prices {
            Prices::Told(prices)
        } else {
            let region = region(&settings.region)?;
            region.check_dollars(settings.exchange_rate)?;
            Prices::Table(region, settings.exchange_rate)
        };
        let zones: BTreeMap<Arc<str>, Option<Requirement>> = match &settings.zones {
            None => assumed_zones(&settings.region)
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
            prices,
            zones,
        })
    }

    fn instance_type(
        &self,
        known: Known<'_>,
        requirements: &mut RequirementsOfTypes,
    ) -> Result<CoreType, LeftOut> {
        let facts = known.facts;
        let on_demand = self.prices.of(facts.name).ok_or(LeftOut::NoPrice)?;
        let room = facts.room(&self.settings.class.room);
        let room =
            room.map_err(|AllocatableError::NoNetworkLimits { .. }| LeftOut::NoNetworkLimits)?;
        let offerings = self.offerings(known, on_demand);
        if offerings.is_empty() {
            return Err(LeftOut::NotOffered);
        }
        let overhead = room.overhead.total();
        Ok(CoreType {
            name: TypeName::from(facts.name),
            requirements: requirements.of(facts),
            capacity: room.capacity,
            overhead,
            offerings,
            attach_limits: attach_limits(facts, &self.settings.class.room),
        })
    }

    fn offerings(&self, known: Known<'_>, on_demand: PricePerHour) -> Vec<Offering> {
        let (settings, facts) = (self.settings, known.facts);
        let (wanted, had) = (settings.capacity_types, known.capacity_types);
        let family = facts.family();
        let available = settings.class.can_launch(facts);
        let mut offerings = Vec::with_capacity(2 * self.zones.len());
        for (zone, satisfied) in &self.zones {
            if !settings.listing.is_offered(facts.name, zone) {
                continue;
            }
            let mut push = |capacity_type, price, source, age_s| {
                let mut offering = Offering::new(Arc::clone(zone), capacity_type, price);
                offering.price_source = source;
                offering.price_age_s = age_s;
                offering.available = available;
                offering.requirements = satisfied.iter().cloned().collect();
                offerings.push(offering);
            };
            if wanted.has_spot()
                && had.has_spot()
                && let Some((price, source, age_s)) =
                    settings.spot_price(facts.name, family, zone, on_demand)
            {
                push(CapacityType::Spot, price, source, age_s);
            }
            if wanted.has_on_demand() && had.has_on_demand() {
                let age_s = settings.list_price_age_s;
                push(CapacityType::OnDemand, on_demand, PriceSource::List, age_s);
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
