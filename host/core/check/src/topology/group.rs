//! Groups: sets of pods that some constraint counts, and how many of them are in each domain.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::{Operator, Requirements, Undefined};
use plimsoll_model::{Effect, LabelSelector, Pod, Taint, Toleration, first_untolerated};

use super::super::host::{Host, Way};

/// Namespaces that a term speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TermNamespaces {
    All,
    These(BTreeSet<Arc<str>>),
}

/// Pods that a term speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TermPods {
    pub(super) namespaces: TermNamespaces,
    pub(super) selector: LabelSelector,
}

impl TermPods {
    pub(super) fn include(&self, pod: &Pod) -> bool {
        let here = match &self.namespaces {
            TermNamespaces::All => true,
            TermNamespaces::These(names) => names.contains(&pod.name.namespace),
        };
        here && self.selector.matches(&pod.labels)
    }
}

/// Pods that a group counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counted {
    /// The pods that are selected.
    Selected,
    /// The pods that are selected and were not asked to go.
    Staying,
    /// The pods whose anti-affinity selects.
    Owners,
}

/// The nodes on which a spread constraint counts pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TermNodeFilter {
    /// Of each of these keys the node must have a value.
    pub(super) keys: BTreeSet<LabelKey>,
    /// One of these must hold; `None` when node affinity is ignored.
    pub(super) alternatives: Option<Vec<Requirements>>,
    /// These must cover every taint that keeps pods off; `None` when taints are ignored.
    pub(super) tolerations: Option<Vec<Toleration>>,
}

/// Certainty of a statement about a place, over all ways in which claims may turn out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    Certain,
    Possible,
}

/// Identity of a group: its whole structure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TermGroupKey {
    pub(super) counted: Counted,
    pub(super) topology_key: LabelKey,
    /// Terms that speak of a pod together: only one that all of them mean counts.
    pub(super) meant: BTreeSet<TermPods>,
    pub(super) filter: TermNodeFilter,
}

impl TermGroupKey {
    /// `true` if it counts pods that are selected, not those whose terms select.
    pub(super) fn counts_pods(&self) -> bool {
        self.counted != Counted::Owners
    }

    /// `true` if a pod that is selected counts.
    pub(super) fn counts(&self, pod: &Pod) -> bool {
        match self.counted {
            Counted::Selected => true,
            Counted::Staying => pod.deleting.is_none(),
            Counted::Owners => false,
        }
    }

    /// `true` if every term speaks of this pod.
    pub(super) fn selects(&self, pod: &Pod) -> bool {
        self.meant.iter().all(|meant| meant.include(pod))
    }
}

impl TermNodeFilter {
    /// The ways in which a place may turn out and pods there count: none, some or all.
    pub(super) fn passing<'h>(&self, host: &'h Host) -> Vec<&'h Way> {
        if !self.tolerates(&host.taints) {
            return Vec::new();
        }
        let passes = |way: &&Way| {
            let has = |key: &LabelKey| {
                let value = host.value(way, key.as_str());
                value.is_some_and(|value| value.operator() == Operator::In)
            };
            let meets = |asked: &Requirements| host.first_unmet(way, asked).is_none();
            let alternatives = self.alternatives.as_ref();
            self.keys.iter().all(has) && alternatives.is_none_or(|all| all.iter().any(meets))
        };
        host.ways.iter().filter(passes).collect()
    }

    /// `true` if a node with these labels and taints passes.
    pub(super) fn passes(&self, labels: &Requirements, taints: &[Taint]) -> bool {
        let has = |key: &LabelKey| labels.get(key.as_str()).is_some();
        let meets = |asked: &Requirements| labels.accepts(asked, Undefined::Refused).is_ok();
        let alternatives = self.alternatives.as_ref();
        self.tolerates(taints)
            && self.keys.iter().all(has)
            && alternatives.is_none_or(|all| all.iter().any(meets))
    }

    fn tolerates(&self, taints: &[Taint]) -> bool {
        let hard = taints
            .iter()
            .filter(|taint| taint.effect != Effect::PreferNoSchedule);
        let hard: Vec<Taint> = hard.cloned().collect();
        let tolerations = self.tolerations.as_ref();
        tolerations.is_none_or(|own| first_untolerated(&hard, own).is_none())
    }
}

/// How many counted pods there are, by domain.
#[derive(Clone, Debug, Default)]
pub(super) struct TermCounts {
    by_domain: BTreeMap<Arc<str>, Count>,
    by_host: BTreeMap<usize, u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    certain: u32,
    possible: u32,
}

impl TermCounts {
    /// Adds a pod on a place that may turn out in any of `domains`.
    pub(super) fn add(&mut self, host: usize, domains: &[Option<Arc<str>>], certainty: Certainty) {
        *self.by_host.entry(host).or_default() += 1;
        for domain in domains.iter().flatten() {
            let count = self.by_domain.entry(Arc::clone(domain)).or_default();
            count.possible += 1;
            if domains.len() == 1 && certainty == Certainty::Certain {
                count.certain += 1;
            }
        }
    }

    /// Adds a pod that may be in any of `domains`, and may not be there at all.
    pub(super) fn add_possible(&mut self, domains: &[Option<Arc<str>>]) {
        for domain in domains.iter().flatten() {
            self.by_domain
                .entry(Arc::clone(domain))
                .or_default()
                .possible += 1;
        }
    }

    /// The pods that are in a domain however claims turn out.
    pub(super) fn certain(&self, domain: &str) -> u32 {
        self.by_domain.get(domain).map_or(0, |count| count.certain)
    }

    /// The pods that may be in a domain.
    pub(super) fn possible(&self, domain: &str) -> u32 {
        self.by_domain.get(domain).map_or(0, |count| count.possible)
    }

    /// The pods on one place.
    pub(super) fn on_host(&self, host: usize) -> u32 {
        self.by_host.get(&host).copied().unwrap_or(0)
    }

    /// The domains that have or may have a pod.
    pub(super) fn inhabited(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_domain.keys()
    }

    /// `true` if no pod is counted anywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.by_domain.is_empty()
    }
}

/// A group and its counts.
#[derive(Clone, Debug)]
pub(super) struct TermGroup {
    pub(super) key: TermGroupKey,
    pub(super) counts: TermCounts,
}

/// All groups, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct TermGroups {
    all: Vec<TermGroup>,
    rows: BTreeMap<TermGroupKey, usize>,
}

impl TermGroups {
    /// Row of a group, made when it is new.
    pub(super) fn intern(&mut self, key: TermGroupKey) -> usize {
        let next = self.all.len();
        let row = *self.rows.entry(key.clone()).or_insert(next);
        if row == next {
            let counts = TermCounts::default();
            self.all.push(TermGroup { key, counts });
        }
        row
    }

    pub(super) fn get(&self, row: usize) -> &TermGroup {
        &self.all[row]
    }

    pub(super) fn get_mut(&mut self, row: usize) -> &mut TermGroup {
        &mut self.all[row]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &TermGroup> {
        self.all.iter()
    }
}
