//! Instances of a launch, dealt to its claims.
//!
//! They are dealt in the order of their ids to claims in the order of the request, leaving out those that other claims of the launch have: whoever
//! repeats the call, or reads it back, deals the same to the same.

use std::collections::BTreeSet;

use plimsoll_core::action::{ClaimLaunch, LaunchAnswer, LaunchRequest, LaunchedInstance, Reason};
use plimsoll_core::catalogue::{CapacityType, Catalogue, OfferingKey};
use plimsoll_core::plan::LaunchOption;

use super::fleet::FleetError;
use crate::error::{ErrorClass, launch_failure};

/// The shares of claims in a launch that EC2 has answered, bought in one of these ways, of a class that sells these types. `instances` are
/// all that the launch gave, ever.
pub(crate) fn dealt(
    request: &LaunchRequest,
    options: &[LaunchOption],
    sold: &Catalogue,
    instances: Vec<LaunchedInstance>,
    errors: &[FleetError],
) -> LaunchAnswer {
    let mut exhausted = exhausted(errors, options);
    if errors.iter().any(is_spot_role_missing) {
        exhausted.extend(spot_of(sold));
    }
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

/// `true` where the account lacks the role by which EC2 gives spot, and may not make it: no spot of any type will be given.
fn is_spot_role_missing(error: &FleetError) -> bool {
    ErrorClass::of(&error.code, None) == ErrorClass::SpotRoleMissing
}

/// All spot offerings of a class.
fn spot_of(sold: &Catalogue) -> impl Iterator<Item = OfferingKey> {
    sold.types().iter().flat_map(|own| {
        let spot = own.offerings.iter();
        let spot = spot.filter(|offering| offering.capacity_type == CapacityType::Spot);
        spot.map(|offering| OfferingKey::of(own, offering))
    })
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
    let words = |error: &FleetError| launch_failure(&error.code, &error.message).sentence;
    if let Some(error) = errors.iter().find(|error| !is_out_of_stock(error)) {
        return Reason::Other(words(error));
    }
    let offerings = if exhausted.is_empty() {
        options.iter().map(LaunchOption::offering).collect()
    } else {
        exhausted.iter().cloned().collect()
    };
    // Out of stock says itself; anything else is for people to mend.
    let is_told = |error: &&FleetError| !is_plain_shortage(&error.code);
    Reason::InsufficientCapacity {
        offerings,
        because: errors.iter().find(is_told).map(words),
    }
}

/// `true` for codes by which EC2 says no more than that it has none left.
fn is_plain_shortage(code: &str) -> bool {
    matches!(
        code,
        "InsufficientInstanceCapacity" | "UnfulfillableCapacity" | "Unsupported"
    )
}

#[cfg(test)]
mod tests {
    use plimsoll_core::catalogue::CapacityType::Spot;
    use serde_json::json;

    use super::*;
    use crate::sample;

    /// The answer to a claim that got nothing, where EC2 answered with these errors: code, type, zone.
    fn answered(errors: &[(&str, &str, &str)]) -> LaunchAnswer {
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
        let class = sample::class(&json!({}));
        dealt(&request, &options, &class.catalogue, Vec::new(), &errors)
    }

    /// Why it did not: the reason, the types of which there were none, and the words.
    fn refused(errors: &[(&str, &str, &str)]) -> (Vec<String>, String) {
        match answered(errors).claims.pop() {
            Some(ClaimLaunch::Refused(Reason::InsufficientCapacity { offerings, because })) => {
                let types = offerings.iter().map(|own| own.instance_type.to_string());
                (types.collect(), because.unwrap_or_default())
            }
            Some(ClaimLaunch::Refused(Reason::Other(words))) => (Vec::new(), words),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn a_claim_without_an_instance_is_told_of_what_there_was_none() {
        let out = ("UnfulfillableCapacity", "m7g.large", "us-east-1b");
        let types = |errors: &[(&str, &str, &str)]| refused(errors).0;
        assert_eq!(types(&[out]), ["m7g.large"]);
        // Fewer than were asked for without a word, or a word that names nothing: all that was asked for was not to be had.
        assert_eq!(types(&[]), ["m7i.large", "m7g.large"]);
        let unnamed = ("UnfulfillableCapacity", "", "");
        assert_eq!(types(&[unnamed]), ["m7i.large", "m7g.large"]);
        let wrong = ("InvalidAMIID.NotFound", "m7i.large", "us-east-1a");
        let (_, words) = refused(&[out, wrong]);
        assert!(words.starts_with("InvalidAMIID.NotFound"), "{words}");
        // What more stock does not mend is told.
        let quota = ("VcpuLimitExceeded", "m7i.large", "us-east-1a");
        assert_eq!(refused(&[out]).1, "");
        let (types, words) = refused(&[out, quota]);
        assert_eq!(types, ["m7g.large", "m7i.large"]);
        assert!(words.starts_with("VcpuLimitExceeded"), "{words}");
    }

    #[test]
    fn without_the_role_for_spot_none_of_the_class_is_asked_for_again() {
        let code = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
        let errors = [(code, "m7i.large", "us-east-1a")];
        let exhausted = answered(&errors).exhausted;
        assert!(exhausted.len() > 1000, "{}", exhausted.len());
        assert!(exhausted.iter().all(|own| own.capacity_type == Spot));
        let (types, words) = refused(&errors);
        assert_eq!(types.len(), exhausted.len());
        assert!(words.contains("create-service-linked-role"), "{words}");
    }
}
