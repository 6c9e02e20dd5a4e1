//! The terms of one pod, compiled once for all pods that share them: which group each counts, and which domains are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::daemons;
use super::super::hosts::Hosts;
use super::super::market::{self, DomainReach, Shop};
use super::group::{
    Counted, TermCounts, TermGroupKey, TermGroups, TermNamespaces, TermNodeFilter, TermPods,
};
use crate::labels::{LabelKey, Labels};
use crate::model::{
    AffinityTerm, LabelExpression, LabelSelector, NamespaceScope, NodeInclusion, Owner, Pod,
    PodSpec, SelectorOperator, SpreadConstraint, WhenUnsatisfiable, first_untolerated,
};
use crate::requirement::{Requirement, Requirements};
use crate::snapshot::Snapshot;

/// Key of a pod's terms: pods with equal keys have the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TermsKey {
    namespace: Arc<str>,
    labels: Arc<Labels>,
    spec: Arc<PodSpec>,
    owner: Option<Owner>,
}

impl TermsKey {
    pub(super) fn of(snapshot: &Snapshot, pod: &Pod) -> Self {
        let defaults = !snapshot.settings.default_spread.is_empty();
        Self {
            namespace: Arc::clone(&pod.name.namespace),
            labels: Arc::clone(&pod.labels),
            spec: Arc::clone(&pod.spec),
            owner: pod.owner.clone().filter(|_| defaults),
        }
    }
}

/// The hard terms of a pod.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    pub(super) spread: Vec<Spread>,
    pub(super) affinity: Option<Affinity>,
    pub(super) anti_affinity: Vec<AntiAffinity>,
}

impl Terms {
    pub(super) fn is_empty(&self) -> bool {
        self.spread.is_empty() && self.affinity.is_none() && self.anti_affinity.is_empty()
    }
}

/// A hard spread constraint.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub(super) topology_key: LabelKey,
    pub(super) max_skew: u32,
    pub(super) min_domains: Option<u32>,
    /// 1 when the selector selects the pod itself.
    pub(super) own: u32,
    /// Readings of the pod's node affinity, of which one must hold: with all required terms, and with each tail of them, as
    /// relaxation drops terms from the front.
    pub(super) views: Vec<TermView>,
}

/// One reading of a spread constraint.
#[derive(Clone, Debug)]
pub(super) struct TermView {
    pub(super) group: usize,
    /// The pod's own requirement on the key; `None` where it has none.
    pub(super) pod_domains: Option<Requirement>,
    /// Domains to compare with: of nodes and of what pools can bring about, near to far.
    pub(super) known: [BTreeSet<Arc<str>>; 3],
}

/// All required affinity terms of a pod: they are met together, by pods that each of them means.
#[derive(Clone, Debug)]
pub(super) struct Affinity {
    /// Topology key of each term, and the group that counts such pods by it.
    pub(super) groups: Vec<(LabelKey, usize)>,
    pub(super) selects_itself: bool,
}

/// A required anti-affinity term.
#[derive(Clone, Debug)]
pub(super) struct AntiAffinity {
    pub(super) topology_key: LabelKey,
    /// The pods it speaks of.
    pub(super) group: usize,
    /// The pods that have it.
    pub(super) owners: usize,
}

/// How far a domain would rise above the lowest.
#[derive(Clone, Debug)]
pub(super) struct Skew {
    pub(super) amount: i64,
    pub(super) text: String,
}

impl Spread {
    /// The largest skew that one more pod may bring about, over the domains it may turn out in.
    pub(super) fn skew(
        &self,
        counts: &TermCounts,
        domains: &[Option<Arc<str>>],
        known: &BTreeSet<Arc<str>>,
        view: &TermView,
    ) -> Skew {
        let allowed = |domain: &&Arc<str>| {
            view.pod_domains
                .as_ref()
                .is_none_or(|allowed| allowed.allows(domain))
        };
        let all: BTreeSet<&Arc<str>> = known
            .iter()
            .chain(counts.inhabited())
            .filter(allowed)
            .collect();
        let few = self
            .min_domains
            .is_some_and(|least| all.len() < usize::try_from(least).unwrap_or(usize::MAX));
        let least = all.iter().map(|domain| counts.certain(domain)).min();
        let least = if few { 0 } else { least.unwrap_or(0) };
        let rise = |domain: &Arc<str>| {
            let would_be = counts.possible(domain) + self.own;
            Skew {
                amount: i64::from(would_be) - i64::from(least),
                text: format!("{domain} would have {would_be} where the fewest is {least}"),
            }
        };
        let mut worst = Skew {
            amount: i64::MIN,
            text: String::new(),
        };
        for skew in domains.iter().flatten().map(rise) {
            if skew.amount > worst.amount {
                worst = skew;
            }
        }
        worst
    }
}

/// Compiles pods' terms into shared groups.
pub(super) struct Compiler<'a> {
    snapshot: &'a Snapshot,
    shops: &'a [Shop],
    hosts: &'a Hosts,
    groups: TermGroups,
    bought: BTreeMap<(LabelKey, DomainReach), Arc<Vec<market::Domain>>>,
    nodes: BTreeMap<(LabelKey, TermNodeFilter), BTreeSet<Arc<str>>>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, shops: &'a [Shop], hosts: &'a Hosts) -> Self {
        Self {
            snapshot,
            shops,
            hosts,
            groups: TermGroups::default(),
            bought: BTreeMap::new(),
            nodes: BTreeMap::new(),
        }
    }

    pub(super) fn finish(self) -> TermGroups {
        self.groups
    }

    pub(super) fn compile(&mut self, pod: &Pod) -> Terms {
        let defaults = self.snapshot.default_constraints(pod);
        let constraints = if pod.spec.spread.is_empty() {
            &defaults
        } else {
            &pod.spec.spread
        };
        let hard = constraints.iter().filter(|constraint| {
            constraint.when_unsatisfiable == WhenUnsatisfiable::DoNotSchedule
        });
        let spec = &pod.spec;
        Terms {
            spread: hard
                .map(|constraint| self.spread(pod, constraint))
                .collect(),
            affinity: self.affinity(pod),
            anti_affinity: spec
                .anti_affinity
                .iter()
                .map(|term| self.anti_affinity(pod, term))
                .collect(),
        }
    }

    fn spread(&mut self, pod: &Pod, constraint: &SpreadConstraint) -> Spread {
        let narrowed = narrowed(pod, &constraint.selector, &constraint.match_label_keys, &[]);
        // A selector that is missing or has no conditions counts no pod; its key must be on the node all the same.
        let selector = match narrowed {
            LabelSelector::All(conditions) if !conditions.is_empty() => {
                LabelSelector::All(conditions)
            }
            _ => LabelSelector::Nothing,
        };
        let own = u32::from(selector.matches(&pod.labels));
        let tails = tails(&daemons::alternatives(&pod.spec));
        let views = tails
            .iter()
            .map(|tail| self.view(pod, constraint, &selector, tail));
        Spread {
            topology_key: constraint.topology_key.clone(),
            max_skew: constraint.max_skew,
            min_domains: constraint.min_domains,
            own,
            views: views.collect(),
        }
    }

    fn view(
        &mut self,
        pod: &Pod,
        constraint: &SpreadConstraint,
        selector: &LabelSelector,
        tail: &[Requirements],
    ) -> TermView {
        let key = &constraint.topology_key;
        let honors = |inclusion| inclusion == NodeInclusion::Honor;
        let filter = TermNodeFilter {
            alternatives: honors(constraint.node_affinity).then(|| tail.to_vec()),
            tolerations: honors(constraint.node_taints).then(|| pod.spec.tolerations.clone()),
        };
        let nodes = self.node_domains(key, &filter);
        let known = [
            DomainReach::OnSale,
            DomainReach::Declared,
            DomainReach::SoldOut,
        ]
        .map(|reach| {
            let reachable = |domain: &&market::Domain| {
                let tolerations = filter.tolerations.as_ref();
                tolerations.is_none_or(|own| first_untolerated(&domain.taints, own).is_none())
            };
            let bought = self.bought(key, reach);
            let values = bought.iter().filter(reachable);
            let mut known: BTreeSet<Arc<str>> = values.map(|d| Arc::clone(&d.value)).collect();
            known.extend(nodes.iter().cloned());
            known
        });
        let namespace = Arc::clone(&pod.name.namespace);
        TermView {
            group: self.groups.intern(TermGroupKey {
                counted: Counted::Staying,
                topology_key: key.clone(),
                meant: BTreeSet::from([TermPods {
                    namespaces: TermNamespaces::These([namespace].into_iter().collect()),
                    selector: selector.clone(),
                }]),
                filter,
            }),
            pod_domains: tail
                .first()
                .and_then(|first| first.get(key.as_str()))
                .cloned(),
            known,
        }
    }

    /// Values of a key that the pools can bring about.
    fn bought(&mut self, key: &LabelKey, reach: DomainReach) -> Arc<Vec<market::Domain>> {
        let shops = self.shops;
        let found = self
            .bought
            .entry((key.clone(), reach))
            .or_insert_with(|| Arc::new(market::domains(shops, key, reach)));
        Arc::clone(found)
    }

    /// Values of a key on nodes that are there to stay and pass the filter.
    fn node_domains(&mut self, key: &LabelKey, filter: &TermNodeFilter) -> BTreeSet<Arc<str>> {
        let at = (key.clone(), filter.clone());
        if let Some(found) = self.nodes.get(&at) {
            return found.clone();
        }
        let mut values = BTreeSet::new();
        for row in self.hosts.existing() {
            let host = self.hosts.get(row);
            let node = &self.snapshot.nodes[row];
            let Some(own) = &node.node else { continue };
            if !host.is_deleting && filter.accepts(host, &own.taints).is_some() {
                values.extend(host.domains(key).into_iter().flatten());
            }
        }
        self.nodes.insert(at, values.clone());
        values
    }

    fn affinity(&mut self, pod: &Pod) -> Option<Affinity> {
        let terms = &pod.spec.affinity;
        let meant = terms.iter().map(|term| self.meant(pod, term));
        let meant: BTreeSet<TermPods> = meant.collect();
        let mut group = |term: &AffinityTerm| {
            let row = self.groups.intern(TermGroupKey {
                counted: Counted::Selected,
                topology_key: term.topology_key.clone(),
                meant: meant.clone(),
                filter: TermNodeFilter::default(),
            });
            (term.topology_key.clone(), row)
        };
        (!terms.is_empty()).then(|| Affinity {
            groups: terms.iter().map(&mut group).collect(),
            selects_itself: meant.iter().all(|meant| meant.include(pod)),
        })
    }

    fn anti_affinity(&mut self, pod: &Pod, term: &AffinityTerm) -> AntiAffinity {
        let selected = self.term_key(pod, term, Counted::Selected);
        let owners = self.term_key(pod, term, Counted::Owners);
        AntiAffinity {
            topology_key: term.topology_key.clone(),
            group: self.groups.intern(selected),
            owners: self.groups.intern(owners),
        }
    }

    fn term_key(&self, pod: &Pod, term: &AffinityTerm, counted: Counted) -> TermGroupKey {
        TermGroupKey {
            counted,
            topology_key: term.topology_key.clone(),
            meant: BTreeSet::from([self.meant(pod, term)]),
            filter: TermNodeFilter::default(),
        }
    }

    /// The pods that an affinity term of a pod speaks of.
    fn meant(&self, pod: &Pod, term: &AffinityTerm) -> TermPods {
        let own = || Arc::clone(&pod.name.namespace);
        let namespaces = match &term.namespaces {
            NamespaceScope::Own => TermNamespaces::These([own()].into_iter().collect()),
            NamespaceScope::Named { selector, .. } if *selector == LabelSelector::All(vec![]) => {
                TermNamespaces::All
            }
            NamespaceScope::Named { names, selector } => {
                let all = self.snapshot.namespaces.iter();
                let matching = all.filter(|namespace| selector.matches(&namespace.labels));
                let matching = matching.map(|namespace| Arc::clone(&namespace.name));
                TermNamespaces::These(names.iter().cloned().chain(matching).collect())
            }
        };
        let (with, without) = (&term.match_label_keys, &term.mismatch_label_keys);
        TermPods {
            namespaces,
            selector: narrowed(pod, &term.selector, with, without),
        }
    }
}

/// All alternatives, then all but the first, and so on down to the last alone.
fn tails(alternatives: &[Requirements]) -> Vec<Vec<Requirements>> {
    (0..alternatives.len())
        .map(|from| alternatives[from..].to_vec())
        .collect()
}

/// A selector narrowed by the pod's own values of some keys.
fn narrowed(
    pod: &Pod,
    selector: &LabelSelector,
    with: &[Arc<str>],
    without: &[Arc<str>],
) -> LabelSelector {
    let condition = |key: &Arc<str>, operator: SelectorOperator| {
        let value = pod.labels.get(key)?;
        Some(LabelExpression {
            key: Arc::clone(key),
            operator,
            values: vec![Arc::clone(value)],
        })
    };
    let with = with
        .iter()
        .filter_map(|key| condition(key, SelectorOperator::In));
    let without = without
        .iter()
        .filter_map(|key| condition(key, SelectorOperator::NotIn));
    selector.and(with.chain(without))
}
