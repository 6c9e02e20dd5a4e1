//! From pods' terms to groups: identities are collected first, then given the nodes that they see and counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_model::snapshot::{NodeRemoval, Snapshot};
use plimsoll_model::{
    AffinityTerm, LabelExpression, LabelSelector, NamespaceScope, NodeInclusion, Pod,
    SelectorOperator, SpreadConstraint,
};

use super::daemons::{self, Concerned};
use super::scope;
use super::{
    CountedBy, Counts, Identity, Namespaces, NodeFilter, Selection, TopologyGroup, TopologyKey,
    TopologyModel, TopologyRule,
};
use crate::offers::rows::Rows;
use crate::offers::templates::Template;
use crate::pods::relax::Wishes;
use crate::reading::Reading;

/// Groups that a pod owns at one step of relaxation, by number, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owned {
    /// Spread, affinity and anti-affinity.
    pub(crate) groups: Vec<usize>,
}

/// Pods and nodes that count before anything is placed.
#[derive(Clone, Copy)]
pub(crate) struct CountInputs<'a, 's> {
    /// All pods and nodes.
    pub(crate) reading: &'a Reading<'s>,
    /// Nodes that are taken to be gone.
    pub(crate) removal: &'a NodeRemoval,
    /// Pods that are being planned, which are counted when they are placed.
    pub(crate) batch: &'a Bits,
}

/// Collects the groups of a decision.
#[derive(Default)]
pub(crate) struct Builder {
    numbers: BTreeMap<Identity, usize>,
    identities: Vec<Identity>,
    keys: Vec<LabelKey>,
    /// Groups without an equality in their selector, and groups by the first equality.
    unkeyed: Vec<usize>,
    by_label: BTreeMap<(Arc<str>, Arc<str>), Vec<usize>>,
    /// Inverse groups of bound pods, by the pod's row.
    of_bound: BTreeMap<usize, Vec<usize>>,
    /// Daemons that groups count.
    daemons: Vec<Concerned>,
}

impl Builder {
    /// The groups of a pod's own terms at one step.
    pub(crate) fn own(&mut self, snapshot: &Snapshot, pod: &Pod, wishes: &Wishes<'_>) -> Owned {
        let mut groups = BTreeSet::new();
        for constraint in wishes.spread() {
            let identity = self.spread_identity(pod, constraint, wishes);
            groups.insert(self.number(identity));
        }
        groups.extend(self.affinity(snapshot, pod, wishes.required_affinity()));
        for term in wishes.preferred_affinity() {
            groups.extend(self.affinity(snapshot, pod, std::slice::from_ref(term)));
        }
        for term in wishes.anti_affinity() {
            let identity = self.term_identity(snapshot, pod, term, TopologyRule::AntiAffinity);
            groups.insert(self.number(identity));
        }
        Owned {
            groups: groups.into_iter().collect(),
        }
    }

    /// One group for each topology key of affinity terms that are met together: a pod counts only if all of them select it
    /// (`podMatchesAllAffinityTerms`), and then in its domain of every key.
    fn affinity(&mut self, snapshot: &Snapshot, pod: &Pod, terms: &[AffinityTerm]) -> Vec<usize> {
        let selections = terms.iter().map(|term| selection(snapshot, pod, term));
        let selections: BTreeSet<Selection> = selections.collect();
        let of_term = |term: &AffinityTerm| {
            let identity = Identity {
                key: self.key(&term.topology_key),
                rule: TopologyRule::Affinity,
                selections: selections.iter().cloned().collect(),
                filter: NodeFilter::default(),
            };
            self.number(identity)
        };
        terms.iter().map(of_term).collect()
    }

    /// The inverse groups of a pod's required anti-affinity, which hold for others as long as it runs.
    pub(crate) fn inverse(&mut self, snapshot: &Snapshot, pod: &Pod) -> Vec<usize> {
        let identities: Vec<Identity> = pod
            .spec
            .anti_affinity
            .iter()
            .map(|term| self.term_identity(snapshot, pod, term, TopologyRule::Inverse))
            .collect();
        let numbers: BTreeSet<usize> = identities
            .into_iter()
            .map(|identity| self.number(identity))
            .collect();
        numbers.into_iter().collect()
    }

    /// Learns the required anti-affinity of a bound pod.
    pub(crate) fn learn_bound(&mut self, snapshot: &Snapshot, row: usize) {
        let groups = self.inverse(snapshot, &snapshot.pods[row]);
        self.of_bound.insert(row, groups);
    }

    /// Learns which daemons groups count, once the groups of all pods are known; those of their own anti-affinity join them.
    pub(crate) fn learn_daemons(&mut self, snapshot: &Snapshot) {
        self.daemons = daemons::concerned(self, snapshot);
    }

    /// Every group that selects a pod of this namespace and these labels.
    pub(crate) fn selecting(&self, namespace: &Arc<str>, labels: &Labels) -> Vec<usize> {
        let keyed = labels
            .iter()
            .filter_map(|(key, value)| self.by_label.get(&(Arc::clone(key), Arc::clone(value))))
            .flatten();
        let mut result: Vec<usize> = self
            .unkeyed
            .iter()
            .chain(keyed)
            .copied()
            .filter(|group| self.identities[*group].selects(namespace, labels))
            .collect();
        result.sort_unstable();
        result.dedup();
        result
    }

    /// Labels that some group is about.
    pub(crate) fn keys(&self) -> &[LabelKey] {
        &self.keys
    }

    fn key(&mut self, key: &LabelKey) -> usize {
        self.keys
            .iter()
            .position(|have| have == key)
            .unwrap_or_else(|| {
                self.keys.push(key.clone());
                self.keys.len() - 1
            })
    }

    fn number(&mut self, identity: Identity) -> usize {
        if let Some(known) = self.numbers.get(&identity) {
            return *known;
        }
        let number = self.identities.len();
        match first_equality(&identity.selections) {
            Some(equality) => self.by_label.entry(equality).or_default().push(number),
            None => self.unkeyed.push(number),
        }
        self.identities.push(identity.clone());
        self.numbers.insert(identity, number);
        number
    }

    fn spread_identity(
        &mut self,
        pod: &Pod,
        constraint: &SpreadConstraint,
        wishes: &Wishes<'_>,
    ) -> Identity {
        let honors = |inclusion: NodeInclusion| inclusion == NodeInclusion::Honor;
        let restricted = !pod.spec.node_selector.is_empty() || !pod.spec.node_required.is_empty();
        Identity {
            key: self.key(&constraint.topology_key),
            rule: TopologyRule::Spread {
                max_skew: constraint.max_skew,
                min_domains: constraint.min_domains,
            },
            selections: vec![Selection {
                namespaces: Namespaces::Listed(vec![Arc::clone(&pod.name.namespace)]),
                selector: constraint.counted_for(&pod.labels),
            }],
            filter: NodeFilter {
                keys: self.other_keys(constraint, wishes),
                affinity: (honors(constraint.node_affinity) && restricted).then(|| {
                    let required = pod.spec.node_required.clone();
                    (pod.spec.node_selector.clone(), required)
                }),
                tolerations: honors(constraint.node_taints).then(|| pod.spec.tolerations.clone()),
            },
        }
    }

    /// Keys that a node must have beside that of a constraint for its pods to count: those of the pod's other constraints of the same
    /// sort, hard or soft (`nodeLabelsMatchSpreadConstraints`). Every node has a host name, and counts of hosts are compared
    /// with none.
    fn other_keys(&mut self, constraint: &SpreadConstraint, wishes: &Wishes<'_>) -> Vec<usize> {
        if constraint.topology_key.as_str() == labels::HOSTNAME {
            return Vec::new();
        }
        let beside = |other: &&&SpreadConstraint| {
            other.when_unsatisfiable == constraint.when_unsatisfiable
                && other.topology_key != constraint.topology_key
                && other.topology_key.as_str() != labels::HOSTNAME
        };
        let others = wishes.spread().iter().filter(beside);
        let keys: BTreeSet<usize> = others.map(|other| self.key(&other.topology_key)).collect();
        keys.into_iter().collect()
    }

    fn term_identity(
        &mut self,
        snapshot: &Snapshot,
        pod: &Pod,
        term: &AffinityTerm,
        rule: TopologyRule,
    ) -> Identity {
        Identity {
            key: self.key(&term.topology_key),
            rule,
            selections: vec![selection(snapshot, pod, term)],
            filter: NodeFilter::default(),
        }
    }

    /// Fixes the groups: their domains, the nodes and rows they count, and what is counted already.
    pub(crate) fn finish(
        self,
        counted: CountInputs<'_, '_>,
        templates: &[Template],
        rows: &mut Rows,
    ) -> (TopologyModel, Counts) {
        let snapshot = counted.reading.snapshot;
        let keys: Vec<TopologyKey> = self
            .keys
            .iter()
            .map(|name| match name.as_str() {
                labels::HOSTNAME => TopologyKey::hosts(name.clone(), snapshot.nodes.len()),
                _ => TopologyKey::new(name, snapshot, templates, rows),
            })
            .collect();
        let groups = self
            .identities
            .iter()
            .zip(targets(&self.identities))
            .map(|(identity, target)| TopologyGroup {
                target,
                ..scope::group(identity, counted, templates, rows, &keys)
            })
            .collect();
        let mut model = TopologyModel {
            groups,
            keys,
            with_daemons: Vec::new(),
        };
        daemons::learn_rows(&mut model, &self.daemons, rows);
        let mut counts = Counts::new(&model, snapshot.nodes.len());
        self.count_bound(counted, &model, &mut counts);
        daemons::count_to_come(counted, &model, &self.daemons, &mut counts);
        (model, counts)
    }

    fn count_bound(
        &self,
        counted: CountInputs<'_, '_>,
        model: &TopologyModel,
        counts: &mut Counts,
    ) {
        if self.identities.is_empty() {
            return;
        }
        let in_batch = |pod: usize| counted.batch.contains(pod);
        for alike in counted.reading.labelled() {
            let mut selecting = self.selecting(&alike.namespace, &alike.labels);
            if alike.is_leaving {
                selecting.retain(|group| !model.is_spread(*group));
            }
            if selecting.is_empty() {
                continue;
            }
            let by = CountedBy {
                selected: &selecting,
                inverse: &[],
                heeded_by_others: &[],
            };
            for (_, node) in alike.pods.iter().filter(|(pod, _)| !in_batch(*pod)) {
                counts.record_existing(model, *node, by);
            }
        }
        for (pod, owned) in &self.of_bound {
            let by = CountedBy {
                selected: &[],
                inverse: owned,
                heeded_by_others: &[],
            };
            if let Some(node) = counted.reading.node_of(*pod) {
                counts.record_existing(model, node, by);
            }
        }
    }
}

/// Pods that an affinity term of a pod selects.
fn selection(snapshot: &Snapshot, pod: &Pod, term: &AffinityTerm) -> Selection {
    let narrowed = own_values(pod, &term.match_label_keys, SelectorOperator::In);
    let excluded = own_values(pod, &term.mismatch_label_keys, SelectorOperator::NotIn);
    Selection {
        namespaces: namespaces(snapshot, pod, &term.namespaces),
        selector: term.selector.and(narrowed.into_iter().chain(excluded)),
    }
}

/// The pod's own values of some label keys, as conditions.
fn own_values(pod: &Pod, keys: &[Arc<str>], operator: SelectorOperator) -> Vec<LabelExpression> {
    let condition = |key: &Arc<str>| {
        let value = pod.labels.get(key)?;
        Some(LabelExpression {
            key: Arc::clone(key),
            operator,
            values: vec![Arc::clone(value)],
        })
    };
    keys.iter().filter_map(condition).collect()
}

fn namespaces(snapshot: &Snapshot, pod: &Pod, scope: &NamespaceScope) -> Namespaces {
    match scope {
        NamespaceScope::Own => Namespaces::Listed(vec![Arc::clone(&pod.name.namespace)]),
        NamespaceScope::Named {
            selector: LabelSelector::All(conditions),
            ..
        } if conditions.is_empty() => Namespaces::All,
        NamespaceScope::Named { names, selector } => {
            let matching = snapshot
                .namespaces
                .iter()
                .filter(|namespace| selector.matches(&namespace.labels));
            let all: BTreeSet<Arc<str>> = names
                .iter()
                .cloned()
                .chain(matching.map(|namespace| Arc::clone(&namespace.name)))
                .collect();
            Namespaces::Listed(all.into_iter().collect())
        }
    }
}

/// A label that every selected pod has, by which to find the group.
fn first_equality(selections: &[Selection]) -> Option<(Arc<str>, Arc<str>)> {
    let conditions = selections.iter().flat_map(|selection| {
        let LabelSelector::All(conditions) = &selection.selector else {
            return &[][..];
        };
        conditions
    });
    let mut conditions = conditions.map(|condition| (condition, condition.values.as_slice()));
    conditions.find_map(|(condition, values)| match (condition.operator, values) {
        (SelectorOperator::In, [value]) => Some((Arc::clone(&condition.key), Arc::clone(value))),
        _ => None,
    })
}

/// By identity: number of the pods that affinity is to, the same for the same selections; `None` for other rules.
fn targets(identities: &[Identity]) -> impl Iterator<Item = Option<usize>> {
    let mut known: BTreeMap<&[Selection], usize> = BTreeMap::new();
    identities.iter().map(move |identity| {
        let next = known.len();
        let is_affinity = identity.rule == TopologyRule::Affinity;
        is_affinity.then(|| *known.entry(&identity.selections).or_insert(next))
    })
}
