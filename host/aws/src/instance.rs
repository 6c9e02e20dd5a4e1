//! Instances, as EC2 tells of them and as the engine knows them.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_api::kinds::Tags;
use plimsoll_base::ids::ProviderId;
use plimsoll_base::labels::Labels;
use plimsoll_base::requirement::Requirements;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::Timestamp;
use plimsoll_model::NodeClaim;
use plimsoll_model::action::LaunchedInstance;
use plimsoll_model::catalogue::{CapacityType, OfferingKey};

use crate::class::hash::{HASH_ANNOTATION, HASH_VERSION, HASH_VERSION_ANNOTATION};
use crate::class::tags;
use crate::served::ServedClass;

/// Annotation with the instance profile, by which Karpenter knows those that are in use.
pub const PROFILE_ANNOTATION: &str = "karpenter.k8s.aws/instance-profile-name";
/// Label that says whether others' instances may run on the same hardware.
pub(crate) const TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";

/// An instance that is not gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "EC2's word for its type")]
pub struct Instance {
    /// Its id.
    pub id: String,
    /// Its type.
    pub instance_type: String,
    /// Its zone.
    pub zone: String,
    /// `true` for a spot instance.
    pub is_spot: bool,
    /// `true` if it is being ended.
    pub is_ending: bool,
    /// Its image.
    pub image: Option<String>,
    /// Its subnet.
    pub subnet: Option<String>,
    /// Its security groups.
    pub security_groups: BTreeSet<String>,
    /// When it was launched.
    pub launched: Option<Timestamp>,
    /// Its network interfaces of type EFA.
    pub efa: u32,
    /// Its tags.
    pub tags: Tags,
}

impl Instance {
    /// Its id as nodes bear it.
    pub fn provider_id(&self) -> ProviderId {
        ProviderId::from(format!("aws:///{}/{}", self.zone, self.id))
    }

    /// The tag for want of which it is none of the cluster's, as `key=value` or its key; `None` where it is one.
    ///
    /// All three tags that the cluster's instances are listed by make it one. For one that is named, by a claim or by the token of a launch, it
    /// is enough to be owned by the cluster: people take tags off, and rights to end and to tag go by that one. One that says that it is of
    /// another cluster never is.
    pub(crate) fn missing_tag(&self, cluster: &str, is_named: bool) -> Option<String> {
        let of_cluster = self.tags.get(tags::CLUSTER);
        if of_cluster.is_some_and(|own| own == cluster) {
            let keys = [tags::NODE_POOL, tags::CLASS].into_iter();
            let missing = keys.filter(|key| !is_named && !self.tags.contains_key(*key));
            return missing.map(str::to_owned).next();
        }
        let owned = self.tags.get(&tags::owned(cluster));
        let is_owned = owned.is_some_and(|own| own == "owned");
        if is_named && is_owned && of_cluster.is_none() {
            return None;
        }
        Some(format!("{}={cluster}", tags::CLUSTER))
    }

    /// The instance that it is for a claim, of the claim's class.
    pub fn machine(&self, class: &ServedClass, claim: &NodeClaim) -> LaunchedInstance {
        let mut labels = claim.labels.clone();
        let tenancy = if is_dedicated(claim) {
            "dedicated"
        } else {
            "default"
        };
        labels
            .entry(TENANCY.into())
            .or_insert_with(|| tenancy.into());
        LaunchedInstance {
            annotations: annotations(class),
            ..self.described(Some(class), &labels, &claim.requirements)
        }
    }

    /// The instance that it is, of a class that may not be known any more.
    pub fn machine_of(&self, class: Option<&ServedClass>) -> LaunchedInstance {
        self.described(class, &Labels::default(), &Requirements::default())
    }

    fn described(
        &self,
        class: Option<&ServedClass>,
        labels: &Labels,
        requirements: &Requirements,
    ) -> LaunchedInstance {
        let key = OfferingKey {
            instance_type: self.instance_type.as_str().into(),
            zone: self.zone.as_str().into(),
            capacity_type: self.capacity_type(),
            reservation: None,
        };
        let sold = class.and_then(|class| class.catalogue.offering(&key));
        let mut resources = sold.map(|sold| sold.resources()).unwrap_or_default();
        if self.efa == 0 {
            for amounts in [&mut resources.capacity, &mut resources.allocatable] {
                *amounts = without_efa(amounts);
            }
        }
        let labels = sold.map(|sold| sold.node_labels(labels, requirements));
        LaunchedInstance {
            provider_id: self.provider_id(),
            labels: labels.unwrap_or_default(),
            annotations: Labels::default(),
            capacity: resources.capacity,
            allocatable: resources.allocatable,
            image: self.image.as_deref().map(Arc::from),
            launched: self.launched,
        }
    }

    fn capacity_type(&self) -> CapacityType {
        if self.is_spot {
            CapacityType::Spot
        } else {
            CapacityType::OnDemand
        }
    }
}

/// The resource of network interfaces of type EFA.
pub(crate) fn efa() -> ResourceName {
    ResourceName::Other("vpc.amazonaws.com/efa".into())
}

fn without_efa(amounts: &Resources) -> Resources {
    let others = amounts.iter().filter(|(name, _)| **name != efa());
    others
        .map(|(name, amount)| (name.clone(), amount))
        .collect()
}

/// `true` if a claim wants hardware of its own: it does where it says so and does not allow the other.
pub(crate) fn is_dedicated(claim: &NodeClaim) -> bool {
    let asked = claim.requirements.get(TENANCY);
    asked.is_some_and(|asked| !asked.allows("default") && asked.allows("dedicated"))
}

/// Annotations of a claim that is launched of a class: by them drift is seen, by us and by a controller that takes over.
fn annotations(class: &ServedClass) -> Labels {
    let profile = class.status().instance_profile.as_deref();
    let own = [
        (HASH_ANNOTATION, class.hash.as_str()),
        (HASH_VERSION_ANNOTATION, HASH_VERSION),
    ];
    let own = own
        .into_iter()
        .chain(profile.map(|name| (PROFILE_ANNOTATION, name)));
    own.map(|(key, value)| (Arc::from(key), Arc::from(value)))
        .collect()
}

/// The instance's own id in a provider id, `aws:///ZONE/ID`; `None` for one of another provider.
pub fn instance_id(provider_id: &ProviderId) -> Option<&str> {
    let (_, id) = provider_id
        .as_str()
        .strip_prefix("aws:///")?
        .split_once('/')?;
    id.starts_with("i-").then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_of_the_cluster_by_its_tags_and_by_whoever_names_it() {
        let (cluster, owned) = (tags::CLUSTER, "kubernetes.io/cluster/demo");
        let (pool, class) = (tags::NODE_POOL, tags::CLASS);
        let all = [
            (cluster, "demo"),
            (owned, "owned"),
            (pool, "a"),
            (class, "b"),
        ];
        let lacks_cluster = Some("eks:eks-cluster-name=demo");
        let other = [(cluster, "other"), (owned, "owned")];
        for (has, unnamed, named) in [
            (&all[..], None, None),
            (&all[..2], Some("karpenter.sh/nodepool"), None),
            (&all[..3], Some("karpenter.k8s.aws/ec2nodeclass"), None),
            // Somebody took the tag with the cluster's name off.
            (&all[1..], lacks_cluster, None),
            (&all[2..], lacks_cluster, lacks_cluster),
            (&other[..], lacks_cluster, lacks_cluster),
        ] {
            let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
            let instance = Instance {
                tags: has.iter().map(own).collect(),
                ..Instance::default()
            };
            let missing = |is_named| instance.missing_tag("demo", is_named);
            assert_eq!(missing(false).as_deref(), unnamed, "{has:?}");
            assert_eq!(missing(true).as_deref(), named, "{has:?}");
        }
    }

    #[test]
    fn ids_are_read_back_and_those_of_others_are_not() {
        let instance = Instance {
            id: "i-1".to_owned(),
            zone: "us-east-1a".to_owned(),
            ..Instance::default()
        };
        let id = instance.provider_id();
        assert_eq!(
            (id.as_str(), instance_id(&id)),
            ("aws:///us-east-1a/i-1", Some("i-1"))
        );
        for other in [
            "kwok://node",
            "aws:///us-east-1a",
            "aws:///us-east-1a/fargate-1",
        ] {
            assert_eq!(instance_id(&ProviderId::from(other)), None, "{other}");
        }
    }
}
