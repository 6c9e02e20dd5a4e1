//! The launch by which a class is tried out: one instance on demand, as a pool of the class would ask for it, in every subnet of the class.
//!
//! | part | rule, which is Karpenter's |
//! |---|---|
//! | type | one that a pool of the class may buy; where none may buy any, a usual one, or else any; whose image is not for accelerators alone, if possible |
//! | tenancy | hardware of one's own where a pool of the class names it |
//! | capacity type | on demand, also of a type that is sold as spot alone: rights do not depend on it |
//!
//! Of several types it is the first by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_base::ids::PoolName;
use plimsoll_base::labels::{CAPACITY_TYPE, LabelKey, ZONE};
use plimsoll_base::requirement::{Requirement, Requirements};
use plimsoll_engine::Input;
use plimsoll_model::action::{LaunchBatch, LaunchRequest};
use plimsoll_model::catalogue::{CapacityType, InstanceType, Offering};
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::{NodeClaim, NodePool, Object};

use crate::instance::TENANCY;
use crate::launch::fleet::Override;
use crate::served::ServedClass;

/// Types of a class whose pools say nothing: Karpenter's.
const USUAL: [&str; 2] = ["m5.large", "m6g.large"];

/// Pools, by name, as far as they were seen.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    by_name: Mutex<BTreeMap<PoolName, Arc<NodePool>>>,
}

impl Pools {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PoolName, Arc<NodePool>>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows what is said of pools.
    pub(crate) fn observe(&self, input: &Input) {
        match input {
            Input::Applied(Object::Pool(pool), _) => {
                self.lock().insert(pool.name.clone(), Arc::clone(pool));
            }
            Input::Deleted(Object::Pool(pool), _) => {
                self.lock().remove(&pool.name);
            }
            _ => {}
        }
    }

    /// Requirements of the pools of a class on its nodes, by name of the pool.
    fn of(&self, class: &ServedClass) -> Vec<Requirements> {
        let class = class.reference();
        let pools = self.lock();
        let own = pools.values().filter(|pool| pool.class == class);
        own.map(|pool| asked(pool)).collect()
    }
}

/// Requirements of a pool on its nodes.
fn asked(pool: &NodePool) -> Requirements {
    let mut asked: Requirements = pool.requirements.iter().cloned().collect();
    asked.add_all(&Requirements::from_labels(&pool.labels));
    asked
}

/// The launch of a trial.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    instance_type: Arc<InstanceType>,
    /// `true` for hardware of one's own.
    is_dedicated: bool,
}

impl Trial {
    /// The trial of a class with these pools; `None` where no type has an image, or is there in a zone of its subnets.
    pub(crate) fn of(class: &ServedClass, pools: &Pools) -> Option<Self> {
        let pools = pools.of(class);
        let all = class.catalogue.types().iter();
        let all: Vec<&Arc<InstanceType>> = all
            .filter(|own| !own.offerings.is_empty() && class.image_of(own).is_some())
            .collect();
        let may_buy = |own: &&&Arc<InstanceType>| pools.iter().any(|asked| may_buy(asked, own));
        let is_usual = |own: &&&Arc<InstanceType>| USUAL.contains(&own.name.as_str());
        let of_pools: Vec<_> = all.iter().filter(may_buy).copied().collect();
        let usual: Vec<_> = all.iter().filter(is_usual).copied().collect();
        let candidates = [of_pools, usual, all];
        let candidates = candidates.into_iter().find(|own| !own.is_empty())?;
        let mut plain = candidates.iter();
        let plain = plain.find(|own| !class.boots_for_accelerators(own));
        Some(Self {
            instance_type: Arc::clone(plain.or(candidates.first())?),
            is_dedicated: pools.iter().any(names_dedicated),
        })
    }

    /// The request of a launch that is never made, with an offering in each zone that has the type.
    pub(crate) fn request(&self, class: &ServedClass) -> LaunchRequest {
        let own = &self.instance_type;
        let mut zones: Vec<&Offering> = own.offerings.iter().collect();
        zones.dedup_by(|one, other| one.zone == other.zone);
        let option = |sold: &Offering| LaunchOption {
            instance_type: own.name.clone(),
            zone: sold.zone.clone(),
            capacity_type: CapacityType::OnDemand,
            reservation: None,
            price: sold.price,
            list_price: sold.price,
        };
        let tenancy = if self.is_dedicated {
            "dedicated"
        } else {
            "default"
        };
        // A claim of no pool: it asks for nothing else.
        let claim = Arc::new(NodeClaim {
            class: class.reference(),
            requirements: Requirements::from_iter([Requirement::one_of(
                LabelKey::from(TENANCY),
                [tenancy],
            )]),
            ..NodeClaim::default()
        });
        LaunchRequest {
            batch: LaunchBatch::new([&claim.uid], 0, 0),
            claims: vec![claim],
            taken: [].into(),
            options: zones.into_iter().map(option).collect(),
        }
    }

    /// By which trials are told apart.
    pub(crate) fn key(&self) -> (&str, bool) {
        (self.instance_type.name.as_str(), self.is_dedicated)
    }
}

/// `true` if a pool that asks for this may buy a type somewhere.
fn may_buy(asked: &Requirements, own: &InstanceType) -> bool {
    let agrees = |asked: &Requirement| {
        let have = own.requirements.get(asked.key().as_str());
        have.is_none_or(|have| have.agrees_with(asked))
    };
    let allows = |key: &str, value: &str| asked.get(key).is_none_or(|asked| asked.allows(value));
    let fits = |sold: &Offering| {
        allows(ZONE, &sold.zone) && allows(CAPACITY_TYPE, sold.capacity_type.as_str())
    };
    asked.iter().all(agrees) && own.offerings.iter().any(fits)
}

/// A pool that says nothing of it gets hardware that is shared.
fn names_dedicated(asked: &Requirements) -> bool {
    asked
        .get(TENANCY)
        .is_some_and(|asked| asked.allows("dedicated"))
}

/// Ways to buy in every subnet of the class that is in the zone of one of them, in the order of its status.
pub(crate) fn in_all_subnets(ways: &[Override], class: &ServedClass) -> Vec<Override> {
    let subnets = class.status().subnets.iter();
    let (mut seen, mut all) = (BTreeSet::new(), Vec::new());
    for subnet in subnets.filter(|own| seen.insert(own.id.as_str())) {
        let of_zone = ways.iter().filter(|way| way.zone == subnet.zone);
        all.extend(of_zone.map(|way| Override {
            subnet: subnet.id.clone(),
            ..way.clone()
        }));
    }
    all
}
