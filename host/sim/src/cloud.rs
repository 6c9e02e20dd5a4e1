//! The cloud: instances for money, as long as there are any, and out of reservations as long as these last.
//!
//! A claim's uid stands for at most one instance: asked again, the cloud gives the one it gave. That is what makes a
//! launch whose answer was lost safe to repeat, and it is what the real calls promise too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_core::action::{Machine, Reason};
use plimsoll_core::catalogue::{CapacityType, Catalogues, OfferingKey, Overlaid, TypeOffering};
use plimsoll_core::fixed_hash::{hash_of, short_name};
use plimsoll_core::ids::{NodeName, ProviderId, ReservationId, TypeName, Uid};
use plimsoll_core::model::NodeClaim;
use plimsoll_core::plan::LaunchOption;
use plimsoll_core::units::PricePerHour;

use crate::input::Which;
use crate::queue::Entry;

/// One instance.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) claim: Arc<NodeClaim>,
    pub(crate) offering: OfferingKey,
    pub(crate) price: PricePerHour,
    pub(crate) machine: Machine,
    pub(crate) interruptions_per_day: f32,
    pub(crate) ending: bool,
    /// When the market will announce that it wants it back.
    pub(crate) notice: Option<Entry>,
}

impl Instance {
    /// Name that its node will have: its claim's, and of a later claim of the same name another.
    pub(crate) fn node(&self) -> NodeName {
        let later = self.claim.uid.as_str().strip_prefix("claim/");
        let later = later.filter(|own| own.contains('/'));
        match later {
            Some(own) => NodeName::from(own.replace('/', "-")),
            None => NodeName::from(self.claim.name.as_str()),
        }
    }
}

/// Instances and what is left to sell.
#[derive(Clone, Debug)]
pub(crate) struct Cloud {
    pub(crate) catalogues: Arc<Catalogues>,
    /// Sizes of nodes by their classes, with the promises of the owner's overlays, pool by pool; true of every node in this world.
    promised: Overlaid,
    pub(crate) instances: BTreeMap<ProviderId, Instance>,
    by_claim: BTreeMap<Uid, ProviderId>,
    stock: BTreeMap<(TypeName, Arc<str>, CapacityType), u32>,
    /// Instances left in each reservation.
    reservations: BTreeMap<ReservationId, u32>,
}

impl Cloud {
    pub(crate) fn new(catalogues: Arc<Catalogues>, promised: Overlaid) -> Self {
        Self {
            reservations: catalogues.reservations(),
            catalogues,
            promised,
            instances: BTreeMap::new(),
            by_claim: BTreeMap::new(),
            stock: BTreeMap::new(),
        }
    }

    /// Sells the first option that is to be had; whether it is newly bought.
    pub(crate) fn launch(
        &mut self,
        claim: &Arc<NodeClaim>,
        options: &[LaunchOption],
    ) -> Result<(ProviderId, bool), Reason> {
        if let Some(id) = self.by_claim.get(&claim.uid) {
            return Ok((id.clone(), false));
        }
        for option in options {
            if let Some(id) = self.try_option(claim, option) {
                return Ok((id, true));
            }
        }
        let tried = options.iter().map(LaunchOption::offering).collect();
        Err(Reason::InsufficientCapacity(tried))
    }

    fn try_option(&mut self, claim: &Arc<NodeClaim>, option: &LaunchOption) -> Option<ProviderId> {
        let catalogues = Arc::clone(&self.catalogues);
        let key = option.offering();
        let offering = catalogues.of(&claim.class).offering(&key)?.offering;
        let stock = (
            key.instance_type.clone(),
            Arc::clone(&key.zone),
            key.capacity_type,
        );
        let reserved = match &key.reservation {
            Some(id) => Some(self.reservations.get_mut(id).filter(|left| **left > 0)?),
            None => None,
        };
        match self.stock.get_mut(&stock) {
            Some(0) => return None,
            Some(left) => *left -= 1,
            None if !offering.available => return None,
            None => {}
        }
        let promised = self.promised.of_claim(claim).offering(&key)?;
        if let Some(left) = reserved {
            *left -= 1;
        }
        let id = provider_id(claim, &offering.zone);
        let instance = Instance {
            claim: Arc::clone(claim),
            price: offering.price,
            machine: machine(claim, id.clone(), promised),
            offering: key,
            interruptions_per_day: offering.interruptions_per_day,
            ending: false,
            notice: None,
        };
        self.by_claim.insert(claim.uid.clone(), id.clone());
        self.instances.insert(id.clone(), instance);
        Some(id)
    }

    /// Takes in an instance that was there from the start.
    pub(crate) fn adopt(&mut self, id: ProviderId, instance: Instance) {
        self.by_claim.insert(instance.claim.uid.clone(), id.clone());
        self.instances.insert(id, instance);
    }

    /// The instance of a claim.
    pub(crate) fn find(&self, claim: &Uid) -> Option<&Instance> {
        self.instances.get(self.by_claim.get(claim)?)
    }

    /// The instance is no more.
    pub(crate) fn end(&mut self, id: &ProviderId) -> Option<Instance> {
        let instance = self.instances.remove(id)?;
        let key = &instance.offering;
        let stock = (
            key.instance_type.clone(),
            Arc::clone(&key.zone),
            key.capacity_type,
        );
        if let Some(left) = self.stock.get_mut(&stock) {
            *left += 1;
        }
        let reservation = key.reservation.as_ref();
        if let Some(left) = reservation.and_then(|id| self.reservations.get_mut(id)) {
            *left += 1;
        }
        Some(instance)
    }

    /// Sets how many more instances of some offerings there are.
    pub(crate) fn set_stock(&mut self, which: &Which, left: Option<u32>) {
        for (instance_type, zone) in self.matching(which) {
            let key = (instance_type, zone, which.capacity_type);
            match left {
                Some(left) => {
                    self.stock.insert(key, left);
                }
                None => {
                    self.stock.remove(&key);
                }
            }
        }
    }

    /// Catalogues as they are listed now: current prices, and nodes left of reservations.
    pub(crate) fn listed(&self) -> Arc<Catalogues> {
        if self.catalogues.reservations() == self.reservations {
            return Arc::clone(&self.catalogues);
        }
        Arc::new(self.catalogues.with_types(|shown| {
            let offerings = shown.offerings.iter_mut();
            for own in offerings.filter_map(|offering| offering.reservation.as_mut()) {
                own.remaining = self.reservations.get(&own.id).copied().unwrap_or(0);
            }
        }))
    }

    /// Types and zones of the offerings meant, whatever classes they are sold to.
    fn matching(&self, which: &Which) -> BTreeSet<(TypeName, Arc<str>)> {
        let catalogues = self.catalogues.distinct().iter();
        let types = catalogues.filter_map(|own| own.get(which.instance_type.as_str()));
        let offerings = types.flat_map(|sold| sold.offerings.iter().map(move |own| (sold, own)));
        let meant = offerings.filter(|(_, own)| which.contains(own));
        meant
            .map(|(sold, own)| (sold.name.clone(), Arc::clone(&own.zone)))
            .collect()
    }

    /// Changes a price, for instances that run as well.
    pub(crate) fn set_price(&mut self, which: &Which, price: PricePerHour) {
        self.catalogues = Arc::new(self.catalogues.with_types(|shown| {
            let is_meant = shown.name == which.instance_type;
            let offerings = shown.offerings.iter_mut();
            for own in offerings.filter(|own| is_meant && which.contains(own)) {
                own.price = price;
            }
        }));
        for instance in self.instances.values_mut() {
            let key = &instance.offering;
            let zone = which.zone.as_ref().is_none_or(|zone| *zone == key.zone);
            let terms = which.capacity_type == key.capacity_type;
            if zone && terms && key.instance_type == which.instance_type {
                instance.price = price;
            }
        }
    }
}

fn provider_id(claim: &NodeClaim, zone: &str) -> ProviderId {
    let number = short_name(hash_of(&claim.uid), 10);
    ProviderId::from(format!("sim:///{zone}/i-{number}"))
}

fn machine(claim: &NodeClaim, provider_id: ProviderId, promised: TypeOffering<'_>) -> Machine {
    let resources = promised.resources();
    Machine {
        provider_id,
        labels: promised.node_labels(&claim.labels, &claim.requirements),
        capacity: resources.capacity,
        allocatable: resources.allocatable,
    }
}
