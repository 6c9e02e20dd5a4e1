//! The cloud: instances for money, as long as there are any, and out of reservations as long as these last.
//!
//! A token stands for one launch: asked again with it, the cloud gives what it gave. That is what makes a launch whose answer was
//! lost safe to repeat, and it is what the real calls promise too. It knows nothing of claims but what it was told at the launch:
//! a second launch for a claim, under another token, gives a second instance.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::fixed_hash::{hash_of, short_name};
use plimsoll_base::ids::{LaunchToken, NodeName, ProviderId, ReservationId, TypeName, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::NodeClaim;
use plimsoll_model::action::{
    ClaimLaunch, LaunchAnswer, LaunchRequest, LaunchedInstance, ListedInstance, Reason,
};
use plimsoll_model::catalogue::{CapacityType, Catalogues, OfferingKey, Overlaid, TypeOffering};
use plimsoll_model::plan::LaunchOption;

use crate::input::Which;
use crate::queue::Entry;

/// One instance.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) claim: Arc<NodeClaim>,
    pub(crate) offering: OfferingKey,
    pub(crate) price: PricePerHour,
    pub(crate) machine: LaunchedInstance,
    pub(crate) interruptions_per_day: f32,
    /// Since when it ends.
    pub(crate) ending: Option<Timestamp>,
    /// The launch that gave it.
    pub(crate) token: Option<LaunchToken>,
    /// Name that its node will have.
    pub(crate) node: NodeName,
    /// When the market will announce that it wants it back.
    pub(crate) notice: Option<Entry>,
}

/// Name of the node of a claim's instance: the claim's, and of a later claim of the same name another.
pub(crate) fn node_of(claim: &NodeClaim) -> NodeName {
    let later = claim.uid.as_str().strip_prefix("claim/");
    let later = later.filter(|own| own.contains('/'));
    match later {
        Some(own) => NodeName::from(own.replace('/', "-")),
        None => NodeName::from(claim.name.as_str()),
    }
}

/// Instances and what is left to sell.
#[derive(Clone, Debug)]
pub(crate) struct Cloud {
    pub(crate) catalogues: Arc<Catalogues>,
    /// Sizes of nodes by their classes, with the promises of the owner's overlays, pool by pool; true of every node in this world.
    promised: Overlaid,
    pub(crate) instances: BTreeMap<ProviderId, Instance>,
    /// What each launch has given.
    launches: BTreeMap<LaunchToken, BTreeSet<ProviderId>>,
    /// Claims that an instance was sold for.
    served: BTreeSet<Uid>,
    /// Instances sold for a claim that had been sold one before.
    pub(crate) double_launches: u32,
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
            launches: BTreeMap::new(),
            served: BTreeSet::new(),
            double_launches: 0,
            stock: BTreeMap::new(),
        }
    }

    /// Sells an instance for each claim, by the first option that is to be had, unless it did under that token before. Instances newly
    /// sold come second.
    pub(crate) fn launch(
        &mut self,
        request: &LaunchRequest,
        now: Timestamp,
    ) -> (LaunchAnswer, Vec<ProviderId>) {
        let token = &request.batch.token;
        let mut sold = Vec::new();
        if !self.launches.contains_key(token) {
            for claim in &request.claims {
                let mut options = request.options.iter();
                let one = options.find_map(|option| self.try_option(claim, token, option, now));
                let is_second = one.is_some() && !self.served.insert(claim.uid.clone());
                self.double_launches += u32::from(is_second);
                sold.extend(one);
            }
            let given = sold.iter().cloned().collect();
            self.launches.insert(token.clone(), given);
        }
        let tried = request.options.iter().map(LaunchOption::offering);
        let refused = Reason::out_of_stock(tried.collect());
        (self.deal(request, &ClaimLaunch::Refused(refused)), sold)
    }

    /// Every instance that is not gone.
    pub(crate) fn list(&self) -> Vec<ListedInstance> {
        let instances = self.instances.iter();
        let listed = instances.map(|(id, instance)| ListedInstance {
            instance: id.clone(),
            token: instance.token.clone(),
            ending: instance.ending,
            drift: None,
        });
        listed.collect()
    }

    /// Instances that a launch has given, without giving more.
    pub(crate) fn find(&mut self, request: &LaunchRequest) -> LaunchAnswer {
        self.deal(request, &ClaimLaunch::Absent)
    }

    /// Deals the instances of a launch to its claims: to each the one that it was sold for, then those that no claim has. The others
    /// get what `lacking` says.
    fn deal(&mut self, request: &LaunchRequest, lacking: &ClaimLaunch) -> LaunchAnswer {
        let given = self.launches.get(&request.batch.token);
        let given = given.into_iter().flatten();
        let mut free: BTreeSet<ProviderId> = given
            .filter(|id| self.instances.contains_key(*id) && !request.taken.contains(*id))
            .cloned()
            .collect();
        let own = |claim: &NodeClaim, free: &mut BTreeSet<ProviderId>| {
            let mut ids = free.iter();
            let is_own = |id: &&ProviderId| {
                let instance = self.instances.get(*id);
                instance.is_some_and(|instance| instance.claim.uid == claim.uid)
            };
            let id = ids.find(is_own).cloned();
            id.and_then(|id| free.take(&id))
        };
        let claims = request.claims.iter();
        let mut dealt: Vec<Option<ProviderId>> =
            claims.map(|claim| own(claim, &mut free)).collect();
        let mut answer = LaunchAnswer::default();
        for (claim, id) in request.claims.iter().zip(&mut dealt) {
            let id = id.take().or_else(|| free.pop_first());
            let instance = id.and_then(|id| self.instances.get_mut(&id));
            answer.claims.push(match instance {
                Some(instance) => {
                    instance.claim = Arc::clone(claim);
                    ClaimLaunch::Instance(Box::new(instance.machine.clone()))
                }
                None => lacking.clone(),
            });
        }
        answer
    }

    fn try_option(
        &mut self,
        claim: &Arc<NodeClaim>,
        token: &LaunchToken,
        option: &LaunchOption,
        now: Timestamp,
    ) -> Option<ProviderId> {
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
        let id = provider_id(claim, token, &offering.zone);
        let mut node = node_of(claim);
        if self.instances.values().any(|other| other.node == node) {
            node = NodeName::from(format!("{node}-{}", short_name(hash_of(&id), 5)));
        }
        let instance = Instance {
            claim: Arc::clone(claim),
            price: offering.price,
            machine: machine(claim, id.clone(), promised, now),
            token: Some(token.clone()),
            node,
            offering: key,
            interruptions_per_day: offering.interruptions_per_day,
            ending: None,
            notice: None,
        };
        self.instances.insert(id.clone(), instance);
        Some(id)
    }

    /// Takes in an instance that was there from the start.
    pub(crate) fn adopt(&mut self, id: ProviderId, instance: Instance) {
        self.instances.insert(id, instance);
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

fn provider_id(claim: &NodeClaim, token: &LaunchToken, zone: &str) -> ProviderId {
    let number = short_name(hash_of(&(&claim.uid, token)), 10);
    ProviderId::from(format!("sim:///{zone}/i-{number}"))
}

fn machine(
    claim: &NodeClaim,
    provider_id: ProviderId,
    promised: TypeOffering<'_>,
    now: Timestamp,
) -> LaunchedInstance {
    let resources = promised.resources();
    LaunchedInstance {
        provider_id,
        labels: promised.node_labels(&claim.labels, &claim.requirements),
        annotations: Labels::new(),
        capacity: resources.capacity,
        allocatable: resources.allocatable,
        image: None,
        launched: Some(now),
    }
}
