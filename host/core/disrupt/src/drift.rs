//! Nodes that no longer are what their pool says.
//!
//! First the template's fields that are compared by hash, then the pool's requirements against the labels of the claim, then
//! whether the type is still sold. Rules are Karpenter's.
//!
//! Drift of an instance from its class is the provider's word. It comes with the list of all instances and is written on the claim as
//! the condition `Drifted`, where a snapshot reads it.

use std::fmt;
use std::sync::Arc;

use plimsoll_base::labels;
use plimsoll_base::requirement::Requirements;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::catalogue::Catalogue;
use plimsoll_model::{
    NodeClaim, NodePool,
    template_hash::{self, HASH_ANNOTATION},
};

/// Younger claims are not looked at for their type: a catalogue may be read a moment too early.
pub const TYPE_CHECKED_AFTER: Span = Span::from_secs(3600);

/// How a node differs from its pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// Its template has changed in labels, annotations, taints, class, expiry or grace.
    Template,
    /// Its labels are no longer what the pool requires.
    Requirements,
    /// Its type, or any offering of it that fits, is not sold any more.
    InstanceType,
    /// Its instance is no longer what its class says, in the provider's word: `AMIDrift`, `SubnetDrift` and the like.
    Instance(Arc<str>),
}

impl Drift {
    /// As conditions name it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Template => "NodePoolDrifted",
            Self::Requirements => "RequirementsDrifted",
            Self::InstanceType => "InstanceTypeNotFound",
            Self::Instance(reason) => reason,
        }
    }

    /// The drift that a condition names by its reason.
    fn parse(reason: &Arc<str>) -> Self {
        let own = [Self::Template, Self::Requirements, Self::InstanceType];
        let mut own = own.into_iter();
        let known = own.find(|own| own.as_str() == &**reason);
        known.unwrap_or_else(|| Self::Instance(Arc::clone(reason)))
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a claim differs from its pool, which sells `catalogue`, or its instance from its class, as is written on it.
pub fn drift(
    pool: &NodePool,
    claim: &NodeClaim,
    catalogue: &Catalogue,
    now: Timestamp,
) -> Option<Drift> {
    if claim.provider_id.is_none() || claim.deleting.is_some() {
        return None;
    }
    let of_pool = drift_from_pool(pool, claim, catalogue, now);
    of_pool.or_else(|| instance_drift(claim))
}

/// The drift of its instance that is written on a claim.
fn instance_drift(claim: &NodeClaim) -> Option<Drift> {
    let drift = Drift::parse(&claim.drifted()?.reason);
    matches!(drift, Drift::Instance(_)).then_some(drift)
}

/// How a claim differs from its pool, which sells `catalogue`.
fn drift_from_pool(
    pool: &NodePool,
    claim: &NodeClaim,
    catalogue: &Catalogue,
    now: Timestamp,
) -> Option<Drift> {
    let made_from = claim.annotations.get(HASH_ANNOTATION);
    let made_from = made_from.filter(|_| template_hash::is_current(&claim.annotations));
    if made_from.is_some_and(|hash| *hash != template_hash::hash(pool)) {
        return Some(Drift::Template);
    }
    if !meets_requirements(pool, claim) {
        return Some(Drift::Requirements);
    }
    let due = now >= claim.created + TYPE_CHECKED_AFTER;
    (due && !is_sold(claim, catalogue)).then_some(Drift::InstanceType)
}

/// `true` if the labels of a claim satisfy what its pool requires now. Where it has no such label, what it asked for itself
/// counts: a claim made under a requirement is not drifted from it for want of a label that its provider does not set.
fn meets_requirements(pool: &NodePool, claim: &NodeClaim) -> bool {
    let required: Requirements = pool.requirements.iter().cloned().collect();
    required.iter().all(|requirement| {
        let key = requirement.key().as_str();
        if let Some(value) = claim.labels.get(key) {
            return requirement.allows(value);
        }
        let asked = claim.requirements.get(key);
        requirement.allows_absence() || asked.is_some_and(|own| own.overlaps(requirement))
    })
}

/// `true` if the claim's type has an offering, available or not, in its zone and of its capacity type. A reserved one may have
/// become on-demand before its label says so.
fn is_sold(claim: &NodeClaim, catalogue: &Catalogue) -> bool {
    let label = |key: &str| claim.labels.get(key).map(AsRef::as_ref);
    let listed = label(labels::INSTANCE_TYPE).and_then(|name| catalogue.get(name));
    listed.is_some_and(|listed| {
        listed.offerings.iter().any(|offering| {
            let capacity_type = label(labels::CAPACITY_TYPE);
            let same = capacity_type == Some(offering.capacity_type.as_str());
            let demoted =
                capacity_type == Some("reserved") && offering.capacity_type.as_str() == "on-demand";
            label(labels::ZONE) == Some(offering.zone.as_ref()) && (same || demoted)
        })
    })
}
