//! Pods that ask the same of a node, whatever else tells them apart: what refuses one of them refuses all.
//!
//! Groups are many where labels differ from pod to pod, but what they ask of a single node is often the same. Pods of one
//! *fit* ask for the same room, labels, ports and volumes; pods under the same *host rules* are kept off the same hosts.
//! Nodes only fill up and counts only grow while a decision goes on, so a refusal on either ground holds for good.

use std::collections::BTreeMap;

use plimsoll_base::requirement::Requirements;
use plimsoll_model::{HostPort, Toleration};

use super::pod_group::PodGroup;
use crate::pods::needs::NodeNeeds;
use crate::topology::{HeededDaemons, TopologyModel, TopologyRule};

/// Numbers of the fit and of the host rules of a group at one step of relaxation; equal numbers ask the same of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Like {
    /// Room, labels, taints, ports and volumes.
    pub(crate) fit: usize,
    /// Rules that count pods per host.
    pub(crate) host_rules: usize,
    /// `true` if those rules never admit again a host that they have refused; affinity may, and spread over hosts that are all there.
    pub(crate) lasting: bool,
}

/// Fits and host rules of every group at every step.
#[derive(Clone)]
pub(crate) struct Alike {
    of: Vec<Vec<Like>>,
    fits: usize,
    host_rules: usize,
}

/// Key of a fit: request per axis, host ports, requirements, tolerations, the alternatives of volumes, the rules by which daemons
/// close new nodes, and other needs.
type Fit<'a> = (
    &'a [i64],
    &'a [HostPort],
    &'a Requirements,
    &'a [Toleration],
    &'a [Requirements],
    &'a HeededDaemons,
    &'a NodeNeeds,
);

impl Alike {
    /// Finds which groups are alike.
    pub(crate) fn of(groups: &[PodGroup], model: &TopologyModel) -> Self {
        let mut fits: BTreeMap<Fit<'_>, usize> = BTreeMap::new();
        let mut rules: BTreeMap<Vec<(usize, HostRule)>, usize> = BTreeMap::new();
        let mut of = Vec::with_capacity(groups.len());
        for group in groups {
            let steps = (0..group.levels.len()).map(|level| {
                let held = &group.levels[level];
                let key: Fit<'_> = (
                    &group.request,
                    &group.spec.host_ports,
                    &held.requirements,
                    &held.tolerations,
                    &group.alternatives,
                    &held.daemons,
                    &group.needs,
                );
                let (next_fit, next_rules) = (fits.len(), rules.len());
                let own_rules = host_rules(group, level, model);
                // The smallest count over hosts may rise, too.
                let relents = |(rule, _): &(usize, HostRule)| {
                    let rule = &model.groups[*rule];
                    rule.identity.rule == TopologyRule::Affinity || rule.hosts.is_some()
                };
                Like {
                    fit: *fits.entry(key).or_insert(next_fit),
                    lasting: !own_rules.iter().any(relents),
                    host_rules: *rules.entry(own_rules).or_insert(next_rules),
                }
            });
            of.push(steps.collect());
        }
        let (fits, host_rules) = (fits.len(), rules.len());
        Self {
            of,
            fits,
            host_rules,
        }
    }

    /// The numbers of a group at a step of relaxation.
    pub(crate) fn like(&self, group: usize, level: usize) -> Like {
        self.of[group][level]
    }

    /// How many fits there are.
    pub(crate) fn fits(&self) -> usize {
        self.fits
    }

    /// How many combinations of host rules there are.
    pub(crate) fn host_rules(&self) -> usize {
        self.host_rules
    }
}

/// Effect of a rule about hosts on a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HostRule {
    /// The rule does not count it.
    Uncounted,
    /// The rule counts it.
    Counted,
    /// It heeds the rule for the sake of other pods.
    Heeding,
}

/// The rules that decide whether a host may take a pod: those it owns, those of others that keep the pods off which they select, and those
/// that it heeds.
fn host_rules(group: &PodGroup, level: usize, model: &TopologyModel) -> Vec<(usize, HostRule)> {
    let inverse = group
        .selected
        .iter()
        .filter(|rule| model.groups[**rule].identity.rule == TopologyRule::Inverse);
    let level = &group.levels[level];
    let part = |rule: &usize| {
        if group.selected.binary_search(rule).is_ok() {
            (*rule, HostRule::Counted)
        } else {
            (*rule, HostRule::Uncounted)
        }
    };
    let own = level.owned.iter().chain(inverse).map(part);
    let heeded = level.heeded.iter().map(|rule| (*rule, HostRule::Heeding));
    let all = own.chain(heeded);
    all.filter(|(rule, _)| model.is_by_host(*rule)).collect()
}
