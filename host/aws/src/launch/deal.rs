//! Instances of a launch, dealt to its claims.
//!
//! They are dealt in the order of their ids to claims in the order of the request, leaving out those that other claims of the launch have: whoever
//! repeats the call, or reads it back, deals the same to the same.

use std::collections::BTreeSet;

use plimsoll_core::action::{ClaimLaunch, LaunchAnswer, LaunchRequest, LaunchedInstance, Reason};
use plimsoll_core::catalogue::OfferingKey;
use plimsoll_core::plan::LaunchOption;

use super::fleet::FleetError;
use crate::error::{ErrorClass, launch_failure};

/// The shares of claims in a launch that EC2 has answered, bought in one of these ways. `instances` are all that the launch gave, ever.
pub(crate) fn dealt(
    request: &LaunchRequest,
    options: &[LaunchOption],
    instances: Vec<LaunchedInstance>,
    errors: &[FleetError],
) -> LaunchAnswer {
    let exhausted = exhausted(errors, options);
    let mut free = free(request, instances);
    let claims = request.claims.iter().map(|_| match free.next() {
        Some(instance) => ClaimLaunch::Instance(Box::new(instance)),
        None => ClaimLaunch::Refused(refusal(errors, options, &exhausted)),
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

/// `true` for an error that another offering may not have.
fn is_out_of_stock(error: &FleetError) -> bool {
    matches!(
        ErrorClass::of(&error.code, None),
        ErrorClass::Unfulfillable | ErrorClass::SpotRoleMissing
    )
}

/// Offerings that EC2 says there are none of.
fn exhausted(errors: &[FleetError], options: &[LaunchOption]) -> BTreeSet<OfferingKey> {
    let Some(first) = options.first() else {
        return BTreeSet::new();
    };
    let out = errors.iter().filter(|error| is_out_of_stock(error));
    out.filter_map(|error| error.offering(first.capacity_type))
        .collect()
}

/// Why a claim got nothing: something is wrong that another offering does not cure, or nothing was to be had, of whatever was asked for where
/// EC2 does not say of what.
fn refusal(
    errors: &[FleetError],
    options: &[LaunchOption],
    exhausted: &BTreeSet<OfferingKey>,
) -> Reason {
    match errors.iter().find(|error| !is_out_of_stock(error)) {
        Some(error) => Reason::Other(launch_failure(&error.code, &error.message).sentence),
        None if exhausted.is_empty() => {
            Reason::InsufficientCapacity(options.iter().map(LaunchOption::offering).collect())
        }
        None => Reason::InsufficientCapacity(exhausted.iter().cloned().collect()),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_core::catalogue::CapacityType::Spot;

    use super::*;
    use crate::sample;

    /// Why a claim that got nothing did not, where EC2 answered with these errors: code, type, zone.
    fn refused(errors: &[(&str, &str, &str)]) -> Reason {
        let errors: Vec<FleetError> = errors
            .iter()
            .map(|(code, instance_type, zone)| FleetError {
                code: (*code).to_owned(),
                message: String::new(),
                instance_type: (*instance_type).to_owned(),
                zone: (*zone).to_owned(),
            })
            .collect();
        let options = vec![
            sample::option("m7i.large", "us-east-1a", Spot, 0.04),
            sample::option("m7g.large", "us-east-1b", Spot, 0.05),
        ];
        let request = sample::request(&["a"], options.clone());
        let answer = dealt(&request, &options, Vec::new(), &errors);
        match answer.claims.into_iter().next() {
            Some(ClaimLaunch::Refused(reason)) => reason,
            _ => Reason::NotFound,
        }
    }

    fn types(reason: &Reason) -> Vec<&str> {
        match reason {
            Reason::InsufficientCapacity(out) => {
                out.iter().map(|own| own.instance_type.as_str()).collect()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_claim_without_an_instance_is_told_of_what_there_was_none() {
        let out = ("UnfulfillableCapacity", "m7g.large", "us-east-1b");
        assert_eq!(types(&refused(&[out])), ["m7g.large"]);
        // Fewer than were asked for without a word, or a word that names nothing: all that was asked for was not to be had.
        assert_eq!(types(&refused(&[])), ["m7i.large", "m7g.large"]);
        let unnamed = ("UnfulfillableCapacity", "", "");
        assert_eq!(types(&refused(&[unnamed])), ["m7i.large", "m7g.large"]);
        let wrong = ("InvalidAMIID.NotFound", "m7i.large", "us-east-1a");
        let Reason::Other(words) = refused(&[out, wrong]) else {
            unreachable!("another offering does not cure it")
        };
        assert!(words.starts_with("InvalidAMIID.NotFound"), "{words}");
    }
}
