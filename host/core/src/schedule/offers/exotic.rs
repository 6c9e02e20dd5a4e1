//! Kinds of machines that nobody gets unless asked for, and how a requirement asks for them.

use crate::catalogue::InstanceType;
use crate::labels;
use crate::requirement::Requirement;

/// Families that share a core's time.
const BURSTABLE: [&str; 4] = ["t2", "t3", "t3a", "t4g"];
/// Generations up to this one are previous ones.
const PREVIOUS_GENERATION: i64 = 2;
/// Keys by which a requirement names types.
const NAMING: [&str; 3] = [
    labels::INSTANCE_TYPE,
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-category",
];

/// `true` if a requirement speaks of capacity types.
pub(crate) fn names_terms(requirement: &Requirement) -> bool {
    requirement.key().as_str() == labels::CAPACITY_TYPE
}

/// `true` if a requirement says by name which types are wanted.
pub(crate) fn names_types(requirement: &Requirement) -> bool {
    let listed = requirement.listed();
    NAMING.contains(&requirement.key().as_str()) && listed.is_some_and(|values| !values.is_empty())
}

/// `true` if a type is burstable, of a previous generation or bare metal.
pub(crate) fn is_exotic(instance_type: &InstanceType) -> bool {
    let label = |key: &str| {
        instance_type
            .requirements
            .get(key)
            .and_then(|requirement| requirement.single())
            .map(AsRef::as_ref)
    };
    let family = label("karpenter.k8s.aws/instance-family").unwrap_or("");
    let generation = label("karpenter.k8s.aws/instance-generation")
        .and_then(|text: &str| text.parse::<i64>().ok());
    BURSTABLE.contains(&family)
        || generation.is_some_and(|generation| generation <= PREVIOUS_GENERATION)
        || label("karpenter.k8s.aws/instance-size")
            .is_some_and(|size: &str| size.starts_with("metal"))
}
