//! The node that a claim will become: labels, capacity, allocatable and price.
//!
//! Everybody who forecasts, launches or counts a claim asks here, with what the claim's pool sells.
//!
//! - A claim may become every offering that its requirements allow, of the types it names, or of all where it names none:
//!   labels that the type gives must agree with what is required of them, and what the offering gives must be allowed. A key
//!   that the claim leaves open is open to well-known labels.
//! - Labels of the node are those of the claim, then what the offering decides, then what the type and the claim's
//!   requirements leave; of several values the first by name.
//! - Until the claim is launched it counts with the least that any of these gives, and costs what the first offering written
//!   on it costs. From then on it is what the provider said, but no more than its type is known to have, until its node speaks
//!   for itself.
//!
//! Contract: lifecycle sections 3 and 5, scheduling sections 11 and 12.4.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_base::requirement::{Requirement, Requirements, Undefined};
use plimsoll_base::resources::Resources;
use plimsoll_base::units::PricePerHour;

use super::{Catalogue, InstanceType, Offering, OfferingKey, Overlaid, launch_order};
use crate::provider::ProviderFacts;
use crate::{ClaimPhase, ClassRef, NodeClaim};

/// An instance type and one of its offerings: something that can be bought.
#[derive(Clone, Copy, Debug)]
pub struct TypeOffering<'c> {
    /// Facts about who sells it.
    pub provider: &'c ProviderFacts,
    /// The type.
    pub instance_type: &'c InstanceType,
    /// One of its offerings.
    pub offering: &'c Offering,
}

/// The resources of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeResources {
    /// All it has.
    pub capacity: Resources,
    /// The part of it that pods may have.
    pub allocatable: Resources,
}

impl NodeResources {
    fn smaller(&self, other: &Self) -> Self {
        Self {
            capacity: self.capacity.smaller(&other.capacity),
            allocatable: self.allocatable.smaller(&other.allocatable),
        }
    }
}

impl TypeOffering<'_> {
    /// Instance type, zone, capacity type and reservation, by which plans name it.
    pub fn key(&self) -> OfferingKey {
        OfferingKey::of(self.instance_type, self.offering)
    }

    /// Capacity and allocatable of a node bought through it, as computed before it is there.
    pub fn resources(&self) -> NodeResources {
        NodeResources {
            capacity: self.instance_type.capacity_of(self.offering),
            allocatable: self.instance_type.allocatable(self.offering),
        }
    }

    /// Labels of the node that a claim with these labels and requirements becomes through it, its host name apart.
    pub fn node_labels(&self, own: &Labels, requirements: &Requirements) -> Labels {
        let mut result = own.clone();
        let offering = self.offering.node_requirements(self.provider);
        let sold = offering
            .iter()
            .chain(self.instance_type.requirements.iter());
        for requirement in sold {
            let key = requirement.key().as_str();
            let left = match requirements.get(key) {
                Some(asked) => asked.intersect(requirement),
                None => requirement.clone(),
            };
            if let Some(value) = left.listed().and_then(|values| values.first()) {
                put(&mut result, key, value);
            }
        }
        for requirement in requirements.iter() {
            if let Some(value) = requirement.single() {
                put(&mut result, requirement.key().as_str(), value);
            }
        }
        result
    }
}

/// Sets a label that is not there yet.
fn put(labels: &mut Labels, key: &str, value: &Arc<str>) {
    if !labels.contains_key(key) {
        labels.insert(Arc::from(key), Arc::clone(value));
    }
}

impl Catalogue {
    /// An offering by name, to be had now or not.
    pub fn offering(&self, key: &OfferingKey) -> Option<TypeOffering<'_>> {
        let instance_type = self.get(key.instance_type.as_str())?;
        let mut offerings = instance_type.offerings.iter();
        let offering = offerings.find(|offering| {
            offering.zone == key.zone
                && offering.capacity_type == key.capacity_type
                && offering.reservation.as_ref().map(|own| &own.id) == key.reservation.as_ref()
        })?;
        Some(TypeOffering {
            provider: self.provider(),
            instance_type,
            offering,
        })
    }

    /// Everything that a claim with these requirements may become, to be had now or not, in order of type and offering.
    pub fn allowed(&self, requirements: &Requirements) -> Vec<TypeOffering<'_>> {
        let named = requirements
            .get(labels::INSTANCE_TYPE)
            .and_then(Requirement::listed);
        let types: Vec<&Arc<InstanceType>> = match named {
            Some(named) => named.iter().filter_map(|name| self.get(name)).collect(),
            None => self.types().iter().collect(),
        };
        let mut result = Vec::new();
        for instance_type in types {
            let agrees = instance_type
                .requirements
                .accepts(requirements, Undefined::Ignored);
            if agrees.is_err() {
                continue;
            }
            let offerings = instance_type.offerings.iter();
            let allowed = offerings.filter(|offering| self.allows(requirements, offering));
            result.extend(allowed.map(|offering| TypeOffering {
                provider: self.provider(),
                instance_type,
                offering,
            }));
        }
        result
    }

    /// True where a claim with these requirements may be bought through an offering of a type that agrees with them.
    fn allows(&self, requirements: &Requirements, offering: &Offering) -> bool {
        if !offering.requirements.is_empty() {
            let well_known = |key: &LabelKey| self.is_well_known(key);
            let nodes = offering.node_requirements(self.provider());
            return requirements
                .accepts(&nodes, Undefined::Allowed(&well_known))
                .is_ok();
        }
        let is_open = |key: &str, value: &str| {
            let asked = requirements.get(key);
            asked.is_none_or(|asked| asked.allows(value))
        };
        let key = self.provider().reservation_id.as_ref();
        let id = offering.reservation.as_ref().map(|own| own.id.as_str());
        let reservation = key.is_none_or(|key| {
            let asked = requirements.get(key.as_str());
            asked.is_none_or(|asked| id.map_or(asked.allows_absence(), |id| asked.allows(id)))
        });
        reservation
            && is_open(labels::ZONE, &offering.zone)
            && is_open(labels::CAPACITY_TYPE, offering.capacity_type.as_str())
    }

    /// The least that a claim with these requirements gives, per resource; `None` where nothing that is sold agrees with them.
    pub fn floor(&self, requirements: &Requirements) -> Option<NodeResources> {
        let allowed = self.allowed(requirements).into_iter();
        allowed
            .map(|sold| sold.resources())
            .reduce(|least, other| least.smaller(&other))
    }

    /// The offering that a claim was planned as: the first written on it that is still sold.
    pub fn planned(&self, claim: &NodeClaim) -> Option<TypeOffering<'_>> {
        launch_order(claim).find_map(|key| self.offering(&key))
    }

    /// The offering behind a claim: that of its labels once it is launched, until then the one it was planned as.
    pub fn behind(&self, claim: &NodeClaim) -> Option<TypeOffering<'_>> {
        self.of_labels(&claim.labels)
            .or_else(|| self.planned(claim))
    }

    /// The offering of a node with these labels, to be had now or not.
    pub fn of_labels(&self, labels: &Labels) -> Option<TypeOffering<'_>> {
        let instance_type = self.get(labels.get(labels::INSTANCE_TYPE)?)?;
        Some(TypeOffering {
            provider: self.provider(),
            instance_type,
            offering: instance_type.offering_of(self.provider(), labels)?,
        })
    }

    /// Dollars per hour of a claim at list price; zero where its offering is unknown.
    pub fn price_of(&self, claim: &NodeClaim) -> PricePerHour {
        self.behind(claim)
            .map_or(PricePerHour::ZERO, |sold| sold.offering.price)
    }
}

/// Capacity and allocatable of claims before their nodes report them, each set of requirements read once.
pub struct ExpectedResources<'o> {
    overlaid: &'o Overlaid,
    floors: BTreeMap<(PoolName, ClassRef, Requirements), Option<NodeResources>>,
}

impl<'o> ExpectedResources<'o> {
    /// By what the pools sell.
    pub fn new(overlaid: &'o Overlaid) -> Self {
        Self {
            overlaid,
            floors: BTreeMap::new(),
        }
    }

    /// Capacity and allocatable to count on of a claim: its floor until it is launched, then what the provider said as far as its type is
    /// known to have that. What it says itself where it has initialised, and where nothing is sold that it could become.
    pub fn of(&mut self, claim: &NodeClaim) -> NodeResources {
        let said = || NodeResources {
            capacity: claim.capacity.clone(),
            allocatable: claim.allocatable.clone(),
        };
        if claim.phase() == ClaimPhase::Initialized {
            return said();
        }
        let catalogue = self.overlaid.of_claim(claim);
        if claim.provider_id.is_none() {
            let key = (
                claim.pool.clone(),
                claim.class.clone(),
                claim.requirements.clone(),
            );
            let floor = self.floors.entry(key);
            let floor = floor.or_insert_with(|| catalogue.floor(&claim.requirements));
            return floor.clone().unwrap_or_else(said);
        }
        let mut result = said();
        if let Some(sold) = catalogue.of_labels(&claim.labels) {
            let known = sold.resources().allocatable;
            for (name, amount) in known.iter() {
                if result.allocatable.get(name) > amount {
                    result.allocatable.set(name.clone(), amount);
                }
            }
        }
        result
    }
}
