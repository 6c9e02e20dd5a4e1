//! Capacity of the nodes of each pool, kept claim by claim: what happens to one claim costs the same however many there are.
//!
//! Counted are the claims that Karpenter counts: with an instance, and neither deleting nor about to be. Each counts for what its
//! node has once that is complete, and for what the claim itself says before.

use std::collections::BTreeMap;

use plimsoll_base::ids::{ClaimName, PoolName, ProviderId};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::{ClaimPhase, NodeClaim};

use super::Cluster;
use crate::NameIndex;

/// Resources that are told of every pool, of one without nodes, too.
const TOLD: [ResourceName; 5] = [
    ResourceName::Cpu,
    ResourceName::Memory,
    ResourceName::Pods,
    ResourceName::EphemeralStorage,
    ResourceName::Nodes,
];

/// Resources that each claim counts for, and their sums by pool.
#[derive(Clone, Debug, Default)]
pub(super) struct PoolCapacities {
    by_claim: NameIndex<ClaimName, (PoolName, Resources)>,
    by_pool: BTreeMap<PoolName, Resources>,
}

impl PoolCapacities {
    /// From now on a claim counts for this.
    fn set(&mut self, claim: &ClaimName, counts: Option<(PoolName, Resources)>) {
        let before = match &counts {
            Some(own) => self.by_claim.insert(claim.clone(), own.clone()),
            None => self.by_claim.remove(claim),
        };
        if before == counts {
            return;
        }
        if let Some((pool, own)) = counts {
            self.by_pool.entry(pool).or_default().add(&own);
        }
        if let Some((pool, own)) = before {
            self.take(&pool, &own);
        }
    }

    fn take(&mut self, pool: &PoolName, own: &Resources) {
        let Some(sum) = self.by_pool.get_mut(pool) else {
            return;
        };
        let left = sum.minus(own);
        let left = left.iter().filter(|(_, amount)| *amount != 0);
        *sum = left.map(|(name, amount)| (name.clone(), amount)).collect();
        if sum.is_empty() {
            self.by_pool.remove(pool);
        }
    }
}

impl Cluster {
    /// Resources of a pool's nodes together, their number among them. Of a resource that none has nothing is said, but for those
    /// that are told of every pool.
    pub fn capacity(&self, pool: &PoolName) -> Resources {
        let mut sum: Resources = TOLD.into_iter().map(|name| (name, 0)).collect();
        if let Some(own) = self.capacities.by_pool.get(pool) {
            sum.add(own);
        }
        sum
    }

    /// Follows what the claims of an instance count for: a node of it came, changed or went.
    pub(super) fn count_capacity_of(&mut self, instance: Option<&ProviderId>) {
        let claims = instance.map_or(&[][..], |id| self.instances.claims_of(id));
        let names: Vec<ClaimName> = claims.iter().map(|claim| claim.name.clone()).collect();
        for name in names {
            self.count_capacity(&name);
        }
    }

    /// Follows what a claim counts for: it came, changed, went or was set apart.
    pub(super) fn count_capacity(&mut self, name: &ClaimName) {
        let counts = self.claims.get(name).and_then(|claim| {
            let capacity = self.counted_capacity(claim)?;
            let own = capacity.clone().with(ResourceName::Nodes, 1);
            Some((claim.pool.clone(), own))
        });
        self.capacities.set(name, counts);
    }

    fn counted_capacity<'c>(&'c self, claim: &'c NodeClaim) -> Option<&'c Resources> {
        let stays = claim.deleting.is_none() && !self.marked.contains_key(&claim.name);
        if !stays || claim.provider_id.is_none() {
            return None;
        }
        let is_complete = claim.phase() == ClaimPhase::Initialized;
        let node = self.nodes_of(claim).first().filter(|_| is_complete);
        Some(node.map_or(&claim.capacity, |node| &node.capacity))
    }
}
