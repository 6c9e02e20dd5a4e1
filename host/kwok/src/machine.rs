//! The instance that an offering gives for a claim: its name, its labels, what it has.

use std::sync::Arc;

use plimsoll_base::fixed_hash::{hash_of, short_name};
use plimsoll_base::ids::{ClaimName, ProviderId, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_model::NodeClaim;
use plimsoll_model::action::LaunchedInstance;
use plimsoll_model::catalogue::TypeOffering;

use crate::PROVIDER_PREFIX;

/// Label with the price in dollars per hour, which a common viewer of nodes reads.
pub(crate) const PRICE_LABEL: &str = "eks-node-viewer/instance-price";
const SUFFIX: usize = 8;

/// The name of a claim's node: the same however often the claim is launched.
fn node_name(claim: &ClaimName, uid: &Uid) -> String {
    format!("kwok-{claim}-{}", short_name(hash_of(uid), SUFFIX))
}

/// The id of a claim's instance: the same however often the claim is launched.
pub(crate) fn provider_id(claim: &NodeClaim) -> String {
    format!("{PROVIDER_PREFIX}{}", node_name(&claim.name, &claim.uid))
}

/// The instance of a claim bought through an offering.
pub(crate) fn machine(claim: &NodeClaim, sold: TypeOffering<'_>) -> LaunchedInstance {
    let mut own = sold.node_labels(&claim.labels, &claim.requirements);
    let price = format!("{:.6}", sold.offering.price.dollars());
    own.insert(Arc::from(PRICE_LABEL), Arc::from(price));
    let resources = sold.resources();
    LaunchedInstance {
        provider_id: ProviderId::from(provider_id(claim)),
        labels: own,
        annotations: Labels::new(),
        capacity: resources.capacity,
        allocatable: resources.allocatable,
        image: None,
        launched: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::tests::launched;
    use crate::catalogue;
    use plimsoll_base::labels::LabelKey;
    use plimsoll_base::requirement::Requirement;

    const RACK: &str = "example.com/rack";

    /// The rack that the instance of a claim says it stands in, if its only offering is in rack r2.
    fn rack(asked: Option<Vec<&str>>) -> Option<String> {
        let text = r#"[{"name":"m5.large","architecture":"amd64","operatingSystems":["linux"],
            "resources":{"cpu":"2","memory":"8Gi"},"offerings":[{"Price":0.1,"Requirements":[
                {"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},
                {"key":"topology.kubernetes.io/zone","operator":"In","values":["a"]},
                {"key":"example.com/rack","operator":"In","values":["r2"]}]}]}]"#;
        let list = catalogue::read(text).unwrap();
        let sold = list.get("m5.large").unwrap();
        let mut claim = launched();
        if let Some(values) = asked {
            let asked = Requirement::one_of(LabelKey::from(RACK), values);
            claim.requirements.add(asked);
        }
        let sold = TypeOffering {
            provider: list.provider(),
            instance_type: sold,
            offering: &sold.offerings[0],
        };
        let machine = machine(&claim, sold);
        machine.labels.get(RACK).map(ToString::to_string)
    }

    #[test]
    fn a_machine_says_what_its_offering_says_however_many_values_were_asked_for() {
        for asked in [None, Some(vec!["r2"]), Some(vec!["r1", "r2", "r3"])] {
            assert_eq!(rack(asked), Some("r2".to_owned()));
        }
    }
}
