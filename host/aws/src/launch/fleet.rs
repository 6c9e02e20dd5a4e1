//! Fleet requests: one call for all claims of a launch, spot or on demand and never both.

use plimsoll_api::kinds::Tags;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::NodeClaim;
use plimsoll_model::catalogue::{CapacityType, OfferingKey, OrderedBy};
use plimsoll_model::plan::{LaunchOption, ordered_by};

/// A call for instances, all at once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FleetRequest {
    /// The call's identity: with the same it gives the same instances.
    pub token: String,
    /// Instances that are asked for.
    pub count: i32,
    /// `true` for spot.
    pub is_spot: bool,
    /// `true` if EC2 is to keep to the order of the overrides as far as it can.
    pub keeps_order: bool,
    /// Launch templates, each with the ways to buy that it is for.
    pub templates: Vec<(String, Vec<Override>)>,
    /// Tags of instances, volumes and the fleet.
    pub tags: Tags,
    /// The class's context.
    pub context: Option<String>,
}

/// A way to buy: a type in a subnet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Override {
    /// The type.
    pub instance_type: String,
    /// The subnet.
    pub subnet: String,
    /// Its zone.
    pub zone: String,
    /// The image.
    pub image: String,
    /// Place in the order, the lowest first: its price in dollars, or its number where the order is a policy's.
    pub priority: f64,
}

/// Options of a launch that one call may ask for: those of the first one's capacity type. Spot and on demand are never mixed, since EC2 would
/// fill one by the other's strategy; what is left is the next launch's.
pub(crate) fn of_one_kind(options: &[LaunchOption]) -> (&[LaunchOption], CapacityType) {
    let Some(first) = options.first() else {
        return (options, CapacityType::OnDemand);
    };
    let kind = first.capacity_type;
    let end = options
        .iter()
        .position(|option| option.capacity_type != kind);
    (&options[..end.unwrap_or(options.len())], kind)
}

/// `true` if EC2 is to keep to the order of a claim's options: that of a policy. Its own strategies keep to prices as well, and know those of now;
/// those of when the claim was planned may have been others. A claim that does not say counts by today's.
pub(crate) fn keeps_order(claim: &NodeClaim, options: &[LaunchOption]) -> bool {
    let by = OrderedBy::of(claim).unwrap_or_else(|| ordered_by(options));
    by == OrderedBy::Policy
}

/// Places in the order of a request: by price, or by number.
pub(crate) fn priority(number: usize, price: PricePerHour, keeps_order: bool) -> f64 {
    if keeps_order {
        f64::from(u32::try_from(number).unwrap_or(u32::MAX))
    } else {
        price.dollars()
    }
}

/// The answer of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FleetAnswer {
    /// Instances that it gave.
    pub instances: Vec<FleetInstance>,
    /// Ways to buy that gave nothing, and why.
    pub errors: Vec<FleetError>,
}

/// An instance of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FleetInstance {
    /// Its id.
    pub id: String,
    /// Its type.
    pub instance_type: String,
    /// Its zone.
    pub zone: String,
    /// Its subnet; `None` where the answer does not say.
    pub subnet: Option<String>,
    /// Its image.
    pub image: Option<String>,
}

/// A way to buy that gave nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FleetError {
    /// The error's code.
    pub code: String,
    /// Its message.
    pub message: String,
    /// The type that was asked for; empty where the error does not say.
    pub instance_type: String,
    /// The zone that was asked for; empty where the error does not say.
    pub zone: String,
    /// The subnet that was asked for; empty where the error does not say.
    pub subnet: String,
}

impl FleetError {
    /// `true` if it says that the subnet has too few free addresses.
    pub(crate) fn is_about_addresses(&self) -> bool {
        self.code == "InsufficientFreeAddressesInSubnet"
    }

    /// The offering that it speaks of; `None` where it does not say which.
    pub(crate) fn offering(&self, capacity_type: CapacityType) -> Option<OfferingKey> {
        (!self.instance_type.is_empty() && !self.zone.is_empty()).then(|| OfferingKey {
            instance_type: self.instance_type.as_str().into(),
            zone: self.zone.as_str().into(),
            capacity_type,
            reservation: None,
        })
    }
}
