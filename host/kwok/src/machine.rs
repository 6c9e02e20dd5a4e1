//! The instance that an offering gives for a claim: its name, its labels, what it has.

use std::sync::Arc;

use plimsoll_core::action::Machine;
use plimsoll_core::catalog::{InstanceType, Offering};
use plimsoll_core::fixed_hash::{hash_of, short_name};
use plimsoll_core::ids::{ClaimName, ProviderId, Uid};
use plimsoll_core::labels::{self, Labels};
use plimsoll_core::model::NodeClaim;
use plimsoll_core::requirement::Requirement;

use crate::PROVIDER_PREFIX;

/// Label with the price in dollars per hour, which a common viewer of nodes reads.
pub(crate) const PRICE_LABEL: &str = "eks-node-viewer/instance-price";
const SUFFIX: usize = 8;

/// The name of a claim's node: the same however often the claim is launched.
pub(crate) fn node_name(claim: &ClaimName, uid: &Uid) -> String {
    format!("kwok-{claim}-{}", suffix(uid))
}

/// The end of the name of a claim's node.
pub(crate) fn suffix(uid: &Uid) -> String {
    short_name(hash_of(uid), SUFFIX)
}

/// The instance of a claim bought through an offering.
pub(crate) fn machine(
    claim: &NodeClaim,
    instance_type: &InstanceType,
    offering: &Offering,
) -> Machine {
    let mut own = Labels::new();
    let mut put = |key: &str, value: &Arc<str>| own.insert(Arc::from(key), Arc::clone(value));
    let of_claim =
        |requirement: &&Requirement| claim.requirements.get(requirement.key().as_str()).is_none();
    for requirement in claim.requirements.iter() {
        if let Some(value) = requirement.single() {
            put(requirement.key().as_str(), value);
        }
    }
    for requirement in instance_type.requirements.iter() {
        let key = requirement.key().as_str();
        let chosen = match claim.requirements.get(key) {
            Some(asked) => asked.intersect(requirement),
            None => requirement.clone(),
        };
        // Of several systems that a type can run, the first by name.
        if let Some(value) = chosen.listed().and_then(|values| values.first()) {
            put(key, value);
        }
    }
    for requirement in offering.requirements.iter().filter(of_claim) {
        if let Some(value) = requirement.single() {
            put(requirement.key().as_str(), value);
        }
    }
    put(labels::ZONE, &offering.zone);
    put(
        labels::CAPACITY_TYPE,
        &Arc::from(offering.capacity_type.as_str()),
    );
    if let Some(reservation) = &offering.reservation {
        put(labels::RESERVATION_ID, &Arc::from(reservation.id.as_str()));
    }
    put(
        PRICE_LABEL,
        &Arc::from(format!("{:.6}", offering.price.dollars())),
    );
    let mut capacity = instance_type.capacity.clone();
    for (name, amount) in offering.capacity_override.iter() {
        capacity.set(name.clone(), amount);
    }
    let node = node_name(&claim.name, &claim.uid);
    Machine {
        provider_id: ProviderId::from(format!("{PROVIDER_PREFIX}{node}")),
        labels: own,
        capacity,
        allocatable: instance_type.allocatable(offering),
    }
}
