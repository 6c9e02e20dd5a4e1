//! Label keys: those the project gives a meaning, their aliases, and which of them users may not set.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Pool that a node belongs to.
pub const NODEPOOL: &str = "karpenter.sh/nodepool";
/// Zone of a node or volume.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// Region of a node.
pub const REGION: &str = "topology.kubernetes.io/region";
/// Host name of a node.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// Instance type of a node.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// Processor architecture.
pub const ARCH: &str = "kubernetes.io/arch";
/// Operating system.
pub const OS: &str = "kubernetes.io/os";
/// `on-demand`, `spot` or `reserved`.
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// Windows build of a node.
pub const WINDOWS_BUILD: &str = "node.kubernetes.io/windows-build";
/// Set to `true` when a node has registered.
pub const REGISTERED: &str = "karpenter.sh/registered";
/// Set to `true` when a node has initialised.
pub const INITIALIZED: &str = "karpenter.sh/initialized";
/// Id of the capacity reservation that an offering draws on.
pub const RESERVATION_ID: &str = "karpenter.k8s.aws/capacity-reservation-id";
/// Domain of the AWS provider's keys.
pub const AWS_DOMAIN: &str = "karpenter.k8s.aws";

/// Keys that every provider knows.
const WELL_KNOWN: [&str; 9] = [
    NODEPOOL,
    ZONE,
    REGION,
    INSTANCE_TYPE,
    ARCH,
    OS,
    CAPACITY_TYPE,
    WINDOWS_BUILD,
    "topology.k8s.aws/zone-id",
];

/// Well-known keys of the AWS provider, without their domain.
const WELL_KNOWN_AWS: [&str; 28] = [
    "capacity-reservation-id",
    "capacity-reservation-interruptible",
    "capacity-reservation-type",
    "instance-accelerator-count",
    "instance-accelerator-manufacturer",
    "instance-accelerator-name",
    "instance-capability-flex",
    "instance-category",
    "instance-cpu",
    "instance-cpu-manufacturer",
    "instance-cpu-sustained-clock-speed-mhz",
    "instance-ebs-bandwidth",
    "instance-encryption-in-transit-supported",
    "instance-family",
    "instance-generation",
    "instance-gpu-count",
    "instance-gpu-manufacturer",
    "instance-gpu-memory",
    "instance-gpu-name",
    "instance-hypervisor",
    "instance-local-nvme",
    "instance-memory",
    "instance-network-bandwidth",
    "instance-size",
    "instance-tenancy",
    "nitro-sandbox",
    "placement-group-id",
    "placement-group-partition",
];

/// `true` if a key is well known to every provider or to AWS. A catalogue may add more
/// ([`crate::catalogue::Catalogue::is_well_known`]).
pub fn is_well_known(key: &str) -> bool {
    WELL_KNOWN.contains(&key)
        || key
            .strip_prefix(AWS_DOMAIN)
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|name| WELL_KNOWN_AWS.contains(&name))
}

/// Every key that is well known to every provider or to AWS.
pub fn well_known_keys() -> impl Iterator<Item = String> {
    let ours = WELL_KNOWN.iter().map(|key| (*key).to_owned());
    ours.chain(
        WELL_KNOWN_AWS
            .iter()
            .map(|key| format!("{AWS_DOMAIN}/{key}")),
    )
}

/// Why users may not set a label or ask for it; `None` when they may.
pub fn restriction(key: &LabelKey) -> Option<String> {
    let key = key.as_str();
    if is_well_known(key) {
        return None;
    }
    if key == HOSTNAME {
        return Some(format!(
            "label {key} is set by the kubelet and must not be asked for"
        ));
    }
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    ["karpenter.sh", AWS_DOMAIN, "karpenter.kwok.sh"]
        .into_iter()
        .find(|restricted| {
            domain == *restricted
                || domain
                    .strip_suffix(restricted)
                    .is_some_and(|d| d.ends_with('.'))
        })
        .map(|restricted| format!("label {key} is in the reserved domain {restricted}"))
}

/// A label key with aliases resolved: `failure-domain.beta.kubernetes.io/zone` is `topology.kubernetes.io/zone`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct LabelKey(Arc<str>);

impl LabelKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for LabelKey {
    fn from(key: &str) -> Self {
        Self(Arc::from(match key {
            "failure-domain.beta.kubernetes.io/zone" | "topology.ebs.csi.aws.com/zone" => ZONE,
            "failure-domain.beta.kubernetes.io/region" => REGION,
            "beta.kubernetes.io/arch" => ARCH,
            "beta.kubernetes.io/os" => OS,
            "beta.kubernetes.io/instance-type" => INSTANCE_TYPE,
            other => other,
        }))
    }
}

impl From<String> for LabelKey {
    fn from(key: String) -> Self {
        Self::from(key.as_str())
    }
}

impl From<LabelKey> for String {
    fn from(key: LabelKey) -> Self {
        key.0.as_ref().to_owned()
    }
}

impl Borrow<str> for LabelKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LabelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Labels as an object carries them. Keys are kept as written; requirements built from them resolve aliases.
pub type Labels = BTreeMap<Arc<str>, Arc<str>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_become_the_current_key() {
        assert_eq!(
            LabelKey::from("failure-domain.beta.kubernetes.io/zone").as_str(),
            ZONE
        );
        assert_eq!(LabelKey::from("beta.kubernetes.io/arch").as_str(), ARCH);
        assert_eq!(LabelKey::from("team").as_str(), "team");
    }

    #[test]
    fn reserved_domains_and_their_subdomains_are_refused_unless_well_known() {
        for key in [
            "karpenter.sh/initialised",
            "sub.karpenter.sh/x",
            "karpenter.k8s.aws/mine",
            HOSTNAME,
        ] {
            assert!(restriction(&LabelKey::from(key)).is_some(), "{key}");
        }
        for key in [
            ZONE,
            CAPACITY_TYPE,
            "karpenter.k8s.aws/instance-cpu",
            "notkarpenter.sh/x",
            "kubernetes.io/x",
            "team",
        ] {
            assert_eq!(restriction(&LabelKey::from(key)), None, "{key}");
        }
    }
}
