//! Offerings of each pool, which are those of its class once NodeOverlays are applied, read from the contract one by one.
//!
//! An overlay counts when it asks for nothing that is forbidden and no other of its weight, with a later name and itself
//! counting, speaks of one of its prices or capacities anywhere. What holds is then a matter of each price and each resource:
//! the heaviest overlay that counts and speaks of it. Sections 10 and 11 of the scheduling contract.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::{LabelKey, NODEPOOL};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_model::catalogue::InstanceType;
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{NodeClaim, NodeOverlay, NodePool};

use super::host::Sold;

/// Resources that every provider reports itself.
const STANDARD: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pods"];

/// Types as each pool sells them; pools that are not listed sell what the catalogue of their class says.
#[derive(Debug)]
pub(super) struct Listings<'a> {
    snapshot: &'a Snapshot,
    by_pool: BTreeMap<PoolName, Vec<Arc<InstanceType>>>,
}

impl<'a> Listings<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let mut by_pool = BTreeMap::new();
        if snapshot.settings.node_overlays && !snapshot.overlays.is_empty() {
            let counting = counting(snapshot);
            for pool in &snapshot.pools {
                let listed = snapshot.catalogues.of(&pool.class).types().iter();
                let own = listed.map(|sold| corrected(snapshot, &counting, pool, sold));
                by_pool.insert(pool.name.clone(), own.collect());
            }
        }
        Self { snapshot, by_pool }
    }

    /// Facts about who sells them.
    pub(super) fn provider(&self) -> &'a Arc<ProviderFacts> {
        self.snapshot.catalogues.provider()
    }

    /// Instance types as the class of a pool sells them, sorted by name.
    fn listed(&self, pool: &PoolName) -> &'a [Arc<InstanceType>] {
        let catalogues = &self.snapshot.catalogues;
        let pool = self.snapshot.pool(pool.as_str());
        let own = pool.map(|pool| catalogues.of(&pool.class));
        own.unwrap_or_else(|| catalogues.of_others()).types()
    }

    /// Instance types as a pool sells them, sorted by name.
    pub(super) fn of(&self, pool: &PoolName) -> &[Arc<InstanceType>] {
        let own = self.by_pool.get(pool);
        own.map_or_else(|| self.listed(pool), Vec::as_slice)
    }

    /// Instance types that a claim in flight is bought from: its pool's, or where the pool has another class by now those of
    /// the claim's own.
    pub(super) fn of_claim(&self, claim: &NodeClaim) -> &[Arc<InstanceType>] {
        let own = self.snapshot.catalogues.of(&claim.class).types();
        if std::ptr::eq(self.listed(&claim.pool), own) {
            self.of(&claim.pool)
        } else {
            own
        }
    }

    /// A type as a pool sells it.
    pub(super) fn find(&self, pool: &PoolName, name: &str) -> Option<&Arc<InstanceType>> {
        self.of(pool).iter().find(|sold| sold.name.as_str() == name)
    }

    /// `true` if overlays give a type, as a pool sells it, another price or another capacity than its class.
    pub(super) fn changes(&self, pool: &PoolName, name: &str) -> (bool, bool) {
        let mut listed = self.listed(pool).iter();
        let listed = listed.find(|sold| sold.name.as_str() == name);
        let Some((listed, own)) = listed.zip(self.find(pool, name)) else {
            return (false, false);
        };
        let mut offerings = listed.offerings.iter().zip(&own.offerings);
        let price = offerings.any(|(listed, own)| listed.price != own.price);
        (price, listed.capacity != own.capacity)
    }
}

/// The overlays that hold somewhere, later names first.
fn counting(snapshot: &Snapshot) -> Vec<&NodeOverlay> {
    let mut result: Vec<&NodeOverlay> = Vec::new();
    for overlay in snapshot.overlays.iter().rev() {
        let equals = result.iter().filter(|other| other.weight == overlay.weight);
        let quarrels = equals
            .into_iter()
            .any(|other| quarrel(snapshot, other, overlay));
        if !is_forbidden(snapshot, overlay) && !quarrels {
            result.push(overlay);
        }
    }
    result
}

fn is_forbidden(snapshot: &Snapshot, overlay: &NodeOverlay) -> bool {
    let provider = snapshot.catalogues.provider();
    let mut keys = overlay.requirements.iter().map(Requirement::key);
    let mut names = overlay.capacity.iter().map(|(name, _)| name);
    keys.any(|key| {
        !provider.of_classes.contains(key) && snapshot.catalogues.restriction(key).is_some()
    }) || names.any(|name| STANDARD.contains(&name.as_str()) || provider.reported.contains(name))
}

/// `true` if two overlays speak of the same price, or of the same resource of one type.
fn quarrel(snapshot: &Snapshot, one: &NodeOverlay, other: &NodeOverlay) -> bool {
    let shares_price = one.price.is_some() && other.price.is_some();
    let mut names = one.capacity.iter().map(|(name, _)| name);
    let shares_resource = names.any(|name| other.capacity.contains(name));
    if !shares_price && !shares_resource {
        return false;
    }
    snapshot.pools.iter().any(|pool| {
        let mut types = snapshot.catalogues.of(&pool.class).types().iter();
        types.any(|sold| {
            let here = |overlay| spoken_of(snapshot, overlay, pool, sold);
            let (one, other) = (here(one), here(other));
            let same_price = one.iter().any(|at| other.contains(at));
            let same_type = !one.is_empty() && !other.is_empty();
            (shares_price && same_price) || (shares_resource && same_type)
        })
    })
}

/// Positions of the offerings of a type that an overlay speaks of in a pool.
fn spoken_of(
    snapshot: &Snapshot,
    overlay: &NodeOverlay,
    pool: &NodePool,
    sold: &Arc<InstanceType>,
) -> Vec<usize> {
    let mut of_pool = Requirements::from_labels(&pool.labels);
    let own = [
        (NODEPOOL.to_owned(), pool.name.as_str()),
        (pool.class.label_key(), pool.class.name.as_ref()),
    ];
    for (key, value) in own {
        of_pool.add(Requirement::one_of(LabelKey::from(key), [value]));
    }
    let meets = |at: &usize| {
        let instance_type = Arc::clone(sold);
        let way = Sold {
            provider: Arc::clone(snapshot.catalogues.provider()),
            instance_type,
            at: *at,
        };
        overlay.requirements.iter().all(|asked| {
            let key = asked.key().as_str();
            let mut have: Requirements = way.value(key).into_iter().collect();
            have.add_all(&of_pool.get(key).cloned().into_iter().collect());
            let asked: Requirements = std::iter::once(asked.clone()).collect();
            have.accepts(&asked, plimsoll_base::requirement::Undefined::Refused)
                .is_ok()
        })
    };
    (0..sold.offerings.len()).filter(meets).collect()
}

/// A type as a pool sells it.
fn corrected(
    snapshot: &Snapshot,
    counting: &[&NodeOverlay],
    pool: &NodePool,
    listed: &Arc<InstanceType>,
) -> Arc<InstanceType> {
    let speaking: Vec<(&NodeOverlay, Vec<usize>)> = counting
        .iter()
        .map(|overlay| (*overlay, spoken_of(snapshot, overlay, pool, listed)))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    if speaking.is_empty() {
        return Arc::clone(listed);
    }
    let mut own = InstanceType::clone(listed);
    for (at, offering) in own.offerings.iter_mut().enumerate() {
        let of_price = speaking
            .iter()
            .filter(|(overlay, places)| overlay.price.is_some() && places.contains(&at));
        let heaviest = of_price.max_by_key(|(overlay, _)| overlay.weight);
        if let Some(change) = heaviest.and_then(|(overlay, _)| overlay.price) {
            offering.price = change.apply(offering.price);
        }
    }
    let mut light_first: Vec<&NodeOverlay> = speaking.iter().map(|(overlay, _)| *overlay).collect();
    light_first.sort_by_key(|overlay| overlay.weight);
    for overlay in light_first {
        for (name, amount) in overlay.capacity.iter() {
            own.capacity.set(name.clone(), amount);
        }
    }
    Arc::new(own)
}
