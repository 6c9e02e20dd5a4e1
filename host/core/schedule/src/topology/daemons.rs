//! Daemons as pods that topology counts: on new nodes, where they come with the node, and on nodes there are that still wait for
//! theirs. Those that run are counted like any bound pod.
//!
//! A pod that must keep away from a daemon, or that a daemon keeps away, is bought no node that has one: each new node would,
//! and be given up again. A pod that must be near a daemon is at home on any new node that has one.
//! Counts of daemons on new nodes are not part of spreads over other keys than the host name.

use plimsoll_base::bits::Bits;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{DaemonSet, Pod};

use super::build::Builder;
use super::{CountInputs, CountedBy, Counts, TopologyModel, TopologyRule};
use crate::offers::daemons;
use crate::offers::rows::Rows;

/// Daemons of new nodes that one group counts.
#[derive(Clone, Debug)]
pub(crate) struct CountedDaemons {
    /// Rows whose nodes have some.
    pub(crate) rows: Bits,
    /// The most that one node has.
    pub(crate) most: u32,
}

/// A daemon of some groups: its position in the snapshot, the groups that select it, and those of its own anti-affinity.
pub(super) struct Concerned {
    set: usize,
    selected: Vec<usize>,
    inverse: Vec<usize>,
}

/// The pod that a daemon set would put on a node.
pub(super) fn pod_of(set: &DaemonSet) -> Pod {
    let mut pod = Pod::pending(set.uid.clone(), set.name.clone(), set.created);
    pod.labels = set.labels.clone();
    pod.spec = set.pod.clone();
    pod
}

/// Daemons that some group counts.
pub(super) fn concerned(builder: &mut Builder, snapshot: &Snapshot) -> Vec<Concerned> {
    let mut result = Vec::new();
    for (set, daemon) in snapshot.daemon_sets.iter().enumerate() {
        let inverse = if daemon.pod.anti_affinity.is_empty() {
            Vec::new()
        } else {
            builder.inverse(snapshot, &pod_of(daemon))
        };
        let selected = builder.selecting(&daemon.name.namespace, &daemon.labels);
        let is_served = !daemon.pod.dynamic_resources;
        if is_served && !(selected.is_empty() && inverse.is_empty()) {
            result.push(Concerned {
                set,
                selected,
                inverse,
            });
        }
    }
    result
}

/// Tells every group which rows bring daemons that it counts.
pub(super) fn learn_rows(model: &mut TopologyModel, concerned: &[Concerned], rows: &Rows) {
    for daemon in concerned {
        let runs = rows.select(|row| row.overhead.sets.binary_search(&daemon.set).is_ok());
        if runs.is_empty() {
            continue;
        }
        let counts = |group: &&usize| {
            !model.is_inverse(**group) && (!model.is_spread(**group) || model.is_by_host(**group))
        };
        let selected = daemon.selected.iter().filter(counts);
        let groups: Vec<usize> = selected.chain(&daemon.inverse).copied().collect();
        for number in groups {
            let group = &mut model.groups[number];
            let mut runs = runs.clone();
            if let Some(seen) = &group.rows {
                runs.keep(seen);
            }
            match &mut group.daemons {
                Some(known) => {
                    known.rows.join(&runs);
                    known.most += 1;
                }
                None => {
                    group.daemons = Some(CountedDaemons {
                        rows: runs,
                        most: 1,
                    });
                }
            }
        }
    }
    let numbers = 0..model.groups.len();
    model.with_daemons = numbers
        .filter(|group| model.groups[*group].daemons.is_some())
        .collect();
}

/// Counts daemons that are yet to come to nodes there are.
pub(super) fn count_to_come(
    counted: CountInputs<'_, '_>,
    model: &TopologyModel,
    concerned: &[Concerned],
    counts: &mut Counts,
) {
    let snapshot = counted.reading.snapshot;
    for daemon in concerned {
        let by = CountedBy {
            selected: &daemon.selected,
            inverse: &daemon.inverse,
            heeded_by_others: &[],
        };
        let set = &snapshot.daemon_sets[daemon.set];
        for (row, node) in snapshot.nodes.iter().enumerate() {
            let bound = counted.reading.pods_on(row);
            if counted.removal.stays(row, node) && daemons::is_to_come(snapshot, node, set, bound) {
                counts.record_existing(model, row, by);
            }
        }
    }
}

/// Rules of a pod that daemons on new nodes decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HeededDaemons {
    /// Affinities that a daemon meets on every row open to the pod, ascending.
    pub(crate) met: Vec<usize>,
    /// Rules for which rows with a daemon are closed, ascending.
    kept_off: Vec<usize>,
}

impl TopologyModel {
    /// Closes rows, of those open to a pod, to the pods that own some groups and are selected by others: those with a daemon that
    /// they keep away from, or that keeps them away; and, where there are some with a daemon that they must be near, the rest.
    pub(crate) fn heed_daemons(
        &self,
        owned: &[usize],
        selected: &[usize],
        open: &mut Bits,
    ) -> HeededDaemons {
        let mut result = HeededDaemons::default();
        for group in &self.with_daemons {
            let holds = if self.is_inverse(*group) {
                selected.binary_search(group).is_ok()
            } else {
                owned.binary_search(group).is_ok()
            };
            if let Some(rows) = self.kept_off(*group).filter(|_| holds) {
                open.drop_all(&rows);
                result.kept_off.push(*group);
            }
        }
        for group in self
            .with_daemons
            .iter()
            .filter(|group| owned.binary_search(group).is_ok())
        {
            if let Some(rows) = self.met_on(*group).filter(|rows| rows.meets(open)) {
                open.keep(rows);
                result.met.push(*group);
            }
        }
        result
    }

    /// Rows on which a group keeps its pods off because of a daemon that comes with the node; `None` for a rule that keeps none off.
    fn kept_off(&self, number: usize) -> Option<Bits> {
        let group = &self.groups[number];
        let rule = group.identity.rule;
        let keeps_off = matches!(rule, TopologyRule::AntiAffinity | TopologyRule::Inverse);
        let daemons = group.daemons.as_ref().filter(|_| keeps_off)?;
        let key = &self.keys[group.identity.key];
        if key.is_host {
            return Some(daemons.rows.clone());
        }
        let mut without_domain = daemons.rows.clone();
        key.rows
            .iter()
            .for_each(|rows| without_domain.drop_all(rows));
        let mut rows = daemons.rows.clone();
        rows.drop_all(&without_domain);
        Some(rows)
    }

    /// Rows on which a daemon that comes with the node meets an affinity; `None` where there are none, or for another rule.
    fn met_on(&self, number: usize) -> Option<&Bits> {
        let group = &self.groups[number];
        let is_affinity = group.identity.rule == TopologyRule::Affinity;
        let daemons = group.daemons.as_ref().filter(|_| is_affinity)?;
        Some(&daemons.rows)
    }
}
