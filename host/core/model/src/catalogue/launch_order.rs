//! The name of an offering, and the order in which a claim's offerings are tried, as it is written on the claim.

use std::fmt;
use std::sync::Arc;

use plimsoll_base::ids::{ReservationId, TypeName};
use serde::{Deserialize, Serialize};

use super::{CapacityType, InstanceType, Offering};
use crate::NodeClaim;

/// Annotation of a claim with the offerings to try, best first, as [`OfferingKey`] writes them, comma separated.
pub const LAUNCH_ORDER_ANNOTATION: &str = "plimsoll.dev/launch-order";

/// Annotation of a claim that says what its launch order is by, as [`OrderedBy`] writes it. Prices change while a claim waits, so that the order
/// alone does not tell.
pub const LAUNCH_ORDER_BY_ANNOTATION: &str = "plimsoll.dev/launch-order-by";

/// The rule that the order written on a claim was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderedBy {
    /// List price, as it was when the order was written: the cloud may choose by its own strategies.
    Price,
    /// A policy's, which differs from price: the cloud is to keep to it.
    Policy,
}

impl OrderedBy {
    /// The value of the annotation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Price => "price",
            Self::Policy => "policy",
        }
    }

    /// As it is written on a claim; `None` where it says nothing that is known, as on claims of before.
    pub fn of(claim: &NodeClaim) -> Option<Self> {
        let written = claim.annotations.get(LAUNCH_ORDER_BY_ANNOTATION)?;
        let mut both = [Self::Price, Self::Policy].into_iter();
        both.find(|own| own.as_str() == &**written)
    }
}

/// An offering by name: no two offerings of a catalogue have the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OfferingKey {
    /// The instance type.
    pub instance_type: TypeName,
    /// The zone.
    pub zone: Arc<str>,
    /// The capacity type.
    pub capacity_type: CapacityType,
    /// The reservation it draws on; `None` for every capacity type but reserved.
    pub reservation: Option<ReservationId>,
}

impl OfferingKey {
    /// The name of a type's offering.
    pub fn of(instance_type: &InstanceType, offering: &Offering) -> Self {
        let reservation = offering.reservation.as_ref();
        Self {
            instance_type: instance_type.name.clone(),
            zone: Arc::clone(&offering.zone),
            capacity_type: offering.capacity_type,
            reservation: reservation.map(|reservation| reservation.id.clone()),
        }
    }

    /// Reads `type/zone/capacity-type[/reservation]`; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let key = Self {
            instance_type: TypeName::from(parts.next()?),
            zone: Arc::from(parts.next()?),
            capacity_type: CapacityType::parse(parts.next()?)?,
            reservation: parts.next().map(ReservationId::from),
        };
        parts.next().is_none().then_some(key)
    }
}

/// `m7g.large/zone-a/on-demand`, with the reservation's id as a fourth part where it draws on one.
impl fmt::Display for OfferingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, zone, capacity_type) = (&self.instance_type, &self.zone, self.capacity_type);
        write!(f, "{name}/{zone}/{capacity_type}")?;
        match &self.reservation {
            Some(reservation) => write!(f, "/{reservation}"),
            None => Ok(()),
        }
    }
}

/// The offerings written on a claim, best first; entries that name none are skipped.
pub fn launch_order(claim: &NodeClaim) -> impl Iterator<Item = OfferingKey> + '_ {
    let written = claim.annotations.get(LAUNCH_ORDER_ANNOTATION);
    let entries = written.into_iter().flat_map(|text| text.split(','));
    entries.filter_map(OfferingKey::parse)
}
