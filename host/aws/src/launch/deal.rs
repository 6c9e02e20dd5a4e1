//! Instances of a launch, dealt to its claims.
//!
//! They are dealt in the order of their ids to claims in the order of the request, leaving out those that other claims of the launch have:
//! a call that is repeated, or read back, deals the same to the same.

use std::collections::BTreeSet;

use plimsoll_model::action::{ClaimLaunch, LaunchAnswer, LaunchRequest, LaunchedInstance, Reason};
use plimsoll_model::catalogue::{CapacityType, Catalogue, OfferingKey};
use plimsoll_model::plan::LaunchOption;

use super::fleet::FleetError;
use crate::error::{ErrorClass, LaunchFailure, launch_failure};

/// Something that errors of a fleet are read by, beside the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Supply<'s> {
    /// Catalogues of all classes.
    pub(crate) sold: Vec<&'s Catalogue>,
    /// Zones of the class in which a subnet has addresses, as far as is known.
    pub(crate) with_addresses: BTreeSet<&'s str>,
}

impl Supply<'_> {
    /// `true` for an error that the next launch will not have, since it goes into another subnet of the zone.
    fn has_another_subnet(&self, error: &FleetError) -> bool {
        error.is_about_addresses() && self.with_addresses.contains(error.zone.as_str())
    }

    /// All spot offerings, of every class.
    fn spot(&self) -> impl Iterator<Item = OfferingKey> {
        let types = self.sold.iter().flat_map(|sold| sold.types());
        types.flat_map(|own| {
            let spot = own.offerings.iter();
            let spot = spot.filter(|offering| offering.capacity_type == CapacityType::Spot);
            spot.map(|offering| OfferingKey::of(own, offering))
        })
    }
}

/// The shares of claims in a launch that EC2 has answered, bought in one of these ways. `instances` are all that the launch gave, ever.
pub(crate) fn dealt(
    request: &LaunchRequest,
    options: &[LaunchOption],
    supply: &Supply<'_>,
    instances: Vec<LaunchedInstance>,
    errors: &[FleetError],
) -> LaunchAnswer {
    let mut exhausted = exhausted(errors, request, options, supply);
    if errors.iter().any(is_spot_role_missing) {
        exhausted.extend(supply.spot());
    }
    let mut free = free(request, instances);
    let claims = request.claims.iter().map(|_| match free.next() {
        Some(instance) => ClaimLaunch::Instance(Box::new(instance)),
        None => ClaimLaunch::Refused(refusal(errors, options, supply, &exhausted)),
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

/// `true` for an error that another offering may not have.
fn is_out_of_stock(error: &FleetError) -> bool {
    matches!(
        ErrorClass::of(&error.code, None),
        ErrorClass::Unfulfillable | ErrorClass::SpotRoleMissing
    )
}

fn is_throttled(error: &FleetError) -> bool {
    ErrorClass::of(&error.code, None) == ErrorClass::Throttled
}

/// Offerings that EC2 says there are none of. Where no subnet of a zone has addresses, all that was asked for there is among them; where another
/// has some, nothing is.
fn exhausted(
    errors: &[FleetError],
    request: &LaunchRequest,
    options: &[LaunchOption],
    supply: &Supply<'_>,
) -> BTreeSet<OfferingKey> {
    let Some(first) = options.first() else {
        return BTreeSet::new();
    };
    let out = errors.iter().filter(|error| is_out_of_stock(error));
    let out = out.filter(|error| !supply.has_another_subnet(error));
    let mut exhausted = BTreeSet::new();
    for error in out {
        exhausted.extend(error.offering(first.capacity_type));
        if error.is_about_addresses() {
            let there = request.options.iter();
            let there = there.filter(|option| *option.zone == *error.zone);
            exhausted.extend(there.map(LaunchOption::offering));
        }
    }
    exhausted
}

/// Why a claim got nothing: something is wrong that another offering does not cure, or EC2 has had no time for it, or nothing was to be had, of
/// whatever was asked for where EC2 does not say of what.
fn refusal(
    errors: &[FleetError],
    options: &[LaunchOption],
    supply: &Supply<'_>,
    exhausted: &BTreeSet<OfferingKey>,
) -> Reason {
    let failure = |error: &FleetError| launch_failure(&error.code, &error.message);
    let is_wrong = |error: &&FleetError| !is_out_of_stock(error) && !is_throttled(error);
    if let Some(error) = errors.iter().find(is_wrong) {
        let LaunchFailure { reason, sentence } = failure(error);
        return Reason::LaunchFailed {
            reason: reason.into(),
            words: sentence,
        };
    }
    if errors.iter().any(is_throttled) {
        return Reason::Throttled(None);
    }
    let only_there = |error: &FleetError| supply.has_another_subnet(error);
    let offerings = if !errors.is_empty() && errors.iter().all(only_there) {
        Vec::new()
    } else if exhausted.is_empty() {
        options.iter().map(LaunchOption::offering).collect()
    } else {
        exhausted.iter().cloned().collect()
    };
    // Out of stock says itself; anything else is for people to mend.
    let is_told = |error: &&FleetError| !is_plain_shortage(&error.code);
    Reason::InsufficientCapacity {
        offerings,
        because: errors
            .iter()
            .find(is_told)
            .map(|error| failure(error).sentence),
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
    use plimsoll_model::catalogue::CapacityType::Spot;
    use serde_json::json;

    use super::*;
    use crate::sample;

    /// The answer to a claim that got nothing, where EC2 answered with these errors: code, type, zone.
    fn answered(errors: &[(&str, &str, &str)]) -> LaunchAnswer {
        answered_with(errors, &[])
    }

    /// The same where a subnet in these zones has addresses.
    fn answered_with(errors: &[(&str, &str, &str)], zones: &[&str]) -> LaunchAnswer {
        let errors: Vec<FleetError> = errors
            .iter()
            .map(|(code, instance_type, zone)| FleetError {
                code: (*code).to_owned(),
                message: String::new(),
                instance_type: (*instance_type).to_owned(),
                zone: (*zone).to_owned(),
                subnet: String::new(),
            })
            .collect();
        let options = vec![
            sample::option("m7i.large", "us-east-1a", Spot, 0.04),
            sample::option("m7g.large", "us-east-1b", Spot, 0.05),
        ];
        let request = sample::request(&["a"], options.clone());
        let class = sample::class(&json!({}));
        let supply = Supply {
            sold: vec![&*class.catalogue],
            with_addresses: zones.iter().copied().collect(),
        };
        dealt(&request, &options, &supply, Vec::new(), &errors)
    }

    /// Why it did not: the types of which there were none, or the reason that the claim tells; and the words.
    fn refused(errors: &[(&str, &str, &str)]) -> (Vec<String>, String) {
        told(answered(errors))
    }

    fn told(mut answer: LaunchAnswer) -> (Vec<String>, String) {
        match answer.claims.pop() {
            Some(ClaimLaunch::Refused(Reason::InsufficientCapacity { offerings, because })) => {
                let types = offerings.iter().map(|own| own.instance_type.to_string());
                (types.collect(), because.unwrap_or_default())
            }
            Some(ClaimLaunch::Refused(Reason::LaunchFailed { reason, words })) => {
                (vec![reason.to_string()], words)
            }
            Some(ClaimLaunch::Refused(Reason::Throttled(None))) => {
                (Vec::new(), "throttled".to_owned())
            }
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
        let (reason, words) = refused(&[out, wrong]);
        assert_eq!(reason, ["AMINotFound"]);
        assert!(words.starts_with("InvalidAMIID.NotFound"), "{words}");
        // What more stock does not mend is told.
        let quota = ("VcpuLimitExceeded", "m7i.large", "us-east-1a");
        assert_eq!(refused(&[out]).1, "");
        let (types, words) = refused(&[out, quota]);
        assert_eq!(types, ["m7g.large", "m7i.large"]);
        assert!(words.starts_with("VcpuLimitExceeded"), "{words}");
    }

    #[test]
    fn a_fleet_that_is_throttled_is_no_failure_and_says_nothing_of_what_there_is() {
        let throttled = ("RequestLimitExceeded", "m7i.large", "us-east-1a");
        let out = ("UnfulfillableCapacity", "m7g.large", "us-east-1b");
        let wrong = ("InvalidAMIID.NotFound", "m7i.large", "us-east-1a");
        assert_eq!(refused(&[throttled]), (Vec::new(), "throttled".to_owned()));
        let answer = answered(&[out, throttled]);
        assert_eq!(answer.exhausted.len(), 1, "what is out is out");
        assert_eq!(told(answer).1, "throttled");
        let (_, words) = refused(&[throttled, wrong]);
        assert!(words.starts_with("InvalidAMIID.NotFound"), "{words}");
    }

    #[test]
    fn a_zone_is_out_of_addresses_once_all_its_subnets_are() {
        let short = (
            "InsufficientFreeAddressesInSubnet",
            "m7i.large",
            "us-east-1a",
        );
        let answer = answered_with(&[short], &["us-east-1a", "us-east-1b"]);
        assert_eq!(answer.exhausted, []);
        let (types, words) = told(answer);
        assert_eq!(types, [""; 0]);
        assert!(words.starts_with("InsufficientFreeAddresses"), "{words}");
        let answer = answered_with(&[short], &["us-east-1b"]);
        let zones: Vec<&str> = answer.exhausted.iter().map(|own| &*own.zone).collect();
        assert_eq!(zones, ["us-east-1a"]);
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
