//! Claims that we asked for and have not seen.
//!
//! A claim counts as capacity from the moment it is asked for, by what is to be counted on of it
//! ([`plimsoll_model::catalogue::ExpectedResources`]), so that no pod is promised room that may not come.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::ClaimName;
use plimsoll_model::NodeClaim;

use super::cluster::Cluster;

/// Claims that were asked for and have not been seen yet.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    asked: BTreeMap<ClaimName, Arc<NodeClaim>>,
}

impl Expected {
    /// A claim was asked for.
    pub fn ask(&mut self, claim: Arc<NodeClaim>) {
        self.asked.insert(claim.name.clone(), claim);
    }

    /// A claim was seen, or will not come.
    pub fn settle(&mut self, name: &ClaimName) -> Option<Arc<NodeClaim>> {
        self.asked.remove(name)
    }

    /// The claims asked for and not seen, by name.
    pub fn asked(&self) -> impl Iterator<Item = &Arc<NodeClaim>> {
        self.asked.values()
    }

    /// A claim asked for and not seen.
    pub fn get(&self, name: &ClaimName) -> Option<&Arc<NodeClaim>> {
        self.asked.get(name)
    }

    /// All claims as a decision should see them: those asked for among them, and those that a command is moving as deleting.
    pub fn overlay(&self, cluster: &Cluster) -> Vec<Arc<NodeClaim>> {
        let mut claims = cluster.claims.objects();
        let unseen = self
            .asked
            .values()
            .filter(|claim| cluster.claims.get(&claim.name).is_none());
        claims.extend(unseen.cloned());
        for claim in &mut claims {
            if let Some(since) = cluster.marked(&claim.name)
                && claim.deleting.is_none()
            {
                Arc::make_mut(claim).deleting = Some(since);
            }
        }
        claims
    }
}
