//! The ways to buy a claim, as they are written on it and read back: the order of a launch.

use std::sync::Arc;

use super::LaunchOption;
use crate::catalogue::{CapacityType, Catalogue, InstanceType, Offering};
use crate::ids::{ReservationId, TypeName};
use crate::labels::{self, LabelKey};
use crate::model::NodeClaim;
use crate::requirement::{Requirements, Undefined};
use crate::resources::Resources;
use crate::units::PricePerHour;

/// Annotation of a claim with the offerings to try, best first: `type/zone/capacity-type[/reservation]`, comma separated.
pub const LAUNCH_ORDER_ANNOTATION: &str = "plimsoll.dev/launch-order";
/// Types that one launch is handed at most, as the incumbent's are; and no more ways to buy them.
pub const MAX_LAUNCH_TYPES: usize = 60;
/// Types that a claim names at most, as the incumbent's do.
pub const MAX_CLAIM_TYPES: usize = 600;

/// The way to buy that a claim was planned as: the first written on it that is still sold.
pub fn planned_option(claim: &NodeClaim, catalogue: &Catalogue) -> Option<LaunchOption> {
    let written = claim.annotations.get(LAUNCH_ORDER_ANNOTATION)?;
    let mut entries = written.split(',');
    entries.find_map(|entry| parse_option(entry, catalogue))
}

/// Writes options for [`LAUNCH_ORDER_ANNOTATION`], as many as one launch may name.
pub fn launch_order_text(options: &[LaunchOption]) -> String {
    let entry = |option: &LaunchOption| {
        let mut text = format!(
            "{}/{}/{}",
            option.instance_type, option.zone, option.capacity_type
        );
        if let Some(reservation) = &option.reservation {
            text.push('/');
            text.push_str(reservation.as_str());
        }
        text
    };
    let entries: Vec<String> = options.iter().take(MAX_LAUNCH_TYPES).map(entry).collect();
    entries.join(",")
}

pub(crate) fn parse_option(entry: &str, catalogue: &Catalogue) -> Option<LaunchOption> {
    let mut parts = entry.split('/');
    let (name, zone) = (parts.next()?, parts.next()?);
    let capacity_type = CapacityType::parse(parts.next()?)?;
    let reservation = parts.next();
    let instance_type = catalogue.get(name)?;
    let offering = instance_type.offering(zone, capacity_type, reservation)?;
    Some(option(instance_type, offering))
}

/// An offering as a way to buy, where every new node costs so much beyond its instance.
pub(crate) fn launch_option(
    instance_type: &InstanceType,
    offering: &Offering,
    node_cost: PricePerHour,
) -> LaunchOption {
    let reservation = |offering: &Offering| -> Option<ReservationId> {
        Some(offering.reservation.as_ref()?.id.clone())
    };
    LaunchOption {
        instance_type: TypeName::clone(&instance_type.name),
        zone: Arc::clone(&offering.zone),
        capacity_type: offering.capacity_type,
        reservation: reservation(offering),
        price: offering.price + node_cost,
        list_price: offering.price,
    }
}

pub(crate) fn option(instance_type: &InstanceType, offering: &Offering) -> LaunchOption {
    launch_option(instance_type, offering, PricePerHour::ZERO)
}

/// All offerings that requirements allow and requests fit on, to be had now or not, cheapest first.
pub(crate) fn sold<'c>(
    requirements: &Requirements,
    requests: &Resources,
    catalogue: &'c Catalogue,
) -> Vec<(&'c InstanceType, &'c Offering)> {
    let well_known = |key: &LabelKey| catalogue.is_well_known(key);
    let named = requirements
        .get(labels::INSTANCE_TYPE)
        .and_then(|requirement| requirement.listed());
    let mut found: Vec<(&InstanceType, &Offering)> = Vec::new();
    for instance_type in catalogue.types() {
        if named.is_some_and(|named| !named.contains(instance_type.name.as_str())) {
            continue;
        }
        for offering in &instance_type.offerings {
            let mut nodes = offering.node_requirements();
            nodes.add_all(&instance_type.requirements);
            let fits = instance_type.allocatable(offering).fits(requests);
            let allowed = requirements.accepts(&nodes, Undefined::Allowed(&well_known));
            if fits && allowed.is_ok() {
                found.push((instance_type, offering));
            }
        }
    }
    found.sort_by(|(a_type, a), (b_type, b)| {
        (a.price, &a_type.name, &a.zone, a.capacity_type).cmp(&(
            b.price,
            &b_type.name,
            &b.zone,
            b.capacity_type,
        ))
    });
    found
}
