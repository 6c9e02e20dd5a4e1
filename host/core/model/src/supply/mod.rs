//! The ledger of what is left to buy from: reservations, limits of pools, addresses of zones, ceilings on buying.
//!
//! One value counts what nodes there are and claims in flight have taken, and is charged with what is bought next. Plans and
//! moves begin from it, what is asked for is held against it once more, static pools fill up from it.
//!
//! - A reservation's count carries every instance that claims of the snapshot were launched as
//!   ([`Reservation::remaining`](crate::catalogue::Reservation::remaining)). Claims in flight that will draw on it are taken
//!   off here: those that require it, and those that were planned as it. An instance is counted once, whichever of both it is.
//! - Limits are charged with the capacity of all nodes of a pool that stay, claims in flight with what is counted on of them.
//! - A node takes its addresses from when its claim can only be in one zone until it has registered; from then on the cloud's
//!   own count has them.
//! - Ceilings count claims in flight, claims asked for within the last minute, and dollars per hour at list price.

mod ceilings;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use ceilings::{BrokenCeiling, CeilingScope, Load, Loads};

use plimsoll_base::ids::{PoolName, ReservationId};
use plimsoll_base::labels::ZONE;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::{ResourceName, Resources};

use crate::catalogue::{Catalogues, TypeOffering};
use crate::snapshot::{Snapshot, StateNode};
use crate::{Ceilings, ClaimPhase, NodeClaim, NodePool};

/// Reservations, limits and addresses that are left, with the loads that ceilings bound.
#[derive(Clone, Debug, Default)]
pub struct Supply {
    reservations: BTreeMap<ReservationId, u32>,
    /// Of pools that have limits.
    limits: BTreeMap<PoolName, Resources>,
    /// Of zones in which the free addresses are known.
    addresses: BTreeMap<Arc<str>, i64>,
    loads: Loads,
}

/// The supply that keeps one more node from being bought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// The pool's limit on this resource.
    Limit(ResourceName),
    /// The reservation that the node would draw on.
    Reservation(ReservationId),
    /// A ceiling on buying.
    Ceiling(BrokenCeiling),
}

impl Supply {
    /// All that the nodes of a snapshot and its claims in flight leave.
    pub fn of(snapshot: &Snapshot) -> Self {
        let listed = Self::listed(&snapshot.catalogues, &snapshot.pools);
        listed.less(&snapshot.catalogues, &snapshot.nodes)
    }

    /// All that there is: nothing is bought yet beyond what counts of the catalogues carry.
    pub fn listed(catalogues: &Catalogues, pools: &[Arc<NodePool>]) -> Self {
        let limited = |pool: &Arc<NodePool>| Some((pool.name.clone(), pool.limits.clone()?));
        Self {
            reservations: catalogues.reservations(),
            limits: pools.iter().filter_map(limited).collect(),
            addresses: catalogues.free_addresses(),
            loads: Loads::default(),
        }
    }

    /// The same less what some nodes and claims in flight take.
    #[must_use]
    pub fn less<'n>(
        mut self,
        catalogues: &Catalogues,
        nodes: impl IntoIterator<Item = &'n StateNode>,
    ) -> Self {
        if self.is_unbounded() {
            return self;
        }
        for node in nodes.into_iter().filter(|node| !node.is_deleting()) {
            self.count(catalogues, node);
        }
        self
    }

    /// The same where some nodes that were counted are gone: limits of their pools have what they took of them. Claims in flight
    /// keep the reservations and addresses that they are to draw on.
    #[must_use]
    pub fn without<'n>(mut self, nodes: impl IntoIterator<Item = &'n StateNode>) -> Self {
        for node in nodes.into_iter().filter(|node| !node.is_deleting()) {
            let left = node.pool().and_then(|pool| self.limits.get_mut(&pool));
            if let Some(left) = left {
                let capacity = node.capacity();
                *left = left.map(|name, left| left.saturating_add(capacity.get(name)));
            }
        }
        self
    }

    /// True where nothing that nodes take can run out: there are neither reservations nor limits nor known addresses.
    pub fn is_unbounded(&self) -> bool {
        self.reservations.is_empty() && self.limits.is_empty() && self.addresses.is_empty()
    }

    fn count(&mut self, catalogues: &Catalogues, node: &StateNode) {
        if !self.limits.is_empty()
            && let Some(left) = node.pool().and_then(|pool| self.limits.get_mut(&pool))
        {
            *left = left.minus(&node.capacity());
        }
        let Some(claim) = &node.claim else { return };
        if !self.addresses.is_empty()
            && !node.is_registered()
            && let Some(zone) = node.certain_labels().get(ZONE)
            && let Some(left) = self.addresses.get_mut(zone)
        {
            *left = left.saturating_sub(addresses_of(&claim.requests)).max(0);
        }
        if !self.reservations.is_empty() {
            for id in drawn_on(catalogues, claim) {
                self.draw(&id);
            }
        }
    }

    /// One more instance of a reservation is taken.
    pub fn draw(&mut self, id: &ReservationId) {
        if let Some(left) = self.reservations.get_mut(id) {
            *left = left.saturating_sub(1);
        }
    }

    /// Instances left in a reservation; none in one that nothing draws on.
    pub fn reservation_left(&self, id: &ReservationId) -> u32 {
        self.reservations.get(id).copied().unwrap_or(0)
    }

    /// Instances left in every reservation.
    pub fn reservations(&self) -> &BTreeMap<ReservationId, u32> {
        &self.reservations
    }

    /// Amounts that a pool's limits leave, by limited resource, below zero where exceeded; `None` where it has none.
    pub fn limits_left(&self, pool: &PoolName) -> Option<&Resources> {
        self.limits.get(pool)
    }

    /// Addresses left for new nodes and their pods, by zone; zones of which nothing is known are not there.
    pub fn addresses_left(&self) -> &BTreeMap<Arc<str>, i64> {
        &self.addresses
    }

    /// The same where so much counts against ceilings already.
    #[must_use]
    pub fn with_loads(mut self, loads: Loads) -> Self {
        self.loads = loads;
        self
    }

    /// An error where one more node of a pool may not be bought: a reservation that it would draw on has nothing left, or it
    /// would break the pool's limits, its ceilings or those of the cluster. Addresses never keep an offering from being bought.
    pub fn allows(
        &self,
        pool: &NodePool,
        cluster: &Ceilings,
        sold: TypeOffering<'_>,
    ) -> Result<(), Exhausted> {
        if let Some(reservation) = &sold.offering.reservation
            && self.reservation_left(&reservation.id) == 0
        {
            return Err(Exhausted::Reservation(reservation.id.clone()));
        }
        if let Some(left) = self.limits.get(&pool.name) {
            let one = charge(sold);
            let short = left.iter().find(|(name, left)| one.get(name) > *left);
            if let Some((name, _)) = short {
                return Err(Exhausted::Limit(name.clone()));
            }
        }
        let broken = self.loads.broken(cluster, pool, sold.offering.price);
        broken.map_or(Ok(()), |broken| Err(Exhausted::Ceiling(broken)))
    }

    /// One more node of a pool is bought.
    pub fn buy(&mut self, pool: &PoolName, sold: TypeOffering<'_>) {
        if let Some(left) = self.limits.get_mut(pool) {
            *left = left.minus(&charge(sold));
        }
        if let Some(reservation) = &sold.offering.reservation {
            self.draw(&reservation.id);
        }
        let one = Load {
            in_flight: 1,
            within_minute: 1,
            rate: sold.offering.price,
        };
        self.loads.add(pool, one);
    }
}

/// Amounts that one node takes of its pool's limits.
fn charge(sold: TypeOffering<'_>) -> Resources {
    sold.resources().capacity.with(ResourceName::Nodes, 1)
}

/// Addresses of its zone that the node of a claim takes: one for itself and one for each pod that it is made for.
pub fn addresses_of(requests: &Resources) -> i64 {
    requests.get(&ResourceName::Pods).saturating_add(1)
}

/// The reservations that a claim in flight will draw on, or may: those that it requires by id, else that of the offering it
/// was planned as. None once it is launched, since the reservation's own count has it then.
fn drawn_on(catalogues: &Catalogues, claim: &NodeClaim) -> Vec<ReservationId> {
    if claim.provider_id.is_some() || claim.phase() > ClaimPhase::Created {
        return Vec::new();
    }
    let key = catalogues.provider().reservation_id.as_ref();
    let required = key.and_then(|key| claim.requirements.get(key.as_str()));
    if let Some(ids) = required.and_then(Requirement::listed) {
        return ids.iter().cloned().map(ReservationId::from).collect();
    }
    let planned = catalogues.of(&claim.class).planned(claim);
    let reservation = planned.and_then(|sold| sold.offering.reservation.as_ref());
    reservation.map(|own| own.id.clone()).into_iter().collect()
}
