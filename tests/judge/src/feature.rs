//! Kinds of objects and rules that a random cluster may have, and how often each pair of them was met.

use std::collections::BTreeMap;
use std::fmt;

macro_rules! features {
    ($($(#[$meaning:meta])* $name:ident = $text:literal,)*) => {
        /// Something that a cluster may have and that a planner must know about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature {
            $($(#[$meaning])* $name,)*
        }

        impl Feature {
            /// All of them, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name where runs are told.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

features! {
    /// Pools with taints that some pods tolerate.
    TaintedPools = "pools with taints",
    /// Pods that select the nodes of one pool by its labels.
    PoolSelectors = "selectors of pools",
    /// Required node affinity.
    NodeAffinity = "node affinity",
    /// Required node affinity of several terms, of which one must hold.
    SeveralNodeTerms = "several terms of node affinity",
    /// Preferred node affinity.
    PreferredNodes = "preferred node affinity",
    /// DaemonSets.
    Daemons = "daemons",
    /// Pods with rules about the labels of daemons.
    RulesOnDaemons = "rules on daemons",
    /// Hard spread over zones.
    ZoneSpread = "spread over zones",
    /// Hard spread over nodes.
    HostSpread = "spread over nodes",
    /// Spread with node policies, least numbers of domains or keys of labels.
    SpreadPolicies = "spread with policies",
    /// Spread whose selector is empty, which counts no pod.
    EmptySelectors = "spread with empty selectors",
    /// Spread that may be broken.
    SoftSpread = "soft spread",
    /// Required affinity between pods.
    Affinity = "affinity",
    /// Required anti-affinity between pods.
    AntiAffinity = "anti-affinity",
    /// Preferences between pods.
    PreferredPods = "preferred affinity",
    /// Several required terms in one pod.
    SeveralTerms = "several affinity terms",
    /// Claims that are bound to volumes of a zone.
    BoundVolumes = "bound volumes",
    /// Volumes that tell their zone by a label alone.
    ZoneLabels = "volumes with zone labels",
    /// Claims whose volumes are made where the pod goes.
    UnboundVolumes = "volumes made on demand",
    /// Claims that one pod alone may use.
    ExclusiveVolumes = "ReadWriteOncePod",
    /// Nodes that attach few volumes.
    AttachLimits = "limits of attached volumes",
    /// Drivers that tell how much room they have.
    StorageCapacity = "storage capacity",
    /// Host ports of containers.
    HostPorts = "host ports",
    /// Running pods whose resize is under way.
    Resize = "resize",
    /// Requests of whole pods.
    PodResources = "pod-level resources",
    /// Init containers that keep running.
    Sidecars = "sidecars",
    /// Host ports of daemons.
    DaemonPorts = "host ports of daemons",
    /// Host ports of init containers that keep running.
    SidecarPorts = "host ports of sidecars",
    /// Overhead of a runtime.
    RuntimeClass = "runtime classes",
    /// Default requests of a namespace.
    LimitRanges = "limit ranges",
    /// Pods of several priorities.
    Priorities = "priorities",
    /// Pools that want several values to choose from.
    MinimumValues = "minValues",
    /// Pools that want several zones to choose from.
    MinimumZones = "minValues of zones",
    /// Overlays that give types another price or more room.
    Overlays = "overlays",
    /// Capacity that is reserved.
    Reservations = "reservations",
    /// Pools that may not grow beyond a size.
    Limits = "limits of pools",
    /// Nodes with pods on them.
    ExistingNodes = "existing nodes",
    /// Claims whose nodes have not joined.
    ClaimsInFlight = "claims in flight",
    /// Extended resources that some types have.
    Devices = "extended resources",
    /// Pods that are terminating on their nodes.
    Terminating = "terminating pods",
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u64);

impl Features {
    /// Every feature.
    pub fn all() -> Self {
        Feature::ALL.iter().copied().collect()
    }

    /// `true` if a feature is in the set.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u64) != 0
    }

    /// Adds a feature.
    pub fn add(&mut self, feature: Feature) {
        self.0 |= 1 << feature as u64;
    }

    /// The set without a feature.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u64))
    }

    /// The features in it, in their order.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL
            .iter()
            .copied()
            .filter(move |&feature| self.has(feature))
    }
}

impl FromIterator<Feature> for Features {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        let mut set = Self::default();
        features.into_iter().for_each(|feature| set.add(feature));
        set
    }
}

/// How many clusters had each feature, and each pair of them.
#[derive(Clone, Debug, Default)]
pub struct Met {
    pairs: BTreeMap<(Feature, Feature), usize>,
}

impl Met {
    /// Counts a cluster.
    pub fn count(&mut self, features: Features) {
        for one in features.iter() {
            for other in features.iter().filter(|&other| other >= one) {
                *self.pairs.entry((one, other)).or_default() += 1;
            }
        }
    }

    /// Clusters that had both; a feature with itself counts the clusters that had it.
    pub fn both(&self, one: Feature, other: Feature) -> usize {
        let pair = (one.min(other), one.max(other));
        self.pairs.get(&pair).copied().unwrap_or_default()
    }

    /// The pair of drawn features that was met least often, with how often.
    pub fn rarest(&self, drawn: Features) -> Option<(Feature, Feature, usize)> {
        let pairs = drawn.iter().flat_map(|one| {
            let later = drawn.iter().filter(move |&other| other > one);
            later.map(move |other| (one, other, self.both(one, other)))
        });
        pairs.min_by_key(|&(_, _, times)| times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_counts_the_clusters_that_had_both() {
        let [one, two, three] = [Feature::Daemons, Feature::Limits, Feature::Resize];
        let mut met = Met::default();
        met.count([one, two].into_iter().collect());
        met.count([one, two, three].into_iter().collect());
        assert_eq!(
            [met.both(one, two), met.both(three, one), met.both(one, one)],
            [2, 1, 2]
        );
        let drawn = [one, two, three].into_iter().collect();
        assert_eq!(met.rarest(drawn), Some((one, three, 1)));
    }
}
