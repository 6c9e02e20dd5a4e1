//! The terms of one pod, compiled once for all pods that share them: which group each counts, and the domains that a spread
//! compares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::{HOSTNAME, LabelKey, Labels};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{
    AffinityTerm, LabelExpression, LabelSelector, NamespaceScope, NodeInclusion, Owner, Pod,
    PodSpec, SelectorOperator, SpreadConstraint, WhenUnsatisfiable,
};

use super::super::daemons;
use super::super::hosts::Hosts;
use super::super::market::Shop;
use super::buyable::{BuyableDomains, LabelValues};
use super::group::{
    Counted, TermCounts, TermGroupKey, TermGroups, TermNamespaces, TermNodeFilter, TermPods,
};

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
    pub(super) group: usize,
    /// Domains to compare with, by number: those of all pods with the same constraint.
    pub(super) domains: usize,
}

/// Domains that pods of one constraint are compared with, beside those that have a counted pod.
#[derive(Clone, Debug, Default)]
pub(super) struct SpreadDomains {
    /// Those of nodes that are there or on their way, and those in which a claim of the plan may turn out.
    pub(super) there: LabelValues,
    /// Those that the plan may have reckoned with as well.
    pub(super) possible: LabelValues,
    /// For host names: the places, by number.
    pub(super) hosts: Vec<usize>,
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
    /// The fewest pods on any of some hosts.
    pub(super) fn least_on_hosts(&self, counts: &TermCounts, hosts: &[usize]) -> u32 {
        let few = self
            .min_domains
            .is_some_and(|least| hosts.len() < usize::try_from(least).unwrap_or(usize::MAX));
        let counts = hosts.iter().map(|host| counts.on_host(*host));
        let least = counts.min().unwrap_or(0);
        if few { 0 } else { least }
    }

    /// The largest skew that one more pod may bring about, over the domains it may turn out in; compared with the counts of
    /// `known` domains.
    pub(super) fn skew(
        &self,
        counts: &TermCounts,
        domains: &[Option<Arc<str>>],
        known: &[&LabelValues],
    ) -> Skew {
        let known = known.iter().copied().flatten();
        let all: BTreeSet<&Arc<str>> = known.chain(counts.inhabited()).collect();
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

/// Key of a spread's domains: its group, largest skew and least number of domains.
type DomainsKey = (usize, u32, Option<u32>);

/// Compiles pods' terms into shared groups.
pub(super) struct Compiler<'a> {
    snapshot: &'a Snapshot,
    hosts: &'a Hosts,
    groups: TermGroups,
    buyable: BuyableDomains<'a>,
    domains: Vec<SpreadDomains>,
    numbers: BTreeMap<DomainsKey, usize>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, shops: &'a [Shop], hosts: &'a Hosts) -> Self {
        Self {
            snapshot,
            hosts,
            groups: TermGroups::default(),
            buyable: BuyableDomains::new(snapshot, shops),
            domains: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    pub(super) fn finish(self) -> (TermGroups, Vec<SpreadDomains>) {
        (self.groups, self.domains)
    }

    /// Lets a pod of the plan bring its domains into those of its constraints: where a node can be bought for it.
    pub(super) fn reach(&mut self, pod: &Pod, terms: &Terms) {
        let by_domain = |spread: &&Spread| spread.topology_key.as_str() != HOSTNAME;
        for spread in terms.spread.iter().filter(by_domain) {
            let filter = &self.groups.get(spread.group).key.filter;
            let others: Vec<LabelKey> = filter.keys.iter().cloned().collect();
            let values = self.buyable.of(pod, &spread.topology_key, &others);
            let known = &mut self.domains[spread.domains].possible;
            known.extend(values.iter().cloned());
        }
    }

    pub(super) fn compile(&mut self, pod: &Pod) -> Terms {
        let defaults = self.snapshot.default_constraints(pod);
        let constraints = if pod.spec.spread.is_empty() {
            &defaults
        } else {
            &pod.spec.spread
        };
        let hard = constraints
            .iter()
            .filter(|constraint| constraint.when_unsatisfiable == WhenUnsatisfiable::DoNotSchedule);
        let hard: Vec<&SpreadConstraint> = hard.collect();
        // Every node has a host name.
        let keys = hard.iter().map(|constraint| &constraint.topology_key);
        let keys = keys.filter(|key| key.as_str() != HOSTNAME);
        let keys: BTreeSet<LabelKey> = keys.cloned().collect();
        let spec = &pod.spec;
        Terms {
            spread: hard
                .into_iter()
                .map(|constraint| self.spread(pod, constraint, &keys))
                .collect(),
            affinity: self.affinity(pod),
            anti_affinity: spec
                .anti_affinity
                .iter()
                .map(|term| self.anti_affinity(pod, term))
                .collect(),
        }
    }

    /// A constraint of a pod whose hard constraints have these keys, all of which must be on a node that counts.
    fn spread(
        &mut self,
        pod: &Pod,
        constraint: &SpreadConstraint,
        keys: &BTreeSet<LabelKey>,
    ) -> Spread {
        let narrowed = narrowed(pod, &constraint.selector, &constraint.match_label_keys, &[]);
        // A selector that is missing or has no conditions counts no pod; its key must be on the node all the same.
        let selector = match narrowed {
            LabelSelector::All(conditions) if !conditions.is_empty() => {
                LabelSelector::All(conditions)
            }
            _ => LabelSelector::Nothing,
        };
        let own = u32::from(selector.matches(&pod.labels));
        let key = &constraint.topology_key;
        let honors = |inclusion| inclusion == NodeInclusion::Honor;
        let filter = TermNodeFilter {
            keys: keys.clone(),
            alternatives: honors(constraint.node_affinity)
                .then(|| daemons::alternatives(&pod.spec)),
            tolerations: honors(constraint.node_taints).then(|| pod.spec.tolerations.clone()),
        };
        let namespace = Arc::clone(&pod.name.namespace);
        let group = self.groups.intern(TermGroupKey {
            counted: Counted::Staying,
            topology_key: key.clone(),
            meant: BTreeSet::from([TermPods {
                namespaces: TermNamespaces::These([namespace].into_iter().collect()),
                selector,
            }]),
            filter,
        });
        let next = self.domains.len();
        let numbers = &mut self.numbers;
        let at = (group, constraint.max_skew, constraint.min_domains);
        let domains = *numbers.entry(at).or_insert(next);
        if domains == next {
            let found = self.domains(&self.groups.get(group).key);
            self.domains.push(found);
        }
        Spread {
            topology_key: key.clone(),
            max_skew: constraint.max_skew,
            min_domains: constraint.min_domains,
            own,
            group,
            domains,
        }
    }

    /// Values of a spread's key on nodes that are there or on their way, and on those that the plan buys.
    fn domains(&self, group: &TermGroupKey) -> SpreadDomains {
        let (key, filter) = (&group.topology_key, &group.filter);
        let mut result = SpreadDomains::default();
        let is_host = key.as_str() == HOSTNAME;
        for (row, node) in self.snapshot.nodes.iter().enumerate() {
            let labels = Requirements::from_labels(node.certain_labels().as_ref());
            let taints = node.node.as_ref().map_or(&[][..], |node| &node.taints);
            let is_coming_or_there = node.node.is_some() || !node.is_deleting();
            let value = labels.get(key.as_str()).and_then(Requirement::single);
            if is_coming_or_there && filter.passes(&labels, taints) {
                if is_host {
                    result.hosts.push(row);
                } else {
                    result.there.extend(value.cloned());
                }
            }
        }
        let planned = self.hosts.existing().end..;
        for (row, host) in planned.zip(self.hosts.planned()) {
            let passing = filter.passing(host);
            if passing.is_empty() {
                continue;
            }
            if is_host {
                result.hosts.push(row);
            } else {
                let domains = host.domains_of(passing.into_iter(), key);
                result.there.extend(domains.into_iter().flatten());
            }
        }
        if !is_host {
            result.possible.extend(self.buyable.on_sale(key));
        }
        result
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
