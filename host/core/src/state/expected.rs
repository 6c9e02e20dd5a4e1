//! Claims that we asked for and have not seen, and what the claims without an instance will at least bring.
//!
//! A claim counts as capacity from the moment it is asked for. Until its instance is known it counts with the least that
//! the types it names would give, so that no pod is promised room that may not come.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::Cluster;
use crate::catalogue::Catalogue;
use crate::ids::{ClaimName, PoolName};
use crate::labels::{self, LabelKey};
use crate::model::NodeClaim;
use crate::requirement::Undefined;
use crate::resources::Resources;

/// What is on its way.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    asked: BTreeMap<ClaimName, Arc<NodeClaim>>,
    floors: BTreeMap<ClaimName, (Resources, Resources)>,
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

    /// A claim is no more, or has its instance.
    pub fn forget(&mut self, name: &ClaimName) {
        self.asked.remove(name);
        self.floors.remove(name);
    }

    /// Types have turned out smaller: what claims will at least bring is looked up anew.
    pub fn forget_floors(&mut self) {
        self.floors.clear();
    }

    /// The claims asked for and not seen, by name.
    pub fn asked(&self) -> impl Iterator<Item = &Arc<NodeClaim>> {
        self.asked.values()
    }

    /// A claim asked for and not seen.
    pub fn get(&self, name: &ClaimName) -> Option<&Arc<NodeClaim>> {
        self.asked.get(name)
    }

    /// All claims as a decision should see them: those asked for among them, those without an instance with their
    /// floor, and those that a command is moving as going.
    pub fn overlay(&mut self, cluster: &Cluster, catalogue: &Catalogue) -> Vec<Arc<NodeClaim>> {
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
            if claim.provider_id.is_none() && claim.allocatable.is_empty() {
                let floor = self
                    .floors
                    .entry(claim.name.clone())
                    .or_insert_with(|| least_of(claim, catalogue));
                let mut shown = NodeClaim::clone(claim);
                shown.capacity = floor.0.clone();
                shown.allocatable = floor.1.clone();
                *claim = Arc::new(shown);
            }
        }
        claims
    }

    /// What a pool's claims take of its limits: capacity of every claim that is not going.
    pub fn usage(
        &mut self,
        pool: &PoolName,
        cluster: &Cluster,
        catalogue: &Catalogue,
    ) -> Resources {
        let mut sum = Resources::new();
        for claim in self.overlay(cluster, catalogue) {
            if claim.pool == *pool && claim.deleting.is_none() && !claim.instance_terminating {
                sum.add(&claim.capacity);
                let one = Resources::new().with(crate::resources::ResourceName::Nodes, 1);
                sum.add(&one);
            }
        }
        sum
    }
}

/// Capacity and allocatable that every named type has at least, over its offerings that the claim allows.
fn least_of(claim: &NodeClaim, catalogue: &Catalogue) -> (Resources, Resources) {
    let mut least: Option<(Resources, Resources)> = None;
    let well_known = |key: &LabelKey| catalogue.is_well_known(key);
    let named = claim
        .requirements
        .get(labels::INSTANCE_TYPE)
        .and_then(|requirement| requirement.listed());
    let types = catalogue
        .types()
        .iter()
        .filter(|listed| named.is_none_or(|named| named.contains(listed.name.as_str())));
    for instance_type in types {
        for offering in &instance_type.offerings {
            let nodes = offering.node_requirements();
            if claim
                .requirements
                .accepts(&nodes, Undefined::Allowed(&well_known))
                .is_err()
            {
                continue;
            }
            let allocatable = instance_type.allocatable(offering);
            least = Some(match least {
                Some((capacity, floor)) => (
                    capacity.smaller(&instance_type.capacity),
                    floor.smaller(&allocatable),
                ),
                None => (instance_type.capacity.clone(), allocatable),
            });
        }
    }
    least.unwrap_or_default()
}
