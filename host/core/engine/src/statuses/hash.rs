//! Hash of a pool's template on the pool: written once its claims bear hashes by the same rules.

use std::sync::Arc;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::labels::Labels;
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::ObjectKey;
use plimsoll_model::{NodeClaim, NodePool, template_hash};

use super::super::Engine;

impl Engine {
    /// Hash that a claim without one of our version is to take from its pool: `None` where it bears one, the pool bears one, or the
    /// pool is gone or was not understood.
    pub(crate) fn migrated_hash(&self, claim: &NodeClaim) -> Option<Arc<str>> {
        if template_hash::is_current(&claim.annotations) {
            return None;
        }
        let pool = self.cluster.pools.get(claim.pool.as_str())?;
        if pool.unread.problem.is_some() {
            return None;
        }
        let seen = self.cluster.status(&ObjectKey::Pool(pool.name.clone()))?;
        let is_current = template_hash::is_current(&seen.status.memory);
        (!is_current).then(|| template_hash::hash(pool))
    }

    /// Annotations of its hash that a pool is to bear; none yet where a claim of it must be looked at first, or a part of it is not
    /// understood, of which the hash would be another.
    pub(super) fn pool_hash(
        &mut self,
        pool: &NodePool,
        said: &Labels,
        now: Timestamp,
    ) -> Vec<(Arc<str>, Arc<str>)> {
        if pool.unread.problem.is_some() {
            return Vec::new();
        }
        if !template_hash::is_current(said) {
            let outdated = self.outdated_claims(pool);
            for claim in &outdated {
                self.notes.set_timer(claim, now);
            }
            if !outdated.is_empty() {
                return Vec::new();
            }
        }
        template_hash::annotations(pool).into()
    }

    /// Claims of a pool that stay and bear no hash of our version.
    fn outdated_claims(&self, pool: &NodePool) -> Vec<ClaimName> {
        let claims = self.cluster.claims.unordered();
        let outdated = claims.filter(|claim| {
            let stays = claim.pool == pool.name && claim.deleting.is_none();
            stays && !template_hash::is_current(&claim.annotations)
        });
        outdated.map(|claim| claim.name.clone()).collect()
    }
}
