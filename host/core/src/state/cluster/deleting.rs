//! Which claims and nodes are on their way out, whether they were asked to go or are only set apart.

use std::collections::BTreeSet;

use super::Cluster;
use crate::ids::{ClaimName, NodeName, PoolName};
use crate::model::NodeClaim;
use crate::time::Timestamp;

impl Cluster {
    /// Nodes on their way out: asked to go, or their claim is.
    pub fn going(&self) -> impl Iterator<Item = &NodeName> {
        self.going.iter()
    }

    /// From now on a claim counts as going, whether or not it has been asked to go.
    pub fn mark(&mut self, name: &ClaimName, now: Timestamp) {
        self.marked.insert(name.clone(), now);
        self.revision += 1;
        if let Some(claim) = self.claims.get(name).cloned() {
            self.changed_pools.insert(claim.pool.clone());
            self.mark_going(&claim);
        }
    }

    /// A claim counts as going no longer, unless it was asked to go.
    pub fn unmark(&mut self, name: &ClaimName) {
        if self.marked.remove(name).is_some() {
            self.revision += 1;
            if let Some(claim) = self.claims.get(name).cloned() {
                self.changed_pools.insert(claim.pool.clone());
                self.mark_going(&claim);
            }
        }
    }

    /// Since when a claim counts as going without having been asked to go.
    pub fn marked(&self, name: &ClaimName) -> Option<Timestamp> {
        self.marked.get(name).copied()
    }

    /// Follows whether a claim's nodes are going.
    pub(super) fn mark_going(&mut self, claim: &NodeClaim) {
        let names: Vec<(NodeName, bool)> = self
            .nodes_of(claim)
            .into_iter()
            .map(|node| (node.name.clone(), node.deleting.is_some()))
            .collect();
        let leaves = claim.deleting.is_some()
            || claim.instance_terminating
            || self.marked.contains_key(&claim.name);
        for (name, deleting) in names {
            if deleting || leaves {
                self.going.insert(name);
            } else {
                self.going.remove(&name);
            }
        }
    }

    /// Pools of which something changed that counts for their number of nodes, since this was last asked: the pool itself, a
    /// claim, or whether a claim counts as going.
    pub fn take_changed_pools(&mut self) -> BTreeSet<PoolName> {
        std::mem::take(&mut self.changed_pools)
    }
}
