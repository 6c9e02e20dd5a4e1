//! Topology: spread, affinity and anti-affinity, as groups that count pods per domain of a label.
//!
//! One [`Group`] per distinct constraint, shared by all pods that have it; a group's identity is the whole constraint. Pods
//! *own* the groups of their own terms, and are *counted* by every group that selects them. Required anti-affinity holds in
//! both directions: an *inverse* group counts its owners and keeps the pods it selects away from them.
//!
//! [`Model`] is fixed once built; [`Counts`] changes with every placement.

mod build;
mod counts;
mod keys;

pub(super) use build::{Builder, Owned};
pub(super) use counts::{Allowed, Counts, View};
pub(super) use keys::{Key, NO_DOMAIN, reachable};

use std::sync::Arc;

use crate::bits::Bits;
use crate::labels::Labels;
use crate::model::{LabelSelector, NodeTerm, Toleration};
use crate::requirement::Requirements;

/// What a group demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    /// Counts stay within a skew of the smallest.
    Spread {
        /// Largest difference to the smallest count.
        max_skew: u32,
        /// With fewer domains the smallest count is taken as 0.
        min_domains: Option<u32>,
    },
    /// Only domains where a selected pod is.
    Affinity,
    /// Only domains where no selected pod is.
    AntiAffinity,
    /// Pods selected stay out of domains where an owner is.
    Inverse,
}

/// Namespaces whose pods a group selects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Namespaces {
    /// Every namespace.
    All,
    /// These, sorted.
    Listed(Vec<Arc<str>>),
}

/// Which nodes' pods a spread group counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeFilter {
    /// Node selector and required alternatives that the node must satisfy.
    pub(super) affinity: Option<(Requirements, Vec<NodeTerm>)>,
    /// Tolerations that must cover the node's taints.
    pub(super) tolerations: Option<Vec<Toleration>>,
}

/// What makes two constraints the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    /// Number of the key among the model's.
    pub(super) key: usize,
    /// What is demanded.
    pub(super) rule: Rule,
    /// Whose pods are selected.
    pub(super) namespaces: Namespaces,
    /// The pods selected.
    pub(super) selector: LabelSelector,
    /// The nodes counted.
    pub(super) filter: NodeFilter,
}

impl Identity {
    /// Whether a pod of this namespace and these labels is selected.
    pub(super) fn selects(&self, namespace: &Arc<str>, labels: &Labels) -> bool {
        let in_scope = match &self.namespaces {
            Namespaces::All => true,
            Namespaces::Listed(names) => names.binary_search(namespace).is_ok(),
        };
        in_scope && self.selector.matches(labels)
    }
}

/// One constraint, shared by all pods that have it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The constraint.
    pub(super) identity: Identity,
    /// Domains that pods of this group know: the universe over which the smallest count is taken.
    pub(super) known: Bits,
    /// Existing nodes whose pods count, by row; `None` for all.
    pub(super) nodes: Option<Bits>,
    /// Rows to buy whose pods count; `None` for all.
    pub(super) rows: Option<Bits>,
}

/// All groups of a decision, and the keys they are about.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// Groups, in the order in which they were met.
    pub(super) groups: Vec<Group>,
    /// Topology keys.
    pub(super) keys: Vec<Key>,
}

impl Model {
    /// Whether a group is about host names.
    pub(super) fn is_by_host(&self, group: usize) -> bool {
        self.keys[self.groups[group].identity.key].is_host
    }
}
