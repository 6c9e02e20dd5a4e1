//! A class as launches see it: what its selectors found, which image each type boots, how much room its nodes have, what it sells.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_api::kinds::{Ec2NodeClass, Ec2NodeClassStatus, FoundImage, FoundSubnet};
use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::{Operator, Requirement, Requirements, Undefined};
use plimsoll_ec2_facts::catalogue::{CatalogueSettings, SpotQuotes, UnquotedSpot, Zone};
use plimsoll_ec2_facts::provider::{CLASS, DOMAIN};
use plimsoll_ec2_facts::{ClassSettings, Listing, NodeRoom, Share, catalogue, class};
use plimsoll_model::ClassRef;
use plimsoll_model::catalogue::{Catalogue, InstanceType};

use crate::class::family::Family;
use crate::class::hash;
use crate::facts::facts;
use crate::list_prices;
use crate::resolve::alias::{ACCELERATORS, GPUS};

/// Settings of the controller that change what nodes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSettings {
    /// Share of memory taken to be kept by hypervisor and firmware (`VM_MEMORY_OVERHEAD_PERCENT`).
    pub memory_overhead: Share,
    /// Network interfaces of each node kept from pods (`RESERVED_ENIS`).
    pub reserved_interfaces: u32,
    /// `true` where instances may fill open capacity reservations, as EC2 does unless it is told otherwise (gate `ReservedCapacity` shut);
    /// `false` where reservations are kept for launches that name them.
    pub fills_open_reservations: bool,
}

/// Types of a region, where there are any, and their prices, as far as EC2 has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Market {
    /// The region.
    pub region: String,
    /// Types, zones that have them and list prices.
    pub listing: Listing,
    /// How old the list prices are, in seconds.
    pub list_price_age_s: u32,
    /// Spot prices; a type that has none in a zone is not sold as spot there. `None` until they are told: then spot is taken to cost as much as on
    /// demand.
    pub spot: Option<SpotQuotes>,
}

impl Market {
    /// A region of which nothing was told yet: documented types in all its zones, at compiled list prices.
    pub fn of_tables(region: &str) -> Self {
        let prices = Arc::new(list_prices::compiled(region));
        Self {
            region: region.to_owned(),
            listing: Listing {
                prices: Some(prices),
                ..Listing::default()
            },
            list_price_age_s: 0,
            spot: None,
        }
    }
}

/// Hardware of a type; `None` where it is not known.
fn facts_of<'l>(
    listing: &'l Listing,
    instance_type: &str,
) -> Option<&'l plimsoll_ec2_facts::InstanceType> {
    match &listing.types {
        Some(types) => types.get(instance_type).map(|own| &own.facts),
        None => plimsoll_ec2_facts::instance_type(instance_type),
    }
}

/// A class that was brought up to date.
#[derive(Clone, Debug)]
pub struct ServedClass {
    /// The class, with its status as it was found.
    pub object: Ec2NodeClass,
    /// Its image family.
    pub family: Family,
    /// The static hash of its specification.
    pub hash: String,
    /// Settings that the room on its nodes and the types that it can launch follow from.
    settings: ClassSettings,
    /// Types as EC2 tells of them, and what is known of others.
    listing: Listing,
    /// Types and offerings that it sells.
    pub catalogue: Arc<Catalogue>,
    /// Instances may fill open capacity reservations.
    pub(crate) fills_open_reservations: bool,
    images: Vec<(String, Requirements)>,
}

impl ServedClass {
    /// A class of a market whose nodes trust that certificate authority (base64); a sentence where its specification cannot be read.
    pub fn new(
        object: Ec2NodeClass,
        market: &Market,
        ca_bundle: &str,
        settings: NodeSettings,
    ) -> Result<Self, String> {
        let family = Family::of(&object.spec).ok_or(
            "no image family: expected spec.amiFamily, or an alias in spec.amiSelectorTerms",
        )?;
        let written = serde_json::to_value(&object).map_err(|error| error.to_string())?;
        let mut own = class::settings(&written)?;
        own.room.memory_overhead = settings.memory_overhead;
        own.room.reserved_interfaces = settings.reserved_interfaces;
        let found = object.status.clone().unwrap_or_default();
        let images = found
            .amis
            .iter()
            .map(image)
            .collect::<Result<Vec<_>, _>>()?;
        let sold = sold(&found, market, own.clone(), &images)?;
        Ok(Self {
            hash: hash::hash(&object.spec, family, ca_bundle),
            catalogue: Arc::new(sold),
            object,
            family,
            settings: own,
            listing: market.listing.clone(),
            fills_open_reservations: settings.fills_open_reservations,
            images,
        })
    }

    /// `true` if it is this class, with the same specification and the same things found for it, whatever its conditions.
    pub fn is_of(&self, class: &Ec2NodeClass) -> bool {
        let found = |class: &Ec2NodeClass| {
            let status = class.status.clone().unwrap_or_default();
            Ec2NodeClassStatus {
                conditions: Vec::new(),
                ..status
            }
        };
        let own = &self.object;
        own.metadata.uid == class.metadata.uid
            && own.metadata.annotations == class.metadata.annotations
            && own.metadata.deletion_timestamp == class.metadata.deletion_timestamp
            && own.spec == class.spec
            && found(own) == found(class)
    }

    /// The same with another object, which [is of it](Self::is_of).
    #[must_use]
    pub fn with_object(&self, object: Ec2NodeClass) -> Self {
        Self {
            object,
            ..self.clone()
        }
    }

    /// Room on a node of a type, as its catalogue was reckoned; `None` where it is not known.
    pub fn room_of(&self, instance_type: &str) -> Option<NodeRoom> {
        let facts = facts_of(&self.listing, instance_type)?;
        facts.room(&self.settings.room).ok()
    }

    /// Its status.
    pub fn status(&self) -> &Ec2NodeClassStatus {
        static NONE: std::sync::LazyLock<Ec2NodeClassStatus> =
            std::sync::LazyLock::new(Ec2NodeClassStatus::default);
        self.object.status.as_ref().unwrap_or(&NONE)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.object.metadata.name.as_deref().unwrap_or_default()
    }

    /// How pools and claims name it.
    pub fn reference(&self) -> ClassRef {
        reference(self.name())
    }

    /// The image that a type boots: the first of the status that fits it; `None` where none does, or where the type does not meet what the class
    /// demands, such as a place for the network interfaces that it lists.
    pub fn image_of(&self, instance_type: &InstanceType) -> Option<&str> {
        let facts = facts_of(&self.listing, instance_type.name.as_str());
        let can_launch = facts.is_some_and(|facts| self.settings.can_launch(facts));
        image_of(&self.images, instance_type).filter(|_| can_launch)
    }

    /// `true` if the image that a type boots is made for accelerators, of whatever kind.
    pub(crate) fn boots_for_accelerators(&self, instance_type: &InstanceType) -> bool {
        let fitting = fitting(&self.images, instance_type);
        fitting.is_some_and(|(_, wanted)| {
            let wanted = [GPUS, ACCELERATORS]
                .into_iter()
                .filter_map(|key| wanted.get(key));
            wanted
                .map(Requirement::operator)
                .any(|own| own == Operator::Exists)
        })
    }
}

/// How pools and claims name a class.
pub fn reference(name: &str) -> ClassRef {
    ClassRef {
        group: DOMAIN.into(),
        kind: CLASS.into(),
        name: name.into(),
    }
}

fn image(found: &FoundImage) -> Result<(String, Requirements), String> {
    let mut requirements = Requirements::new();
    for own in &found.requirements {
        let operator = Operator::parse(&own.operator)
            .ok_or_else(|| format!("status.amis: {} has operator {}", found.id, own.operator))?;
        let values: Vec<Arc<str>> = own
            .values
            .iter()
            .map(|value| value.as_str().into())
            .collect();
        let read = Requirement::new(LabelKey::from(own.key.as_str()), operator, &values);
        requirements.add(read.map_err(|error| format!("status.amis: {}: {error}", found.id))?);
    }
    Ok((found.id.clone(), requirements))
}

fn image_of<'i>(
    images: &'i [(String, Requirements)],
    instance_type: &InstanceType,
) -> Option<&'i str> {
    fitting(images, instance_type).map(|(id, _)| id.as_str())
}

/// The first image that fits a type, with its requirements.
fn fitting<'i>(
    images: &'i [(String, Requirements)],
    instance_type: &InstanceType,
) -> Option<&'i (String, Requirements)> {
    let fits = |(_, wanted): &&(String, Requirements)| {
        let have = &instance_type.requirements;
        have.accepts(wanted, Undefined::Refused).is_ok()
    };
    images.iter().find(fits)
}

/// The types of the region in those zones of the class's subnets that have them. Those without an image, and those that the class cannot
/// launch, are there and cannot be had.
fn sold(
    found: &Ec2NodeClassStatus,
    market: &Market,
    class: ClassSettings,
    images: &[(String, Requirements)],
) -> Result<Catalogue, String> {
    let zones: BTreeSet<Zone> = found.subnets.iter().map(zone).collect();
    if zones.is_empty() {
        return Ok(Catalogue::new(facts(), [], []));
    }
    let settings = CatalogueSettings {
        zones: Some(zones.into_iter().collect()),
        class,
        listing: market.listing.clone(),
        list_price_age_s: market.list_price_age_s,
        spot_quotes: market.spot.clone().unwrap_or_default(),
        unquoted: if market.spot.is_some() {
            UnquotedSpot::NotSold
        } else {
            UnquotedSpot::ListPrice
        },
        ..CatalogueSettings::for_region(&market.region)
    };
    let listed = catalogue(&settings).map_err(|error| error.to_string())?;
    let listed = listed.with_provider(facts());
    let types = listed.types().iter().map(|own| {
        let mut own = InstanceType::clone(own);
        if image_of(images, &own).is_none() {
            for offering in &mut own.offerings {
                offering.available = false;
            }
        }
        own
    });
    Ok(listed.with_types(types.collect::<Vec<_>>()))
}

fn zone(subnet: &FoundSubnet) -> Zone {
    Zone {
        name: subnet.zone.clone(),
        id: subnet.zone_id.clone(),
    }
}
