//! Rules that hold on every single node, from host topology, host ports and guards, and what each bin is to them.
//!
//! A rule counts all pods that it selects, in whatever order they come to be bound. Where those that must share a host are more than it
//! allows, only what is placed before its last owner counts.

use std::collections::BTreeMap;

use plimsoll_base::ids::Uid;
use plimsoll_model::HostPort;
use plimsoll_pack::{Membership, NodeRule};

use crate::place::{Bin, Placer};
use crate::topology::TopologyRule;

/// Rules that hold on a node, from host topology, host ports and guards.
pub(crate) struct NodeRules {
    /// The rules, by number.
    pub(crate) limits: Vec<NodeRule>,
    /// Topology group, whether the owners select themselves, last step of an owner, rule.
    topology: BTreeMap<(usize, bool), (usize, usize)>,
    ports: BTreeMap<HostPort, usize>,
    workloads: BTreeMap<Uid, usize>,
}

impl NodeRules {
    /// Collects the rules that pods of some bins bring to a node; `replicas` are the most of some workloads that one may get.
    pub(crate) fn new(
        placer: &Placer<'_, '_>,
        bins: &[usize],
        replicas: &BTreeMap<Uid, u32>,
    ) -> Self {
        let mut result = Self {
            limits: Vec::new(),
            topology: BTreeMap::new(),
            ports: BTreeMap::new(),
            workloads: BTreeMap::new(),
        };
        for bin in bins {
            for step in &placer.bins[*bin].steps {
                result.learn(placer, *step);
            }
        }
        for (uid, limit) in replicas {
            result.workloads.insert(uid.clone(), result.limits.len());
            result.limits.push(NodeRule { limit: *limit });
        }
        result
    }

    fn learn(&mut self, placer: &Placer<'_, '_>, step: usize) {
        let compiled = placer.compiled;
        let placed = &placer.steps[step];
        let group = &compiled.groups[compiled.pods[placed.pod].group];
        for owned in group.levels[placed.level]
            .owned
            .iter()
            .filter(|owned| compiled.model.is_by_host(**owned))
        {
            let own = group.selected.binary_search(owned).is_ok();
            let topology = &compiled.model.groups[*owned];
            let daemons = topology.daemons.as_ref().map_or(0, |daemons| daemons.most);
            let limit = match topology.identity.rule {
                TopologyRule::Spread { max_skew, .. } => max_skew.saturating_sub(daemons),
                TopologyRule::AntiAffinity => u32::from(own),
                TopologyRule::Affinity | TopologyRule::Inverse => continue,
            };
            let next = self.limits.len();
            let (last, rule) = self.topology.entry((*owned, own)).or_insert((step, next));
            *last = step.max(*last);
            if *rule == next {
                self.limits.push(NodeRule { limit });
            }
        }
        for port in &group.spec.host_ports {
            let next = self.limits.len();
            if *self.ports.entry(port.clone()).or_insert(next) == next {
                self.limits.push(NodeRule { limit: 1 });
            }
        }
    }

    /// The rules that a bin's pods own or count under, each with the number of its pods that count.
    pub(crate) fn memberships(&self, placer: &Placer<'_, '_>, bin: &Bin) -> Vec<Membership> {
        let compiled = placer.compiled;
        let mut result: BTreeMap<usize, RulePart> = BTreeMap::new();
        let mut part = |rule: usize, owner: bool, counted: bool, before: bool| {
            if owner || counted {
                let entry = result.entry(rule).or_default();
                entry.owner |= owner;
                entry.all += u32::from(counted);
                entry.before += u32::from(counted && before);
            }
        };
        for step in &bin.steps {
            let placed = &placer.steps[*step];
            let pod = compiled.pods[placed.pod];
            let group = &compiled.groups[pod.group];
            let owned = &group.levels[placed.level].owned;
            for topology in union(owned, &group.selected) {
                let selected = group.selected.binary_search(&topology).is_ok();
                let owned = owned.binary_search(&topology).is_ok();
                let group = &compiled.model.groups[topology];
                let spread = matches!(group.identity.rule, TopologyRule::Spread { .. });
                for own in [false, true] {
                    if let Some((last, rule)) = self.topology.get(&(topology, own)) {
                        let before = !spread || step <= last;
                        part(*rule, owned && selected == own, selected, before);
                    }
                }
            }
            let ports = &group.spec.host_ports;
            for (port, rule) in self.ports.iter().filter(|_| !ports.is_empty()) {
                let conflicts = ports.iter().any(|other| other.conflicts_with(port));
                part(*rule, ports.contains(port), conflicts, true);
            }
            let owner = &compiled.snapshot.pods[pod.row].owner;
            if let Some(rule) = owner
                .as_ref()
                .and_then(|owner| self.workloads.get(&owner.uid))
            {
                part(*rule, true, true, true);
            }
        }
        let membership = |(rule, part): (usize, RulePart)| {
            let limit = self.limits[rule].limit;
            let is_guard = || self.workloads.values().any(|guard| *guard == rule);
            let counted = if part.all > limit {
                part.before
            } else {
                part.all
            };
            // A guard yields where pods that must share a host are more than it lets one node have.
            (counted <= limit || !is_guard()).then_some(Membership {
                rule,
                owner: part.owner,
                counted,
            })
        };
        let found = result.into_iter().filter_map(membership);
        found
            .filter(|found| found.owner || found.counted > 0)
            .collect()
    }
}

/// A bin's part in a rule.
#[derive(Clone, Copy, Debug, Default)]
struct RulePart {
    /// Some of its pods own the rule.
    owner: bool,
    /// Its pods that count.
    all: u32,
    /// Those of them that are placed before the last owner.
    before: u32,
}

/// Union of two ascending lists, ascending, each value once.
fn union(left: &[usize], right: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = left.iter().chain(right).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
