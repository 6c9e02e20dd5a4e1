//! Errors of AWS: what is done next, by their codes; and what people are told, by their text.
//!
//! Codes and reasons are those that Karpenter knows; the sentences, with the way out, are ours.

use crate::credentials::way_out;

/// The way to deal with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorClass {
    /// What was asked for is not there.
    NotFound,
    /// What was to be made is there.
    AlreadyExists,
    /// EC2 has none of what was asked for, or gives this account none: other offerings may do.
    Unfulfillable,
    /// The account lacks the role that spot instances are launched by: no spot instance can be had.
    SpotRoleMissing,
    /// A dry run would have gone well.
    DryRunOk,
    /// The right is missing.
    Denied,
    /// Too many requests.
    Throttled,
    /// The launch template that a fleet names is not there any more.
    LaunchTemplateGone,
    /// The service failed: tried again later.
    ServerFault,
    /// Anything else.
    Other,
}

/// Codes by what is done about them.
const CODES: &[(ErrorClass, &[&str])] = &[
    (
        ErrorClass::LaunchTemplateGone,
        &["InvalidLaunchTemplateName.NotFoundException"],
    ),
    (
        ErrorClass::NotFound,
        &[
            "InvalidCapacityReservationId.NotFound",
            "InvalidInstanceID.NotFound",
            "InvalidLaunchTemplateId.NotFound",
            "QueueDoesNotExist",
            "AWS.SimpleQueueService.NonExistentQueue",
            "NoSuchEntity",
            "ParameterNotFound",
        ],
    ),
    (ErrorClass::AlreadyExists, &["EntityAlreadyExists"]),
    (
        ErrorClass::Unfulfillable,
        &[
            "InsufficientInstanceCapacity",
            "MaxSpotInstanceCountExceeded",
            "VcpuLimitExceeded",
            "UnfulfillableCapacity",
            "Unsupported",
            "InsufficientFreeAddressesInSubnet",
            "MaxFleetCountExceeded",
            "SpotMaxPriceTooLow",
            "ReservationCapacityExceeded",
            "InvalidCapacityReservationState.Unavailable",
        ],
    ),
    (
        ErrorClass::SpotRoleMissing,
        &["AuthFailure.ServiceLinkedRoleCreationNotPermitted"],
    ),
    (ErrorClass::DryRunOk, &["DryRunOperation"]),
    (
        ErrorClass::Denied,
        &[
            "UnauthorizedOperation",
            "AccessDenied",
            "AccessDeniedException",
        ],
    ),
    (
        ErrorClass::Throttled,
        &[
            "RequestLimitExceeded",
            "Throttling",
            "ThrottlingException",
            "SlowDown",
        ],
    ),
];

impl ErrorClass {
    /// The class of an error with that code, answered with that HTTP status where one is known.
    pub fn of(code: &str, status: Option<u16>) -> Self {
        let known = CODES.iter().find(|(_, codes)| codes.contains(&code));
        match known {
            Some((class, _)) => *class,
            None if status.is_some_and(|status| status >= 500) => Self::ServerFault,
            None => Self::Other,
        }
    }
}

/// Why a launch failed, as people are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaunchFailure {
    /// In Pascal case, as the claim's condition `Launched` names it.
    pub reason: &'static str,
    /// A sentence, with the way out where there is one.
    pub sentence: String,
}

/// A failure that is told by words of its error.
struct Known {
    /// All of these are in it.
    words: &'static [&'static str],
    reason: &'static str,
    /// The way out.
    hint: &'static str,
}

const fn known(words: &'static [&'static str], reason: &'static str, hint: &'static str) -> Known {
    Known {
        words,
        reason,
        hint,
    }
}

/// Failures in the order in which they are looked for.
const KNOWN: &[Known] = &[
    known(
        &["AuthFailure.ServiceLinkedRoleCreationNotPermitted"],
        "SpotSLRCreationFailed",
        "create it once for the account: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com",
    ),
    known(
        &["Not authorized for images"],
        "AMIAuthorizationFailure",
        "have the owner of the image share it with this account, or select another one in amiSelectorTerms",
    ),
    known(
        &["permissions boundary"],
        "Unauthorized",
        "a permissions boundary of the controller's role denies this: allow the action there, too",
    ),
    known(
        &["service control policy"],
        "Unauthorized",
        "a service control policy of the organisation denies this: have it allow the action in this account",
    ),
    known(&["UnauthorizedOperation"], "Unauthorized", DENIED),
    known(&["AccessDenied"], "Unauthorized", DENIED),
    known(&["AuthFailure"], "Unauthorized", DENIED),
    known(
        &["InvalidParameter", "belong to different networks"],
        "SecurityGroupSubnetVPCMismatch",
        "select subnets and security groups of one VPC",
    ),
    known(
        &["iamInstanceProfile.name is invalid"],
        "InstanceProfileNameInvalid",
        "name an instance profile that is there in spec.instanceProfile, or a role in spec.role",
    ),
    known(
        &["Invalid IAM Instance Profile name"],
        "InstanceProfileNameInvalid",
        "name an instance profile that is there in spec.instanceProfile, or a role in spec.role",
    ),
    known(
        &["InvalidGroup.NotFound"],
        "SecurityGroupNotFound",
        "somebody deleted it meanwhile; the class finds those that are there with its next look",
    ),
    known(
        &["InvalidSubnetID.NotFound"],
        "SubnetNotFound",
        "somebody deleted it meanwhile; the class finds those that are there with its next look",
    ),
    known(
        &["TagLimitExceeded"],
        "TagLimitExceeded",
        "leave tags out in spec.tags: a resource may have 50, those of the controller among them",
    ),
    known(
        &["The architecture", "does not match the architecture"],
        "ImageArchitectureMismatch",
        "select an image for the architecture of the types in amiSelectorTerms, or types for that of the image in the NodePool",
    ),
    known(
        &["InvalidLaunchTemplateId.NotFound"],
        "LaunchTemplateNotFound",
        "somebody deleted it meanwhile; it is made again",
    ),
    known(
        &["User data is limited to"],
        "UserDataSizeLimitExceeded",
        "shorten spec.userData: with what is added it may have 16384 bytes",
    ),
    known(
        &["InvalidAMIID.Malformed"],
        "InvalidAMIID",
        "correct the id in amiSelectorTerms",
    ),
    known(
        &["InvalidAMIID.NotFound"],
        "AMINotFound",
        "select an image of this region that is not deregistered",
    ),
    known(
        &["RequestLimitExceeded"],
        "RequestLimitExceeded",
        "it is tried again more slowly; other tools of the account may use up its rate of requests",
    ),
    known(&["InternalError"], "InternalError", "it is tried again"),
    known(
        &["not eligible for Free Tier"],
        "FreeTierIneligible",
        "the account is limited to types of the free tier: allow these in the NodePool, or upgrade the account",
    ),
    known(
        &["MaxFleetCountExceeded"],
        "FleetQuotaExceeded",
        "have the quota of fleets raised in Service Quotas",
    ),
    known(
        &["PendingVerification"],
        "AccountPendingVerification",
        "AWS still verifies the account for this region; it is tried again",
    ),
    known(
        &["MaxSpotInstanceCountExceeded"],
        "SpotQuotaExceeded",
        "have the quota of spot vCPUs raised in Service Quotas, or allow on-demand in the NodePool",
    ),
    known(
        &["VcpuLimitExceeded"],
        "VCPULimitExceeded",
        "have the quota of on-demand vCPUs raised in Service Quotas, or allow families of another quota",
    ),
    known(
        &["InsufficientFreeAddressesInSubnet"],
        "InsufficientFreeAddressesInSubnet",
        "select more or larger subnets in subnetSelectorTerms",
    ),
    known(
        &["KMS"],
        "LaunchFailed",
        "let the controller's role, or the role of the fleet, use the key that volumes are encrypted with (kms:CreateGrant)",
    ),
];

const DENIED: &str = "give the controller's role the policies of the chart";

/// The words that people are told of a failed launch. `code` and `message` are the error's own.
pub(crate) fn launch_failure(code: &str, message: &str) -> LaunchFailure {
    if let Some(way_out) = way_out(code, message) {
        return LaunchFailure {
            reason: "Unauthorized",
            sentence: format!("{code}: {message}; {way_out}"),
        };
    }
    let text = format!("{code}: {message}");
    let fits = |known: &&Known| known.words.iter().all(|words| text.contains(words));
    match KNOWN.iter().find(fits) {
        Some(known) => LaunchFailure {
            reason: known.reason,
            sentence: format!("{text}; {}", known.hint),
        },
        None => LaunchFailure {
            reason: "LaunchFailed",
            sentence: text,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_what_is_done_next() {
        for (code, status, class) in [
            (
                "InsufficientInstanceCapacity",
                None,
                ErrorClass::Unfulfillable,
            ),
            ("SpotMaxPriceTooLow", None, ErrorClass::Unfulfillable),
            (
                "InvalidCapacityReservationState.Unavailable",
                None,
                ErrorClass::Unfulfillable,
            ),
            (
                "InvalidInstanceID.NotFound",
                Some(400),
                ErrorClass::NotFound,
            ),
            (
                "InvalidLaunchTemplateName.NotFoundException",
                Some(400),
                ErrorClass::LaunchTemplateGone,
            ),
            ("DryRunOperation", Some(412), ErrorClass::DryRunOk),
            ("UnauthorizedOperation", Some(403), ErrorClass::Denied),
            // Too many requests come with a status of failing servers.
            ("RequestLimitExceeded", Some(503), ErrorClass::Throttled),
            ("InternalError", Some(500), ErrorClass::ServerFault),
            ("InvalidParameterValue", Some(400), ErrorClass::Other),
            ("", None, ErrorClass::Other),
        ] {
            assert_eq!(ErrorClass::of(code, status), class, "{code}");
        }
    }

    #[test]
    fn no_code_is_of_two_classes() {
        let mut codes: Vec<_> = CODES.iter().flat_map(|(_, codes)| codes.iter()).collect();
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn people_are_told_the_reason_and_the_way_out() {
        for (code, message, reason, hint) in [
            (
                "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
                "The provided credentials do not have permission",
                "SpotSLRCreationFailed",
                "create-service-linked-role",
            ),
            (
                "UnauthorizedOperation",
                "Not authorized for images: [ami-1]",
                "AMIAuthorizationFailure",
                "share it",
            ),
            (
                "UnauthorizedOperation",
                "with an explicit deny in a service control policy",
                "Unauthorized",
                "organisation",
            ),
            (
                "UnauthorizedOperation",
                "because no permissions boundary allows the action",
                "Unauthorized",
                "boundary",
            ),
            (
                "UnauthorizedOperation",
                "You are not authorized",
                "Unauthorized",
                "policies of the chart",
            ),
            (
                "InvalidParameter",
                "Security group sg-1 and subnet subnet-1 belong to different networks.",
                "SecurityGroupSubnetVPCMismatch",
                "one VPC",
            ),
            (
                "InvalidUserData.Malformed",
                "User data is limited to 16384 bytes",
                "UserDataSizeLimitExceeded",
                "16384",
            ),
            (
                "InsufficientFreeAddressesInSubnet",
                "",
                "InsufficientFreeAddressesInSubnet",
                "subnets",
            ),
            (
                "InvalidParameterValue",
                "Invalid IAM Instance Profile name",
                "InstanceProfileNameInvalid",
                "spec.instanceProfile",
            ),
            (
                "InvalidGroup.NotFound",
                "The security group 'sg-1' does not exist",
                "SecurityGroupNotFound",
                "deleted it",
            ),
            (
                "TagLimitExceeded",
                "The maximum number of tags (50) for this resource has been reached.",
                "TagLimitExceeded",
                "spec.tags",
            ),
            (
                "InvalidParameterValue",
                "The architecture 'x86_64' of the specified instance type does not match the architecture 'arm64' of the specified AMI.",
                "ImageArchitectureMismatch",
                "amiSelectorTerms",
            ),
            (
                "SignatureDoesNotMatch",
                "Signature expired: 20260101T000000Z is now earlier than 20260101T005500Z",
                "Unauthorized",
                "set the clock",
            ),
            (
                "Client.InvalidKMSKey.InvalidState",
                "The KMS key provided is in an incorrect state",
                "LaunchFailed",
                "kms:CreateGrant",
            ),
        ] {
            let told = launch_failure(code, message);
            assert_eq!(told.reason, reason, "{code}");
            assert!(
                told.sentence.starts_with(code) && told.sentence.contains(hint),
                "{}",
                told.sentence
            );
        }
        let told = launch_failure("Strange", "words");
        assert_eq!(
            (told.reason, &*told.sentence),
            ("LaunchFailed", "Strange: words")
        );
    }
}
