//! Claims of a static pool, counted as its rules count them.

use plimsoll_base::ids::PoolName;
use plimsoll_base::resources::ResourceName;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{NodeClaim, NodePool};

/// The claims of one static pool. Those asked for and not launched yet count like any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Claims that stay, successors of drifted nodes among them: what `spec.replicas` is about.
    pub staying: u32,
    /// Claims that were asked to go, or will be as soon as their successor is ready. They take room of `limits.nodes` until
    /// they are gone.
    pub deleting: u32,
}

impl Standing {
    /// The claims of a pool in a snapshot.
    pub fn of(snapshot: &Snapshot, pool: &PoolName) -> Self {
        let claims = snapshot.nodes.iter().filter_map(|node| node.claim.as_ref());
        let own = claims.filter(|claim| claim.pool == *pool);
        let mut standing = Self::default();
        own.for_each(|claim| standing.count(claim, false));
        standing
    }

    /// Counts one claim; `set_apart` says that it is going to be deleted and is not yet.
    pub fn count(&mut self, claim: &NodeClaim, set_apart: bool) {
        let goes = set_apart || claim.deleting.is_some() || claim.is_instance_terminating();
        self.staying += u32::from(!goes);
        self.deleting += u32::from(goes);
    }

    /// How many claims are to be asked for.
    pub const fn missing(self, replicas: u32) -> u32 {
        replicas.saturating_sub(self.staying)
    }

    /// How many claims are to be asked to go.
    pub const fn excess(self, replicas: u32) -> u32 {
        self.staying.saturating_sub(replicas)
    }

    /// How many more claims `limits.nodes` leaves room for; the largest number where there is no such limit.
    pub fn headroom(self, pool: &NodePool) -> u32 {
        let limits = pool.limits.as_ref();
        let Some(limits) = limits.filter(|limits| limits.contains(&ResourceName::Nodes)) else {
            return u32::MAX;
        };
        let taken = i64::from(self.staying) + i64::from(self.deleting);
        let left = limits.get(&ResourceName::Nodes).saturating_sub(taken);
        u32::try_from(left.max(0)).unwrap_or(u32::MAX)
    }
}
