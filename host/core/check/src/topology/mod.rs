//! Topology spread, pod affinity and anti-affinity, counted over bound pods and over the placements made so far.
//! Section 22 of the scheduling contract.
//!
//! Where a claim may turn out in several domains its pods are counted as *possible* in each and *certain* in none. A rule
//! holds only if it holds however the claims turn out: spread compares the most that a domain may have with the least that
//! the others have for certain, affinity needs a certain neighbour (one on the same claim will do), anti-affinity refuses a
//! possible one. A spread compares the domains of nodes that are there or on their way, and those in which claims of the plan may turn
//! out: the scheduler sees no others whatever comes up first, and a least count over more of them is the stricter one. Pods that were
//! asked to go count for affinity and anti-affinity until they have ended, and for no spread.

mod buyable;
mod group;
mod terms;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::{HOSTNAME, LabelKey, Labels};
use plimsoll_model::Pod;
use plimsoll_model::snapshot::Snapshot;

use super::daemons;
use super::finding::{Breach, Rule};
use super::host::Host;
use super::hosts::Hosts;
use super::market::Shop;
use group::{Certainty, TermCounts, TermGroup, TermGroups};
use terms::{Affinity, AntiAffinity, Compiler, Spread, SpreadDomains, Terms, TermsKey};

type Domains = Arc<Vec<Option<Arc<str>>>>;
/// Namespace and labels: all that a selector sees of a pod.
type Face = (Arc<str>, Arc<Labels>);

/// Use of domains of which it is open whether a spread compares with them: zones and hosts in which the plan might have bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// They do not count: a placement is wrong only if it is wrong without them.
    Forgives,
    /// They count if they keep the pod out: it may wait.
    Excuses,
}

/// All counts of a replay.
pub(super) struct Topology<'a> {
    snapshot: &'a Snapshot,
    groups: TermGroups,
    /// Domains that spreads compare, by number.
    spread_domains: Vec<SpreadDomains>,
    terms: BTreeMap<TermsKey, Arc<Terms>>,
    domains: BTreeMap<(usize, LabelKey), Domains>,
    selected: BTreeMap<Face, Arc<Vec<usize>>>,
    /// Groups that required affinity is about.
    followed: BTreeSet<usize>,
}

impl<'a> Topology<'a> {
    /// Reads the terms of all pods that may be placed, and of bound pods that keep others away; then counts bound pods,
    /// apart from those that are being planned.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        shops: &[Shop],
        hosts: &Hosts,
        is_planned: &dyn Fn(usize) -> bool,
    ) -> Self {
        let mut compiler = Compiler::new(snapshot, shops, hosts);
        let mut terms = BTreeMap::new();
        for (row, pod) in snapshot.pods.iter().enumerate() {
            if is_planned(row) || (!pod.is_terminal() && !pod.spec.anti_affinity.is_empty()) {
                let key = TermsKey::of(snapshot, pod);
                let terms = terms
                    .entry(key)
                    .or_insert_with(|| Arc::new(compiler.compile(pod)));
                if is_planned(row) {
                    compiler.reach(pod, terms);
                }
            }
        }
        for (_, pod) in daemons::pods(snapshot) {
            if !pod.spec.anti_affinity.is_empty() {
                let key = TermsKey::of(snapshot, &pod);
                terms
                    .entry(key)
                    .or_insert_with(|| Arc::new(compiler.compile(&pod)));
            }
        }
        let affinity = terms.values().flat_map(|terms| &terms.affinity);
        let groups = affinity.flat_map(|affinity| &affinity.groups);
        let followed = groups.map(|(_, group)| *group).collect();
        let (groups, spread_domains) = compiler.finish();
        let mut topology = Self {
            snapshot,
            followed,
            groups,
            spread_domains,
            terms,
            domains: BTreeMap::new(),
            selected: BTreeMap::new(),
        };
        let bound = snapshot.pods_by_node();
        for (host, bound) in bound.iter().enumerate() {
            let counts = |row: &&usize| !snapshot.pods[**row].is_terminal() && !is_planned(**row);
            for row in bound.iter().filter(counts) {
                topology.record(&snapshot.pods[*row], host, hosts.get(host));
            }
        }
        topology.record_daemons(hosts, &bound);
        topology
    }

    /// Counts the daemons that are still to come to nodes, and those of the plan's claims: as possible where they come in some of
    /// the ways a claim may turn out.
    fn record_daemons(&mut self, hosts: &Hosts, bound: &[Vec<usize>]) {
        let snapshot = self.snapshot;
        for (daemon, pod) in daemons::pods(snapshot) {
            if pod.spec.anti_affinity.is_empty() && self.selecting(&pod).is_empty() {
                continue;
            }
            for (row, bound) in bound.iter().enumerate() {
                if daemons::is_to_come(snapshot, &snapshot.nodes[row], bound, daemon) {
                    self.record(&pod, row, hosts.get(row));
                }
            }
            for (row, host) in (bound.len()..).zip(hosts.planned()) {
                match daemons::ways_with(snapshot, host, daemon) {
                    0 => {}
                    ways if ways == host.ways.len() => self.record(&pod, row, host),
                    _ => self.record_as(&pod, row, host, Certainty::Possible),
                }
            }
        }
    }

    /// Every topology rule that putting the pod there breaks; one finding per rule.
    pub(super) fn breaches(
        &mut self,
        pod: &Pod,
        row: usize,
        host: &Host,
        doubt: Doubt,
    ) -> Vec<Breach> {
        let Some(terms) = self.terms.get(&TermsKey::of(self.snapshot, pod)).cloned() else {
            return Vec::new();
        };
        let mut result = Vec::new();
        let spread = |this: &mut Self| {
            let mut constraints = terms.spread.iter();
            constraints.find_map(|constraint| this.spread(constraint, row, host, doubt))
        };
        result.extend(spread(self));
        let affinity = terms.affinity.as_ref();
        result.extend(affinity.and_then(|affinity| self.affinity(affinity, row, host)));
        let mut anti_affinity = terms.anti_affinity.iter();
        let kept_away = anti_affinity.find_map(|term| self.anti_affinity(term, row, host));
        result.extend(kept_away.or_else(|| self.kept_away_by_others(pod, row, host)));
        result
    }

    /// Counts a pod where it is.
    pub(super) fn record(&mut self, pod: &Pod, row: usize, host: &Host) {
        self.record_as(pod, row, host, Certainty::Certain);
    }

    /// Counts a pod where it is, or may be.
    fn record_as(&mut self, pod: &Pod, row: usize, host: &Host, most: Certainty) {
        for group in self.selecting(pod).iter() {
            let group = *group;
            if !self.groups.get(group).key.counts(pod) {
                continue;
            }
            let key = &self.groups.get(group).key;
            let passing = key.filter.passing(host);
            if passing.is_empty() {
                continue;
            }
            let certainty = if passing.len() == host.ways.len() {
                Certainty::Certain
            } else {
                Certainty::Possible
            };
            let domains = host.domains_of(passing.into_iter(), &key.topology_key);
            let counts = &mut self.groups.get_mut(group).counts;
            match most {
                Certainty::Certain => counts.add(row, &domains, certainty),
                Certainty::Possible => counts.add_possible(&domains),
            }
        }
        if let Some(terms) = self.terms.get(&TermsKey::of(self.snapshot, pod)).cloned() {
            for term in &terms.anti_affinity {
                let domains = self.domains(row, host, &term.topology_key);
                let owners = self.groups.get_mut(term.owners);
                owners.counts.add(row, &domains, most);
            }
        }
    }

    /// `true` if terms of the pod, or terms of others that speak of it, say anything at all.
    pub(super) fn concerns(&mut self, pod: &Pod) -> bool {
        let own = self.terms.get(&TermsKey::of(self.snapshot, pod));
        let has_own = own.is_some_and(|terms| !terms.is_empty());
        let selecting = self.selecting(pod);
        has_own
            || selecting
                .iter()
                .any(|group| !self.groups.get(*group).key.counts_pods())
    }

    /// `true` if some pod must be near pods such as this one.
    pub(super) fn is_followed(&mut self, pod: &Pod) -> bool {
        let selecting = self.selecting(pod);
        selecting.iter().any(|group| self.followed.contains(group))
    }

    fn spread(
        &mut self,
        constraint: &Spread,
        row: usize,
        host: &Host,
        doubt: Doubt,
    ) -> Option<Breach> {
        let key = &constraint.topology_key;
        let domains = self.domains(row, host, key);
        let expected = format!("a skew of at most {}", constraint.max_skew);
        if domains.iter().any(Option::is_none) || domains.is_empty() {
            return Some(Breach::new(
                Rule::Spread,
                format!("{key} is not known there"),
                expected,
            ));
        }
        let counts = &self.groups.get(constraint.group).counts;
        let known = &self.spread_domains[constraint.domains];
        let reason = if key.as_str() == HOSTNAME {
            let would_be = counts.on_host(row) + constraint.own;
            // Only a host with more than the skew needs a look at all the others.
            let least = match doubt {
                Doubt::Forgives if would_be > constraint.max_skew => {
                    constraint.least_on_hosts(counts, &known.hosts)
                }
                _ => 0,
            };
            let is_wrong = would_be > least.saturating_add(constraint.max_skew);
            is_wrong.then(|| format!("{would_be} on one host where the fewest is {least}"))
        } else {
            let skew = constraint.skew(counts, &domains, &[&known.there]);
            let doubtful = || constraint.skew(counts, &domains, &[&known.there, &known.possible]);
            let skew = match doubt {
                Doubt::Excuses if doubtful().amount > skew.amount => doubtful(),
                _ => skew,
            };
            let is_wrong = skew.amount > i64::from(constraint.max_skew);
            is_wrong.then(|| format!("{key} {}", skew.text))
        };
        Some(Breach::new(Rule::Spread, reason?, expected))
    }

    /// Required affinity, all terms together: in the domain of every key a pod that all of them mean, or nowhere such a pod and the
    /// terms mean this one itself.
    fn affinity(&mut self, affinity: &Affinity, row: usize, host: &Host) -> Option<Breach> {
        let mut lonely = None;
        for (key, group) in &affinity.groups {
            let domains = self.domains(row, host, key);
            let expected = || format!("{key} with a pod that it wants to be near");
            if domains.iter().any(Option::is_none) || domains.is_empty() {
                let value = format!("{key} is not known there");
                return Some(Breach::new(Rule::Affinity, value, expected()));
            }
            let counts = &self.groups.get(*group).counts;
            let mut domains = domains.iter().flatten();
            let Some(domain) =
                domains.find(|domain| counts.certain(domain) == 0 && counts.on_host(row) == 0)
            else {
                continue;
            };
            let shown = match counts.possible(domain) {
                0 => format!("{key} {domain} has none"),
                _ => {
                    format!("{key} {domain} may have none: the claims there may turn out elsewhere")
                }
            };
            lonely = lonely.or_else(|| Some(Breach::new(Rule::Affinity, shown, expected())));
        }
        let mut groups = affinity.groups.iter();
        let is_first = affinity.selects_itself
            && groups.all(|(_, group)| self.groups.get(*group).counts.is_empty());
        lonely.filter(|_| !is_first)
    }

    fn anti_affinity(&mut self, term: &AntiAffinity, row: usize, host: &Host) -> Option<Breach> {
        let domains = self.domains(row, host, &term.topology_key);
        let counts = &self.groups.get(term.group).counts;
        let crowded = crowded(counts, &domains)?;
        Some(Breach::new(
            Rule::AntiAffinity,
            format!(
                "{} {crowded} has or may have a pod it keeps away from",
                term.topology_key
            ),
            "no such pod",
        ))
    }

    /// Terms of pods already there that keep this one away.
    fn kept_away_by_others(&mut self, pod: &Pod, row: usize, host: &Host) -> Option<Breach> {
        for group in self.selecting(pod).iter() {
            let key = self.groups.get(*group).key.clone();
            if key.counts_pods() {
                continue;
            }
            let domains = self.domains(row, host, &key.topology_key);
            if let Some(crowded) = crowded(&self.groups.get(*group).counts, &domains) {
                return Some(Breach::new(
                    Rule::AntiAffinity,
                    format!(
                        "{} {crowded} has or may have a pod that keeps it away",
                        key.topology_key
                    ),
                    "no such pod",
                ));
            }
        }
        None
    }

    fn domains(&mut self, row: usize, host: &Host, key: &LabelKey) -> Domains {
        let cached = self.domains.entry((row, key.clone()));
        Arc::clone(cached.or_insert_with(|| Arc::new(host.domains(key))))
    }

    /// The groups whose selector speaks of this pod.
    fn selecting(&mut self, pod: &Pod) -> Arc<Vec<usize>> {
        let key = (Arc::clone(&pod.name.namespace), Arc::clone(&pod.labels));
        let groups = &self.groups;
        let found = self.selected.entry(key).or_insert_with(|| {
            let selects = |(at, group): (usize, &TermGroup)| group.key.selects(pod).then_some(at);
            Arc::new(groups.iter().enumerate().filter_map(selects).collect())
        });
        Arc::clone(found)
    }
}

/// The first domain that has or may have a counted pod.
fn crowded(counts: &TermCounts, domains: &[Option<Arc<str>>]) -> Option<Arc<str>> {
    let mut known = domains.iter().flatten();
    known.find(|domain| counts.possible(domain) > 0).cloned()
}
