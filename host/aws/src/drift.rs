//! Instances that no longer are what their class says, in the words of the condition `Drifted`.
//!
//! What a selector finds is compared, not how it is written. Where the class has found nothing at all nothing is said: that is a fault of the
//! class, and no reason to end its nodes.

use std::collections::BTreeSet;

use plimsoll_base::ids::ClaimName;
use plimsoll_model::{ConditionType, NodeClaim};

use crate::class::hash::{HASH_ANNOTATION, HASH_VERSION, HASH_VERSION_ANNOTATION};
use crate::instance::Instance;
use crate::served::ServedClass;

/// The word of a claim on the class that it was launched of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OfClaim {
    /// Static hash of the class, by the rules that are ours; `None` where it has none by these.
    hash: Option<String>,
    /// `true` if somebody has asked it to go.
    pub is_going: bool,
    /// `true` once its node has joined.
    pub has_joined: bool,
    /// Its name.
    pub name: ClaimName,
    /// Name of its class.
    pub class: String,
}

impl OfClaim {
    /// As it is written on a claim.
    pub(crate) fn read(claim: &NodeClaim) -> Self {
        let said = |key: &str| claim.annotations.get(key);
        let is_ours = said(HASH_VERSION_ANNOTATION).is_some_and(|own| &**own == HASH_VERSION);
        let hash = said(HASH_ANNOTATION).filter(|_| is_ours);
        Self {
            hash: hash.map(ToString::to_string),
            is_going: claim.deleting.is_some(),
            has_joined: claim.conditions.is_true(ConditionType::Registered),
            name: claim.name.clone(),
            class: claim.class.name.to_string(),
        }
    }
}

/// Why an instance is not what its class says; `None` where it is, as far as is known. Of several the first in Karpenter's order.
pub(crate) fn drift(
    own: &Instance,
    class: &ServedClass,
    claim: Option<&OfClaim>,
) -> Option<&'static str> {
    let hash = claim.and_then(|claim| claim.hash.as_ref());
    if hash.is_some_and(|hash| *hash != class.hash) {
        return Some("NodeClassDrift");
    }
    let status = class.status();
    let sold = class.catalogue.get(&own.instance_type);
    let boots = sold.and_then(|sold| class.image_of(sold));
    if boots.is_some() && own.image.is_some() && own.image.as_deref() != boots {
        return Some("AMIDrift");
    }
    let groups: BTreeSet<&String> = status.security_groups.iter().map(|own| &own.id).collect();
    if !groups.is_empty() && groups != own.security_groups.iter().collect() {
        return Some("SecurityGroupDrift");
    }
    let mut subnets = status.subnets.iter().map(|own| &own.id);
    let is_elsewhere = |subnet: &String| !subnets.any(|id| id == subnet);
    if !status.subnets.is_empty() && own.subnet.as_ref().is_some_and(is_elsewhere) {
        return Some("SubnetDrift");
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample;

    fn instance() -> Instance {
        Instance {
            instance_type: "m7i.large".to_owned(),
            image: Some("ami-amd".to_owned()),
            subnet: Some("subnet-a".to_owned()),
            security_groups: ["sg-1".to_owned()].into(),
            ..Instance::default()
        }
    }

    #[test]
    fn an_instance_drifts_by_hash_image_groups_and_subnet_in_that_order() {
        let class = sample::class(&json!({}));
        let hash = |hash: &str| OfClaim {
            hash: Some(hash.to_owned()),
            ..OfClaim::default()
        };
        let said = |own: &Instance, claim: Option<&OfClaim>| drift(own, &class, claim);
        assert_eq!(said(&instance(), Some(&hash(&class.hash))), None);
        assert_eq!(said(&instance(), Some(&OfClaim::default())), None);
        let mut own = Instance {
            subnet: Some("subnet-z".to_owned()),
            ..instance()
        };
        assert_eq!(said(&own, None), Some("SubnetDrift"));
        own.security_groups.insert("sg-2".to_owned());
        assert_eq!(said(&own, None), Some("SecurityGroupDrift"));
        own.image = Some("ami-arm".to_owned());
        assert_eq!(said(&own, None), Some("AMIDrift"));
        assert_eq!(said(&own, Some(&hash("1"))), Some("NodeClassDrift"));
    }

    #[test]
    fn a_hash_by_other_rules_says_nothing() {
        let mut claim = (*sample::claim("a", &json!([]))).clone();
        let mut say = |version: &str| {
            let own = [(HASH_ANNOTATION, "1"), (HASH_VERSION_ANNOTATION, version)];
            claim.annotations = own.map(|(key, value)| (key.into(), value.into())).into();
            OfClaim::read(&claim).hash
        };
        assert_eq!(say("v5"), None);
        assert_eq!(say(HASH_VERSION), Some("1".to_owned()));
    }
}
