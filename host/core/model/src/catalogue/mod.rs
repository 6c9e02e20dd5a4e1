//! Instance types and their offerings: all that can be bought.

mod claim_node;
mod classes;
mod interruptions;
mod launch_order;
mod learned;
mod market;
mod overlay;
mod subnets;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use claim_node::{ExpectedResources, NodeResources, TypeOffering};
pub use classes::Catalogues;
pub use launch_order::{
    LAUNCH_ORDER_ANNOTATION, LAUNCH_ORDER_BY_ANNOTATION, OfferingKey, OrderedBy, launch_order,
};
pub use learned::{CREDIBLE_PERCENT, Learned, LearnedTypes, Lesson};
pub use market::{Market, OUT_OF_STOCK};
pub use overlay::{Overlaid, OverlayRefusal};
pub use subnets::Subnet;

use plimsoll_base::ids::{ReservationId, TypeName};
use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::units::PricePerHour;

use crate::provider::ProviderFacts;

/// Way in which an instance is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityType {
    /// Out of a reservation already paid for.
    Reserved,
    /// At the market's price, to be given back on request.
    Spot,
    /// At list price.
    OnDemand,
}

impl CapacityType {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Reserved, Self::Spot, Self::OnDemand];

    /// The value of the label `karpenter.sh/capacity-type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Spot => "spot",
            Self::OnDemand => "on-demand",
        }
    }

    /// Reads the label's value.
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|capacity| capacity.as_str() == text)
    }
}

impl fmt::Display for CapacityType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PriceSource {
    /// The published list.
    List,
    /// A quote, read when the snapshot was taken.
    Quote,
    /// A model, since no quote was at hand; every output says so.
    Model,
    /// A NodeOverlay, in place of the provider's or as a change of it.
    Overlay,
}

/// A capacity reservation behind an offering.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reservation {
    /// Its id; offerings of several types or pools may share it.
    pub id: ReservationId,
    /// Instances left in it, as the cloud counts them: every instance that a claim was launched as is taken off. Claims in flight
    /// are not; [`crate::supply::Supply`] takes them off.
    pub remaining: u32,
}

/// One way to buy an instance type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offering {
    /// The zone.
    pub zone: Arc<str>,
    /// On demand, spot, or out of a reservation.
    pub capacity_type: CapacityType,
    /// Dollars per hour for one instance.
    pub price: PricePerHour,
    /// Where the price comes from.
    pub price_source: PriceSource,
    /// How old the price is, in seconds.
    pub price_age_s: u32,
    /// `true` if it can be had now, as far as is known.
    pub available: bool,
    /// Requirements that nodes of this offering satisfy beyond zone and capacity type.
    pub requirements: Requirements,
    /// The reservation it draws on.
    pub reservation: Option<Reservation>,
    /// Capacities that replace or join those of the type.
    pub capacity_override: Resources,
    /// Overheads that replace or join those of the type.
    pub overhead_override: Resources,
    /// Interruptions per node and day: the provider's figure or, where it gives none, those seen in the last seven days.
    pub interruptions_per_day: f32,
    /// Launch failures in the last hour.
    pub failures_1h: u32,
}

impl Offering {
    /// Id of the reservation that it draws on; `None` for every other way to buy.
    pub fn reservation_id(&self) -> Option<ReservationId> {
        let reservation = self.reservation.as_ref();
        reservation.map(|reservation| reservation.id.clone())
    }

    /// An offering that is available at a list price, with nothing else known of it.
    pub fn new(
        zone: impl Into<Arc<str>>,
        capacity_type: CapacityType,
        price: PricePerHour,
    ) -> Self {
        Self {
            zone: zone.into(),
            capacity_type,
            price,
            price_source: PriceSource::List,
            price_age_s: 0,
            available: true,
            requirements: Requirements::new(),
            reservation: None,
            capacity_override: Resources::new(),
            overhead_override: Resources::new(),
            interruptions_per_day: 0.0,
            failures_1h: 0,
        }
    }

    /// All that nodes of this offering satisfy. Without a reservation, the reservation's label must not exist.
    pub fn node_requirements(&self, provider: &ProviderFacts) -> Requirements {
        let mut result = self.requirements.clone();
        let common = [labels::ZONE, labels::CAPACITY_TYPE].map(LabelKey::from);
        let keys = common.iter().chain(&provider.reservation_id);
        for own in keys.filter_map(|key| self.own_requirement(provider, key)) {
            result.add(own);
        }
        result
    }

    /// Requirement that nodes of this offering satisfy on one key; `None` where the offering does not decide it.
    pub fn node_requirement(
        &self,
        provider: &ProviderFacts,
        key: &LabelKey,
    ) -> Option<Requirement> {
        let own = self.own_requirement(provider, key);
        match (own, self.requirements.get(key.as_str())) {
            (Some(own), Some(further)) => Some(own.intersect(further)),
            (own, further) => own.or_else(|| further.cloned()),
        }
    }

    fn own_requirement(&self, provider: &ProviderFacts, key: &LabelKey) -> Option<Requirement> {
        let of_reservation = provider.reservation_id.as_ref() == Some(key);
        let values: [Arc<str>; 1] = match (key.as_str(), &self.reservation) {
            (labels::ZONE, _) => [Arc::clone(&self.zone)],
            (labels::CAPACITY_TYPE, _) => [self.capacity_type.as_str().into()],
            (_, Some(reservation)) if of_reservation => [reservation.id.clone().into()],
            (_, None) if of_reservation => return Some(Requirement::does_not_exist(key.clone())),
            _ => return None,
        };
        Some(Requirement::one_of(key.clone(), values))
    }
}

/// One instance type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceType {
    /// Name of the type, such as m7g.large.
    pub name: TypeName,
    /// Requirements that nodes of this type satisfy, without zone and capacity type. A well-known label that the type lacks is
    /// `DoesNotExist`; one that a pod may choose (operating system) lists several values.
    pub requirements: Requirements,
    /// All it has.
    pub capacity: Resources,
    /// Amounts that the system keeps for itself.
    pub overhead: Resources,
    /// The ways to buy it, in order of zone, capacity type and reservation.
    pub offerings: Vec<Offering>,
    /// Volumes for pods that a node can attach, by CSI driver; a driver that is absent is unlimited as far as is known.
    #[serde(default)]
    pub attach_limits: BTreeMap<Arc<str>, u32>,
}

impl InstanceType {
    /// Where the offering of a zone, a capacity type and a reservation stands among [`InstanceType::offerings`], whether or not it
    /// can be had; `None` where the type is not sold so.
    pub fn position_of(
        &self,
        zone: &str,
        capacity_type: CapacityType,
        reservation: Option<&str>,
    ) -> Option<usize> {
        self.offerings.iter().position(|own| {
            let drawn_on = own.reservation.as_ref().map(|own| own.id.as_str());
            own.zone.as_ref() == zone
                && own.capacity_type == capacity_type
                && drawn_on == reservation
        })
    }

    /// The offering itself.
    pub fn offering(
        &self,
        zone: &str,
        capacity_type: CapacityType,
        reservation: Option<&str>,
    ) -> Option<&Offering> {
        let at = self.position_of(zone, capacity_type, reservation)?;
        self.offerings.get(at)
    }

    /// The offering behind a node of this type with these labels, whether or not it can be had again. Of a node that says
    /// which reservation it draws on, that one.
    pub fn offering_of(&self, provider: &ProviderFacts, labels: &Labels) -> Option<&Offering> {
        let capacity_type = labels.get(labels::CAPACITY_TYPE)?;
        let zone = labels.get(labels::ZONE)?;
        let reservation = provider.reservation_of(labels);
        self.offerings.iter().find(|offering| {
            offering.zone == *zone
                && offering.capacity_type.as_str() == capacity_type.as_ref()
                && (reservation.is_none() || offering.reservation_id() == reservation)
        })
    }

    /// All that an instance bought through `offering` has.
    pub fn capacity_of(&self, offering: &Offering) -> Resources {
        let mut capacity = self.capacity.clone();
        for (name, amount) in offering.capacity_override.iter() {
            capacity.set(name.clone(), amount);
        }
        capacity
    }

    /// Room for pods on an instance bought through `offering`: capacity less overhead, and memory further less
    /// every huge-page reserve, but not below zero.
    pub fn allocatable(&self, offering: &Offering) -> Resources {
        let mut overhead = self.overhead.clone();
        for (name, amount) in offering.overhead_override.iter() {
            overhead.set(name.clone(), amount);
        }
        room(&self.capacity_of(offering), &overhead)
    }
}

/// Room for pods in `capacity` after `overhead`: memory is less every huge-page reserve too, but not below zero.
fn room(capacity: &Resources, overhead: &Resources) -> Resources {
    let mut result = capacity.minus(overhead);
    let is_huge = |name: &ResourceName| name.as_str().starts_with("hugepages-");
    let huge: i64 = capacity
        .iter()
        .filter(|(name, _)| is_huge(name))
        .map(|(_, amount)| amount)
        .sum();
    if huge > 0 && result.contains(&ResourceName::Memory) {
        let memory = result
            .get(&ResourceName::Memory)
            .saturating_sub(huge)
            .max(0);
        result.set(ResourceName::Memory, memory);
    }
    result
}

/// Instance types as nodes of one class have them, in name order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    provider: Arc<ProviderFacts>,
    types: Vec<Arc<InstanceType>>,
    well_known: BTreeSet<LabelKey>,
}

impl Catalogue {
    /// From types in any order; of two with one name the later is kept. Every key that an offering uses is well known
    /// from then on, beside those of the provider and those in `well_known`.
    pub fn new(
        provider: Arc<ProviderFacts>,
        types: impl IntoIterator<Item = InstanceType>,
        well_known: impl IntoIterator<Item = LabelKey>,
    ) -> Self {
        let mut types: Vec<Arc<InstanceType>> = types.into_iter().map(Arc::new).collect();
        types.sort_by(|a, b| a.name.cmp(&b.name));
        types.reverse();
        types.dedup_by(|later, earlier| later.name == earlier.name);
        types.reverse();
        let mut well_known: BTreeSet<LabelKey> = well_known.into_iter().collect();
        for offering in types
            .iter()
            .flat_map(|instance_type| &instance_type.offerings)
        {
            well_known.extend(
                offering
                    .requirements
                    .iter()
                    .map(|requirement| requirement.key().clone()),
            );
        }
        Self {
            provider,
            types,
            well_known,
        }
    }

    /// The same with other types: keys that are well known stay so.
    #[must_use]
    pub fn with_types(&self, types: impl IntoIterator<Item = InstanceType>) -> Self {
        let (provider, own) = (Arc::clone(&self.provider), self.well_known.iter().cloned());
        Self::new(provider, types, own)
    }

    /// The same with other facts about the provider.
    #[must_use]
    pub fn with_provider(&self, provider: Arc<ProviderFacts>) -> Self {
        Self {
            provider,
            ..self.clone()
        }
    }

    /// The same with some types, by position, replaced by a revision of the same name; the others are shared.
    pub(crate) fn revised(&self, mut revisions: BTreeMap<usize, InstanceType>) -> Self {
        let types = self.types.iter().enumerate();
        let types = types.map(|(at, listed)| match revisions.remove(&at) {
            Some(revision) => Arc::new(revision),
            None => Arc::clone(listed),
        });
        Self {
            provider: Arc::clone(&self.provider),
            types: types.collect(),
            well_known: self.well_known.clone(),
        }
    }

    /// Facts about who sells it.
    pub fn provider(&self) -> &Arc<ProviderFacts> {
        &self.provider
    }

    /// The types, in name order.
    pub fn types(&self) -> &[Arc<InstanceType>] {
        &self.types
    }

    /// A type by name.
    pub fn get(&self, name: &str) -> Option<&Arc<InstanceType>> {
        self.types
            .binary_search_by(|have| have.name.as_str().cmp(name))
            .ok()
            .map(|at| &self.types[at])
    }

    /// `true` if new nodes will carry the label although no pool names it.
    pub fn is_well_known(&self, key: &LabelKey) -> bool {
        self.provider.is_well_known(key) || self.well_known.contains(key)
    }

    /// Why a label may not be asked for; `None` where it may.
    pub fn restriction(&self, key: &LabelKey) -> Option<String> {
        let own = self.well_known.contains(key);
        self.provider.restriction(key).filter(|_| !own)
    }

    /// `true` if offerings, not types, decide the value of a label.
    pub fn is_of_offerings(&self, key: &LabelKey) -> bool {
        [labels::ZONE, labels::CAPACITY_TYPE].contains(&key.as_str())
            || self.provider.reservation_id.as_ref() == Some(key)
            || self.well_known.contains(key)
    }

    /// Keys that are well known here beyond those that the provider always has.
    pub fn own_keys(&self) -> &BTreeSet<LabelKey> {
        &self.well_known
    }
}
