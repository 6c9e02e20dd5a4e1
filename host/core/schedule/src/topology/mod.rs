//! Topology: spread, affinity and anti-affinity, as groups that count pods per domain of a label.
//!
//! One [`TopologyGroup`] per distinct constraint, shared by all pods that have it; a group's identity is the whole constraint. Pods
//! *own* the groups of their own terms, and are *counted* by every group that selects them. Required anti-affinity holds in
//! both directions: an *inverse* group counts its owners and keeps the pods it selects away from them. Pods that were asked to go
//! count for affinity and anti-affinity until they are gone, and not for spread, as in the kube-scheduler.
//!
//! [`TopologyModel`] is fixed once built; [`Counts`] changes with every placement.

mod build;
mod counts;
mod daemons;
mod keys;
mod open;
mod scope;

pub(crate) use build::{Builder, CountInputs, Owned};
pub(crate) use counts::{Allowed, Among, CountedBy, Counts, GroupView};
pub(crate) use daemons::{CountedDaemons, HeededDaemons};
pub(crate) use keys::{NO_DOMAIN, TopologyKey};

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::labels::Labels;
use plimsoll_base::requirement::Requirements;
use plimsoll_model::{LabelSelector, NodeTerm, Toleration};

/// Demand of a topology group on the domains of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TopologyRule {
    /// Counts stay within a skew of the smallest.
    Spread {
        /// Largest difference to the smallest count.
        max_skew: u32,
        /// With fewer domains the smallest count is taken as 0.
        min_domains: Option<u32>,
    },
    /// Only domains where a selected pod is. Required terms of a pod are met together: each by a pod that all of them select.
    Affinity,
    /// Only domains where no selected pod is.
    AntiAffinity,
    /// Pods selected stay out of domains where an owner is.
    Inverse,
}

/// Namespaces whose pods a group selects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Namespaces {
    /// Every namespace.
    All,
    /// These, sorted.
    Listed(Vec<Arc<str>>),
}

/// Pods of some namespaces that a selector selects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Selection {
    /// Whose pods are selected.
    pub(crate) namespaces: Namespaces,
    /// The pods selected.
    pub(crate) selector: LabelSelector,
}

impl Selection {
    fn selects(&self, namespace: &Arc<str>, labels: &Labels) -> bool {
        let in_scope = match &self.namespaces {
            Namespaces::All => true,
            Namespaces::Listed(names) => names.binary_search(namespace).is_ok(),
        };
        in_scope && self.selector.matches(labels)
    }
}

/// Filter for the nodes that a spread group sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeFilter {
    /// Other keys of which the node must have a value, by number, ascending.
    pub(crate) keys: Vec<usize>,
    /// Node selector and required alternatives that the node must satisfy.
    pub(crate) affinity: Option<(Requirements, Vec<NodeTerm>)>,
    /// Tolerations that must cover the taints that keep pods off the node.
    pub(crate) tolerations: Option<Vec<Toleration>>,
}

/// Identity of a constraint: two that are equal here share one topology group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    /// Number of the key among the model's.
    pub(crate) key: usize,
    /// Its demand.
    pub(crate) rule: TopologyRule,
    /// The pods selected: those that are in every selection. Only affinity has several, sorted, one for each required term.
    pub(crate) selections: Vec<Selection>,
    /// The nodes counted.
    pub(crate) filter: NodeFilter,
}

impl Identity {
    /// `true` if a pod of this namespace and these labels is selected.
    pub(crate) fn selects(&self, namespace: &Arc<str>, labels: &Labels) -> bool {
        let mut selections = self.selections.iter();
        selections.all(|selection| selection.selects(namespace, labels))
    }
}

/// One constraint, shared by all pods that have it.
#[derive(Clone, Debug)]
pub(crate) struct TopologyGroup {
    /// The constraint.
    pub(crate) identity: Identity,
    /// Domains of nodes that the group sees, there or to be had for a pod of it: over these the smallest count is taken.
    pub(crate) known: Bits,
    /// Domains of nodes that are there or on their way; for host names, the nodes themselves by row.
    pub(crate) there: Bits,
    /// Hosts over which the smallest count is taken, by number; `None` where it is 0, since a new host can always be made.
    pub(crate) hosts: Option<Bits>,
    /// Existing nodes whose pods count, by row; `None` for all.
    pub(crate) nodes: Option<Bits>,
    /// Rows to buy whose pods count; `None` for all.
    pub(crate) rows: Option<Bits>,
    /// Daemons of new nodes that it counts; `None` where it counts none.
    pub(crate) daemons: Option<CountedDaemons>,
    /// Number of the pods that affinity is to, the same in groups of the same selections; `None` for other rules.
    pub(crate) target: Option<usize>,
}

/// All groups of a decision, and the keys they are about.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopologyModel {
    /// Groups, in the order in which they were met.
    pub(crate) groups: Vec<TopologyGroup>,
    /// Topology keys.
    pub(crate) keys: Vec<TopologyKey>,
    /// Groups that count daemons of new nodes, ascending.
    pub(crate) with_daemons: Vec<usize>,
}

impl TopologyModel {
    /// `true` if a group is about host names.
    pub(crate) fn is_by_host(&self, group: usize) -> bool {
        self.keys[self.groups[group].identity.key].is_host
    }

    /// `true` if a group keeps the pods that it selects away from its owners.
    pub(crate) fn is_inverse(&self, group: usize) -> bool {
        self.groups[group].identity.rule == TopologyRule::Inverse
    }

    /// `true` if a group keeps the counts of domains close to each other.
    pub(crate) fn is_spread(&self, group: usize) -> bool {
        matches!(
            self.groups[group].identity.rule,
            TopologyRule::Spread { .. }
        )
    }

    /// Keys that matter to a pod of these groups (those it owns, is counted by, or keeps others away with), or to a daemon that
    /// comes with its node, ascending; not that of host names.
    pub(crate) fn keys_of<'g>(&self, groups: impl Iterator<Item = &'g usize>) -> Vec<usize> {
        let key_of = |group: &usize| self.groups[*group].identity.key;
        let mut keys: BTreeSet<usize> = groups.map(key_of).collect();
        keys.extend(self.with_daemons.iter().map(key_of));
        keys.into_iter()
            .filter(|key| !self.keys[*key].is_host)
            .collect()
    }

    /// Domains of a key that requirements allow. Host names have no listed domains.
    pub(crate) fn domains_of(&self, requirements: &Requirements, key: usize) -> Bits {
        let key = &self.keys[key];
        match requirements.get(key.name.as_str()) {
            Some(requirement) => key.allowed(requirement),
            None => Bits::all(key.values.len()),
        }
    }
}
