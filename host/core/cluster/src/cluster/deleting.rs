//! Claims and nodes that are deleting, whether they were asked to go or are only set apart.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, PoolName};
use plimsoll_base::time::Timestamp;
use plimsoll_model::{NodeClaim, Pod};

use super::{BoundPod, Cluster};
use crate::GroupId;

impl Cluster {
    /// Nodes that are deleting: asked to go, or their claim is.
    pub fn deleting(&self) -> impl Iterator<Item = &NodeName> {
        self.deleting.iter()
    }

    /// `true` if a node is deleting: it was asked to go, its claim was, or its claim is set apart.
    pub fn is_deleting(&self, node: &NodeName) -> bool {
        self.deleting.contains(node)
    }

    /// From now on a claim counts as deleting, whether or not it has been asked to go.
    pub fn mark(&mut self, name: &ClaimName, now: Timestamp) {
        self.set_mark(name, Some(now));
    }

    /// A claim counts as deleting no longer, unless it was asked to go.
    pub fn unmark(&mut self, name: &ClaimName) {
        if self.marked.contains_key(name) {
            self.set_mark(name, None);
        }
    }

    fn set_mark(&mut self, name: &ClaimName, since: Option<Timestamp>) {
        let claim = self.claims.get(name).cloned();
        if let Some(claim) = &claim {
            self.uncount_claim(claim);
        }
        match since {
            Some(now) => self.marked.insert(name.clone(), now),
            None => self.marked.remove(name),
        };
        self.revision += 1;
        if let Some(claim) = &claim {
            self.count_claim(claim);
            self.note_claim(claim);
            self.count_capacity(name);
            self.changed_pools.insert(claim.pool.clone());
            self.follow_deleting(claim);
        }
    }

    /// Since when a claim counts as deleting without having been asked to go.
    pub fn marked(&self, name: &ClaimName) -> Option<Timestamp> {
        self.marked.get(name).copied()
    }

    /// Follows whether the nodes of a claim, as it is or was, are deleting.
    pub(super) fn follow_deleting(&mut self, claim: &NodeClaim) {
        let nodes = self.nodes_of(claim).iter();
        let names: Vec<NodeName> = nodes.map(|node| node.name.clone()).collect();
        for name in names {
            self.follow_node(&name);
        }
    }

    /// Follows whether a node is deleting: it is asked to go, or its claim is, ends, or is set apart.
    pub(super) fn follow_node(&mut self, name: &NodeName) {
        let is_asked = (self.nodes.get(name)).is_some_and(|node| node.deleting.is_some());
        let leaves = |claim: &Arc<NodeClaim>| {
            claim.deleting.is_some()
                || claim.is_instance_terminating()
                || self.marked.contains_key(&claim.name)
        };
        if is_asked || self.claim_on(name).is_some_and(leaves) {
            self.set_deleting(name);
        } else {
            self.unset_deleting(name);
        }
    }

    /// From now on a node counts as deleting, and its pods as displaced.
    fn set_deleting(&mut self, node: &NodeName) {
        if self.deleting.insert(node.clone()) {
            for BoundPod { group, pod } in self.bound_to(node) {
                self.displace(group, node, &pod);
            }
        }
    }

    /// A node counts as deleting no longer, or is no more.
    pub(super) fn unset_deleting(&mut self, node: &NodeName) {
        if self.deleting.remove(node) {
            for BoundPod { group, pod } in self.bound_to(node) {
                self.undisplace(group, node, &pod.name);
            }
        }
    }

    fn bound_to(&self, node: &NodeName) -> Vec<BoundPod> {
        let pods = self.pods_by_node.get(node);
        pods.map(|pods| pods.values().cloned().collect())
            .unwrap_or_default()
    }

    /// A pod is bound to a node that is deleting.
    pub(super) fn displace(&mut self, group: GroupId, node: &NodeName, pod: &Arc<Pod>) {
        let pods = self.displaced.entry(group).or_default();
        pods.insert((node.clone(), pod.name.clone()), Arc::clone(pod));
    }

    /// A pod, or its node, is no more, or the node stays.
    pub(super) fn undisplace(&mut self, group: GroupId, node: &NodeName, pod: &ObjectName) {
        if let Some(pods) = self.displaced.get_mut(&group) {
            pods.remove(&(node.clone(), pod.clone()));
            if pods.is_empty() {
                self.displaced.remove(&group);
            }
        }
    }

    /// Pools of which something changed that counts for their number of nodes, since this was last asked: the pool itself, a
    /// claim, or whether a claim counts as deleting.
    pub fn take_changed_pools(&mut self) -> BTreeSet<PoolName> {
        std::mem::take(&mut self.changed_pools)
    }
}
