//! Spread constraints and pod affinity, counted afresh for every attempt.
//!
//! Written apart from the core's planner, from the scheduler's own rules, so that the two judge each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_core::labels::{self, Labels};
use plimsoll_core::model::{
    AffinityTerm, LabelExpression, LabelSelector, NamespaceScope, Node, NodeInclusion, Pod,
    SelectorOperator, SpreadConstraint, WhenUnsatisfiable,
};
use plimsoll_core::requirement::Requirements;

use super::filter;
use crate::api::Api;

/// Value of a topology key.
type Domain = Arc<str>;
type Domains = BTreeSet<Domain>;
/// For each domain, whether one more pod is allowed.
type Open = BTreeMap<Domain, bool>;

/// Spread and affinity of one pod against all others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    /// Per constraint: key, and for each domain whether one more pod is allowed.
    spread: Vec<(Arc<str>, Open)>,
    /// Key and the domains where the pod must be; `None` for anywhere with the key.
    together: Vec<(Arc<str>, Option<Domains>)>,
    /// Key and the domains where the pod must not be.
    apart: Vec<(Arc<str>, Domains)>,
}

impl Topology {
    pub(crate) fn of(
        pod: &Pod,
        api: &Api,
        mut labels_of: impl FnMut(&Node) -> Arc<Requirements>,
    ) -> Self {
        let mut result = Self::default();
        for constraint in &pod.spec.spread {
            if constraint.when_unsatisfiable == WhenUnsatisfiable::DoNotSchedule {
                let domains = spread_domains(pod, constraint, api, &mut labels_of);
                let key = Arc::from(constraint.topology_key.as_str());
                result.spread.push((key, domains));
            }
        }
        for term in &pod.spec.affinity {
            let found = domains_with(api, term, |other| selects(term, pod, other));
            let first = found.is_empty() && selects(term, pod, pod);
            let key = Arc::from(term.topology_key.as_str());
            result.together.push((key, (!first).then_some(found)));
        }
        for term in &pod.spec.anti_affinity {
            let found = domains_with(api, term, |other| selects(term, pod, other));
            result
                .apart
                .push((Arc::from(term.topology_key.as_str()), found));
        }
        result.shunned_by_others(pod, api);
        result
    }

    /// Pods that are there and want no pod like this one beside them.
    fn shunned_by_others(&mut self, pod: &Pod, api: &Api) {
        for other in api.repelling().filter(|other| other.is_active()) {
            let Some(node) = other.node.as_ref().and_then(|name| api.nodes.get(name)) else {
                continue;
            };
            for term in &other.spec.anti_affinity {
                if !selects(term, other, pod) {
                    continue;
                }
                if let Some(domain) = domain_of(node, term.topology_key.as_str()) {
                    let key = Arc::from(term.topology_key.as_str());
                    self.apart.push((key, BTreeSet::from([domain])));
                }
            }
        }
    }

    pub(crate) fn allows(&self, node: &Node) -> bool {
        let spread = self.spread.iter().all(|(key, domains)| {
            domain_of(node, key).is_some_and(|domain| domains.get(&domain) == Some(&true))
        });
        let together = self.together.iter().all(|(key, domains)| {
            domain_of(node, key).is_some_and(|domain| {
                domains
                    .as_ref()
                    .is_none_or(|domains| domains.contains(&domain))
            })
        });
        let apart = self.apart.iter().all(|(key, domains)| {
            domain_of(node, key).is_none_or(|domain| !domains.contains(&domain))
        });
        spread && together && apart
    }
}

fn domain_of(node: &Node, key: &str) -> Option<Domain> {
    match node.label(key) {
        Some(value) => Some(Arc::clone(value)),
        None if key == labels::HOSTNAME => Some(Arc::from(node.name.as_str())),
        None => None,
    }
}

/// Domains of a term's key that hold a pod of which `counts` is true.
fn domains_with(api: &Api, term: &AffinityTerm, counts: impl Fn(&Pod) -> bool) -> Domains {
    let mut found = BTreeSet::new();
    for node in api.nodes.values() {
        let Some(domain) = domain_of(node, term.topology_key.as_str()) else {
            continue;
        };
        let mut pods = api.pods_on(&node.name);
        if pods.any(|other| other.is_active() && counts(other)) {
            found.insert(domain);
        }
    }
    found
}

/// `true` if a term of `pod` speaks of `other`.
fn selects(term: &AffinityTerm, pod: &Pod, other: &Pod) -> bool {
    let namespace = match &term.namespaces {
        NamespaceScope::Own => other.name.namespace == pod.name.namespace,
        NamespaceScope::Named { names, selector } => {
            names.contains(&other.name.namespace) || *selector == LabelSelector::All(Vec::new())
        }
    };
    let more = merged(&pod.labels, &term.match_label_keys, SelectorOperator::In).chain(merged(
        &pod.labels,
        &term.mismatch_label_keys,
        SelectorOperator::NotIn,
    ));
    namespace && term.selector.and(more).matches(&other.labels)
}

fn merged<'a>(
    labels: &'a Labels,
    keys: &'a [Arc<str>],
    operator: SelectorOperator,
) -> impl Iterator<Item = LabelExpression> + 'a {
    keys.iter().filter_map(move |key| {
        Some(LabelExpression {
            key: Arc::clone(key),
            operator,
            values: vec![Arc::clone(labels.get(key)?)],
        })
    })
}

/// For each domain, whether one more pod keeps the skew.
fn spread_domains(
    pod: &Pod,
    constraint: &SpreadConstraint,
    api: &Api,
    labels_of: &mut impl FnMut(&Node) -> Arc<Requirements>,
) -> Open {
    let more = merged(
        &pod.labels,
        &constraint.match_label_keys,
        SelectorOperator::In,
    );
    let selector = constraint.selector.and(more);
    let mut counts: BTreeMap<Domain, u32> = BTreeMap::new();
    for node in api.nodes.values() {
        let Some(domain) = domain_of(node, constraint.topology_key.as_str()) else {
            continue;
        };
        let usable = constraint.node_affinity == NodeInclusion::Ignore
            || filter::labels_fit(pod, &labels_of(node)).is_ok();
        let tolerated = constraint.node_taints == NodeInclusion::Ignore
            || plimsoll_core::model::first_untolerated(&node.taints, &pod.spec.tolerations)
                .is_none();
        if !usable || !tolerated {
            continue;
        }
        let here = api.pods_on(&node.name).filter(|other| {
            other.is_active()
                && other.name.namespace == pod.name.namespace
                && selector.matches(&other.labels)
        });
        let here = u32::try_from(here.count()).unwrap_or(u32::MAX);
        *counts.entry(domain).or_default() += here;
    }
    let known = u32::try_from(counts.len()).unwrap_or(u32::MAX);
    let few = constraint.min_domains.is_some_and(|least| known < least);
    let least = if few {
        0
    } else {
        counts.values().min().copied().unwrap_or(0)
    };
    let own = u32::from(selector.matches(&pod.labels));
    counts
        .into_iter()
        .map(|(domain, count)| (domain, count + own <= least + constraint.max_skew))
        .collect()
}
