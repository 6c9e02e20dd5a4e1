//! Freshness of the view: while it may be older than the cluster, no node is ended for reasons that can wait.
//!
//! What waits is voluntary disruption, expiry and the surplus of static pools: each of them takes away what runs, on the word
//! of what is seen. Everything else goes on: pods are planned for, nodes join, and what was asked to go is drained. A stale view is
//! no failure: once it is fresh again all that was held is looked at, and nothing has to be found anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Engine;
use crate::ids::{ClaimName, PoolName};

/// Kinds whose view is stale, and what waits for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Freshness {
    stale: Vec<Arc<str>>,
    /// Claims that have reached their age.
    expired: BTreeSet<ClaimName>,
    /// Static pools with more nodes than they keep.
    surplus: BTreeSet<PoolName>,
}

impl Freshness {
    /// `true` if what is seen is what is there.
    pub(super) fn is_fresh(&self) -> bool {
        self.stale.is_empty()
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
    /// The view of these kinds is stale; of none where it is fresh again.
    pub(super) fn note_stale(&mut self, stale: Vec<Arc<str>>) {
        self.freshness.stale = stale;
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
