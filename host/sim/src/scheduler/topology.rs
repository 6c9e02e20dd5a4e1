//! Spread constraints and pod affinity, counted afresh for every attempt.
//!
//! Written apart from the core's planner, from the scheduler's own rules, so that the two judge each other.
//!
//! Pods that are on their way out still attract and repel until they are gone, and are no longer counted for spread.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::{self, Labels};
use plimsoll_base::requirement::Requirements;
use plimsoll_model::{
    AffinityTerm, LabelExpression, LabelSelector, NamespaceScope, Node, NodeInclusion, Pod,
    SelectorOperator, SpreadConstraint, WhenUnsatisfiable,
};

use super::filter::{self, Refused};
use crate::api::Api;

/// Value of a topology key.
type Domain = Arc<str>;
type Domains = BTreeSet<Domain>;

/// Spread and affinity of one pod against all others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    spread: Vec<Spread>,
    /// Per term of affinity: key, and the domains of a pod that all terms speak of.
    together: Vec<(Arc<str>, Domains)>,
    /// `true` if there is no such pod and the pod is one itself: it may be the first, wherever the keys are.
    is_first: bool,
    /// Key and the domains where the pod must not be.
    apart: Vec<(Arc<str>, Domains)>,
}

impl Topology {
    pub(crate) fn of(
        pod: &Pod,
        api: &Api,
        mut labels_of: impl FnMut(&Node) -> Arc<Requirements>,
    ) -> Self {
        let mut result = Self {
            spread: spread(pod, api, &mut labels_of),
            ..Self::default()
        };
        result.attracted(pod, api);
        for term in &pod.spec.anti_affinity {
            let term = Term::of(term, pod);
            let found = domains_with(api, &term, |other| term.selects(other, api));
            result.apart.push((Arc::from(term.key), found));
        }
        result.shunned_by_others(pod, api);
        result
    }

    /// Required affinity. One pod must meet all terms; two that meet one each are no company.
    fn attracted(&mut self, pod: &Pod, api: &Api) {
        let terms = pod.spec.affinity.iter();
        let terms: Vec<Term<'_>> = terms.map(|term| Term::of(term, pod)).collect();
        let meets_all = |other: &Pod| terms.iter().all(|term| term.selects(other, api));
        for term in &terms {
            let found = domains_with(api, term, meets_all);
            self.together.push((Arc::from(term.key), found));
        }
        let nowhere = self.together.iter().all(|(_, found)| found.is_empty());
        self.is_first = nowhere && meets_all(pod);
    }

    /// Pods that are there and want no pod like this one beside them.
    fn shunned_by_others(&mut self, pod: &Pod, api: &Api) {
        for other in api.repelling().filter(|other| !other.is_terminal()) {
            let Some(node) = other.node.as_ref().and_then(|name| api.nodes.get(name)) else {
                continue;
            };
            for term in &other.spec.anti_affinity {
                let term = Term::of(term, other);
                if !term.selects(pod, api) {
                    continue;
                }
                if let Some(domain) = domain_of(node, term.key) {
                    let key = Arc::from(term.key);
                    self.apart.push((key, BTreeSet::from([domain])));
                }
            }
        }
    }

    pub(crate) fn allows(&self, node: &Node) -> Result<(), Refused> {
        if !self.spread.iter().all(|constraint| constraint.allows(node)) {
            return Err(Refused::Spread);
        }
        let together = self.together.iter().all(|(key, domains)| {
            domain_of(node, key).is_some_and(|domain| self.is_first || domains.contains(&domain))
        });
        if !together {
            return Err(Refused::Affinity);
        }
        let apart = self.apart.iter().all(|(key, domains)| {
            domain_of(node, key).is_none_or(|domain| !domains.contains(&domain))
        });
        apart.then_some(()).ok_or(Refused::AntiAffinity)
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
fn domains_with(api: &Api, term: &Term<'_>, counts: impl Fn(&Pod) -> bool) -> Domains {
    let mut found = BTreeSet::new();
    for node in api.nodes.values() {
        let Some(domain) = domain_of(node, term.key) else {
            continue;
        };
        let mut pods = api.pods_on(&node.name);
        if !found.contains(&domain) && pods.any(|other| !other.is_terminal() && counts(other)) {
            found.insert(domain);
        }
    }
    found
}

/// A term of one pod, with the pod's own values of the label keys that it names.
struct Term<'p> {
    key: &'p str,
    scope: &'p NamespaceScope,
    /// Namespace of the pod.
    own: &'p Arc<str>,
    selector: Cow<'p, LabelSelector>,
}

impl<'p> Term<'p> {
    fn of(term: &'p AffinityTerm, pod: &'p Pod) -> Self {
        let selector = if term.match_label_keys.is_empty() && term.mismatch_label_keys.is_empty() {
            Cow::Borrowed(&term.selector)
        } else {
            let same = own_values(&pod.labels, &term.match_label_keys, SelectorOperator::In);
            let keys = &term.mismatch_label_keys;
            let other = own_values(&pod.labels, keys, SelectorOperator::NotIn);
            Cow::Owned(term.selector.and(same.chain(other)))
        };
        Self {
            key: term.topology_key.as_str(),
            scope: &term.namespaces,
            own: &pod.name.namespace,
            selector,
        }
    }

    /// `true` if the term speaks of a pod.
    fn selects(&self, other: &Pod, api: &Api) -> bool {
        let namespace = &other.name.namespace;
        let in_scope = match self.scope {
            NamespaceScope::Own => namespace == self.own,
            NamespaceScope::Named { names, selector } => {
                names.contains(namespace) || selector.matches(api.labels_of_namespace(namespace))
            }
        };
        in_scope && self.selector.matches(&other.labels)
    }
}

fn own_values<'a>(
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

/// A hard constraint with the pods in each domain.
#[derive(Clone, Debug)]
struct Spread {
    key: Arc<str>,
    counts: BTreeMap<Domain, u32>,
    /// The count that the others are held against.
    least: u32,
    /// 1 if the pod itself is counted.
    own: u32,
    max_skew: u32,
}

/// Hard constraints of a pod. A node that lacks the key of one is no domain of the others either.
fn spread(
    pod: &Pod,
    api: &Api,
    labels_of: &mut impl FnMut(&Node) -> Arc<Requirements>,
) -> Vec<Spread> {
    let constraints = pod.spec.spread.iter();
    let hard: Vec<&SpreadConstraint> = constraints
        .filter(|one| one.when_unsatisfiable == WhenUnsatisfiable::DoNotSchedule)
        .collect();
    if hard.is_empty() {
        return Vec::new();
    }
    let has_keys = |node: &&Arc<Node>| {
        let mut keys = hard.iter().map(|one| one.topology_key.as_str());
        keys.all(|key| domain_of(node, key).is_some())
    };
    let nodes: Vec<&Arc<Node>> = api.nodes.values().filter(has_keys).collect();
    let constraints = hard.into_iter();
    constraints
        .map(|one| Spread::of(pod, one, &nodes, api, labels_of))
        .collect()
}

impl Spread {
    fn of(
        pod: &Pod,
        constraint: &SpreadConstraint,
        nodes: &[&Arc<Node>],
        api: &Api,
        labels_of: &mut impl FnMut(&Node) -> Arc<Requirements>,
    ) -> Self {
        let selector = constraint.counted_for(&pod.labels);
        let key = constraint.topology_key.as_str();
        let mut counts: BTreeMap<Domain, u32> = BTreeMap::new();
        for node in nodes {
            let Some(domain) = domain_of(node, key) else {
                continue;
            };
            let is_usable = constraint.node_affinity == NodeInclusion::Ignore
                || filter::labels_fit(pod, &labels_of(node)).is_ok();
            let is_tolerated = constraint.node_taints == NodeInclusion::Ignore
                || filter::tolerates(&pod.spec, node);
            if !is_usable || !is_tolerated {
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
        let is_short = constraint.min_domains.is_some_and(|least| known < least);
        let least = counts.values().min().copied().filter(|_| !is_short);
        Self {
            key: Arc::from(key),
            counts,
            least: least.unwrap_or(0),
            own: u32::from(selector.matches(&pod.labels)),
            max_skew: constraint.max_skew,
        }
    }

    fn allows(&self, node: &Node) -> bool {
        domain_of(node, &self.key).is_some_and(|domain| {
            let count = self.counts.get(&domain).copied().unwrap_or(0);
            count + self.own <= self.least.saturating_add(self.max_skew)
        })
    }
}
