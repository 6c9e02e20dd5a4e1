//! Steps of nodes that are left without a claim: those that something touched, and those whose time has come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::NodeName;
use plimsoll_base::time::Timestamp;
use plimsoll_lifecycle::{Instance, OrphanView, step_orphan};
use plimsoll_model::action::Action;

use super::Engine;

/// Memory of nodes without a claim between events. All of it can be asked for again.
#[derive(Clone, Debug, Default)]
pub(super) struct Orphans {
    /// Nodes to be looked at now.
    pub(super) due: BTreeSet<NodeName>,
    /// When to look at a node again whether or not anything changes.
    again: BTreeMap<NodeName, Timestamp>,
    /// The cloud's last word about a node's instance.
    said: BTreeMap<NodeName, Instance>,
}

impl Orphans {
    /// Takes note of what the cloud said of a node's instance.
    pub(super) fn note(&mut self, node: &NodeName, said: Instance) {
        self.said.insert(node.clone(), said);
    }

    /// The node is no more, or has a claim.
    pub(super) fn forget(&mut self, node: &NodeName) {
        self.again.remove(node);
        self.said.remove(node);
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.again.values().min().copied()
    }

    fn take_due(&mut self, now: Timestamp) -> BTreeSet<NodeName> {
        let mut due = std::mem::take(&mut self.due);
        let over = self.again.iter().filter(|(_, at)| **at <= now);
        due.extend(over.map(|(node, _)| node.clone()));
        for node in &due {
            self.again.remove(node);
        }
        due
    }
}

impl Engine {
    pub(super) fn step_orphans(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        for name in self.orphans.take_due(now) {
            self.step_orphan(&name, now, actions);
        }
    }

    fn step_orphan(&mut self, name: &NodeName, now: Timestamp, actions: &mut Vec<Action>) {
        let seen = self.cluster.nodes.seen(name).cloned();
        let provider = Arc::clone(self.market.catalogues().provider());
        let is_orphan = self.cluster.is_orphan(name);
        let Some(seen) = seen.filter(|seen| is_orphan && provider.manages(&seen.object.labels))
        else {
            self.orphans.forget(name);
            return;
        };
        self.garbage.has_machine(now);
        if !self.freshness.knows_claims() {
            self.freshness.hold_orphan(name);
            return;
        }
        let said = self.orphans.said.get(name).copied();
        let step = step_orphan(
            &OrphanView {
                node: &seen.object,
                version: seen.version,
                pods: self.cluster.pods_on(name).map(AsRef::as_ref).collect(),
                attached: self.attached_to(Some(name)),
                instance: said.unwrap_or_default(),
            },
            now,
        );
        let mut wake = step.wake;
        for want in step.wants {
            if let Some(at) = self.order(want, now, actions) {
                wake = Some(wake.map_or(at, |have| have.min(at)));
            }
        }
        if let Some(at) = wake {
            self.orphans.again.insert(name.clone(), at);
        }
    }
}
