//! Freshness of the view: while it may be older than the cluster, no node is ended for reasons that can wait.
//!
//! What waits is voluntary disruption, expiry, the surplus of static pools and nodes left without a claim: each of them takes away
//! what runs, on the word of what is seen. The last wait for claims that cannot be read, too. Everything else goes on: pods are planned
//! for, nodes join, and what was asked to go is drained. A stale view is no failure: once it is fresh again all that was held is looked
//! at, and nothing has to be found anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, PoolName};

use super::Engine;

/// Kinds whose view is stale, and what waits for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Freshness {
    stale: Vec<Arc<str>>,
    /// NodeClaims that cannot be read.
    unreadable_claims: usize,
    /// Claims that have reached their age.
    expired: BTreeSet<ClaimName>,
    /// Static pools with more nodes than they keep.
    surplus: BTreeSet<PoolName>,
    /// Nodes without a claim, as far as is known.
    orphans: BTreeSet<NodeName>,
}

impl Freshness {
    /// `true` if what is seen is what is there.
    pub(super) fn is_fresh(&self) -> bool {
        self.stale.is_empty()
    }

    /// `true` if a claim that is not seen is not there.
    pub(super) fn knows_claims(&self) -> bool {
        self.is_fresh() && self.unreadable_claims == 0
    }

    /// A node waits whose claim is not seen.
    pub(super) fn hold_orphan(&mut self, node: &NodeName) {
        self.orphans.insert(node.clone());
    }

    /// A claim that has reached its age waits.
    pub(super) fn hold_expired(&mut self, claim: &ClaimName) {
        self.expired.insert(claim.clone());
    }

    /// A static pool with more nodes than it keeps waits.
    pub(super) fn hold_surplus(&mut self, pool: &PoolName) {
        self.surplus.insert(pool.clone());
    }
}

impl Engine {
    /// So many claims cannot be read.
    pub(super) fn note_unreadable_claims(&mut self, count: usize) {
        self.freshness.unreadable_claims = count;
        self.recheck_orphans();
    }

    fn recheck_orphans(&mut self) {
        if self.freshness.knows_claims() {
            self.garbage.release();
            self.orphans.due.append(&mut self.freshness.orphans);
        }
    }

    /// The view of these kinds is stale; of none where it is fresh again.
    pub(super) fn note_stale(&mut self, stale: Vec<Arc<str>>) {
        self.freshness.stale = stale;
        self.recheck_orphans();
        if !self.freshness.is_fresh() {
            return;
        }
        self.dirty_claims.append(&mut self.freshness.expired);
        for pool in std::mem::take(&mut self.freshness.surplus) {
            self.static_pools.look_at(&pool);
        }
        self.queue.touch_ready();
    }
}
