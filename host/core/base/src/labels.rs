//! Label keys that mean the same with every provider, and their aliases.

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
/// On a node: load balancers outside the cluster send it nothing; we set it to `karpenter` where its drain begins.
pub const EXCLUDED_FROM_LOAD_BALANCERS: &str =
    "node.kubernetes.io/exclude-from-external-load-balancers";
/// Set to `true` by the program that starts a node: the taints of its claim are not written on it.
pub const DO_NOT_SYNC_TAINTS: &str = "karpenter.sh/do-not-sync-taints";
/// Annotation of a claim that names a type whose price a NodeOverlay sets.
pub const PRICE_OVERLAY_APPLIED: &str = "karpenter.sh/price-overlay-applied";
/// Annotation of a claim that names a type whose capacity a NodeOverlay sets.
pub const CAPACITY_OVERLAY_APPLIED: &str = "karpenter.sh/capacity-overlay-applied";
/// Annotation of a claim: whether a minimum of values was lowered for it.
pub const MIN_VALUES_RELAXED: &str = "karpenter.sh/nodeclaim-min-values-relaxed";

/// Keys that new nodes of every provider may have although no pool names them; the provider has further ones.
pub const WELL_KNOWN: [&str; 8] = [
    NODEPOOL,
    ZONE,
    REGION,
    INSTANCE_TYPE,
    ARCH,
    OS,
    CAPACITY_TYPE,
    WINDOWS_BUILD,
];

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
            "failure-domain.beta.kubernetes.io/zone" => ZONE,
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

/// `true` for a qualified name: at most 63 letters, digits, dashes, underscores and dots between a letter or digit at either end, with
/// a domain before a slash or none.
pub fn is_qualified(text: &str) -> bool {
    let (domain, name) = text
        .split_once('/')
        .map_or((None, text), |(domain, name)| (Some(domain), name));
    let part = |text: &str, most: usize, is_inner: fn(char) -> bool| {
        let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        (1..=most).contains(&text.len())
            && ends(text.chars().next())
            && ends(text.chars().next_back())
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || is_inner(c))
    };
    part(name, 63, |c| matches!(c, '-' | '_' | '.'))
        && domain.is_none_or(|domain| part(domain, 253, |c| matches!(c, '-' | '.')))
}

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
}
