//! Instances of a launch, dealt to its claims.
//!
//! They are dealt in the order of their ids to claims in the order of the request, leaving out those that other claims of the launch have: whoever
//! repeats the call, or reads it back, deals the same to the same.

use std::collections::BTreeSet;

use plimsoll_core::action::{ClaimLaunch, LaunchAnswer, LaunchRequest, LaunchedInstance, Reason};
use plimsoll_core::catalogue::{CapacityType, OfferingKey};

use super::fleet::FleetError;
use crate::error::{ErrorClass, launch_failure};

/// The shares of claims in a launch that EC2 has answered. `instances` are all that the launch gave, ever.
pub(crate) fn dealt(
    request: &LaunchRequest,
    instances: Vec<LaunchedInstance>,
    errors: &[FleetError],
    capacity_type: CapacityType,
) -> LaunchAnswer {
    let exhausted = exhausted(errors, capacity_type);
    let mut free = free(request, instances);
    let claims = request.claims.iter().map(|_| match free.next() {
        Some(instance) => ClaimLaunch::Instance(Box::new(instance)),
        None => ClaimLaunch::Refused(refusal(errors, &exhausted)),
    });
    LaunchAnswer {
        claims: claims.collect(),
        exhausted: exhausted.iter().cloned().collect(),
    }
}

/// The shares of claims in a launch that was looked for: those that EC2 shows.
pub(crate) fn found(request: &LaunchRequest, instances: Vec<LaunchedInstance>) -> LaunchAnswer {
    let mut free = free(request, instances);
    let claims = request.claims.iter().map(|_| match free.next() {
        Some(instance) => ClaimLaunch::Instance(Box::new(instance)),
        None => ClaimLaunch::Absent,
    });
    LaunchAnswer {
        claims: claims.collect(),
        exhausted: Vec::new(),
    }
}

fn free(
    request: &LaunchRequest,
    mut instances: Vec<LaunchedInstance>,
) -> impl Iterator<Item = LaunchedInstance> {
    instances.sort_by(|one, other| one.provider_id.cmp(&other.provider_id));
    instances.dedup_by(|one, other| one.provider_id == other.provider_id);
    let taken = request.taken.clone();
    let is_free = move |own: &LaunchedInstance| !taken.contains(&own.provider_id);
    instances.into_iter().filter(is_free)
}

/// Offerings that EC2 has none of.
fn exhausted(errors: &[FleetError], capacity_type: CapacityType) -> BTreeSet<OfferingKey> {
    let unfulfillable = errors.iter().filter(|error| {
        matches!(
            ErrorClass::of(&error.code, None),
            ErrorClass::Unfulfillable | ErrorClass::SpotRoleMissing
        )
    });
    unfulfillable
        .filter_map(|error| error.offering(capacity_type))
        .collect()
}

/// Why a claim got nothing: nothing was to be had, or something is wrong that another offering does not cure.
fn refusal(errors: &[FleetError], exhausted: &BTreeSet<OfferingKey>) -> Reason {
    let cured = |error: &&FleetError| {
        let class = ErrorClass::of(&error.code, None);
        !matches!(
            class,
            ErrorClass::Unfulfillable | ErrorClass::SpotRoleMissing
        )
    };
    match errors.iter().find(cured) {
        Some(error) => Reason::Other(launch_failure(&error.code, &error.message).sentence),
        None => Reason::InsufficientCapacity(exhausted.iter().cloned().collect()),
    }
}
