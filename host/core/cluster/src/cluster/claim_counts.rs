//! Claims of each pool, counted claim by claim.

use plimsoll_base::ids::PoolName;
use plimsoll_model::NodeClaim;

use super::Cluster;

/// The claims of one pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimCounts {
    /// Claims that stay.
    pub staying: u32,
    /// Claims that were asked to go, whose instance is being ended, or that a command has set apart.
    pub deleting: u32,
    /// Of those that stay: claims without an instance.
    pub unlaunched: u32,
}

impl ClaimCounts {
    /// Counts one claim; `set_apart` says that it is going to be deleted and is not yet.
    fn add(&mut self, claim: &NodeClaim, set_apart: bool) {
        let one = Self::of(claim, set_apart);
        self.staying += one.staying;
        self.deleting += one.deleting;
        self.unlaunched += one.unlaunched;
    }

    /// Takes back what [`ClaimCounts::add`] counted for the same claim.
    fn take(&mut self, claim: &NodeClaim, set_apart: bool) {
        let one = Self::of(claim, set_apart);
        self.staying -= one.staying;
        self.deleting -= one.deleting;
        self.unlaunched -= one.unlaunched;
    }

    fn of(claim: &NodeClaim, set_apart: bool) -> Self {
        let goes = set_apart || claim.deleting.is_some() || claim.is_instance_terminating();
        Self {
            staying: u32::from(!goes),
            deleting: u32::from(goes),
            unlaunched: u32::from(!goes && claim.provider_id.is_none()),
        }
    }
}

impl Cluster {
    /// How many claims a pool has.
    pub fn claim_counts(&self, pool: &PoolName) -> ClaimCounts {
        self.claim_counts.get(pool).copied().unwrap_or_default()
    }

    pub(super) fn count_claim(&mut self, claim: &NodeClaim) {
        let set_apart = self.marked.contains_key(&claim.name);
        let counts = self.claim_counts.entry(claim.pool.clone()).or_default();
        counts.add(claim, set_apart);
    }

    pub(super) fn uncount_claim(&mut self, claim: &NodeClaim) {
        let set_apart = self.marked.contains_key(&claim.name);
        if let Some(counts) = self.claim_counts.get_mut(&claim.pool) {
            counts.take(claim, set_apart);
            if *counts == ClaimCounts::default() {
                self.claim_counts.remove(&claim.pool);
            }
        }
    }
}
