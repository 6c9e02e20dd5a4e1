//! The catalogue less what was out of stock a moment ago, its types no larger than their nodes turned out to be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::action::OfferingKey;
use crate::catalog::{Catalogue, InstanceType, Learned, Offering};
use crate::labels::{self, Labels};
use crate::model::{ClaimPhase, NodeClaim};
use crate::resources::Resources;
use crate::time::{Span, Timestamp};

/// How long an offering is avoided after the cloud had none of it: three minutes, as the incumbent's AWS provider does.
pub const OUT_OF_STOCK: Span = Span::from_secs(180);

/// What can be bought, what is being avoided, and what was learned of nodes.
#[derive(Clone, Debug)]
pub struct Market {
    listed: Arc<Catalogue>,
    shown: Arc<Catalogue>,
    avoided: BTreeMap<OfferingKey, Timestamp>,
    learned: Learned,
}

impl Market {
    /// A market with everything on the list.
    pub fn new(listed: Arc<Catalogue>) -> Self {
        Self {
            shown: Arc::clone(&listed),
            listed,
            avoided: BTreeMap::new(),
            learned: Learned::default(),
        }
    }

    /// Another list, with new prices or types. What is avoided stays avoided, and what was learned is kept.
    pub fn relist(&mut self, listed: Arc<Catalogue>) {
        self.listed = listed;
        self.show();
    }

    /// The catalogue as decisions see it: what is avoided is not available, and types have what was learned of them.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.shown
    }

    /// Avoids offerings from now on for [`OUT_OF_STOCK`].
    pub fn avoid(&mut self, offerings: impl IntoIterator<Item = OfferingKey>, now: Timestamp) {
        for offering in offerings {
            self.avoided.insert(offering, now + OUT_OF_STOCK);
        }
        self.show();
    }

    /// Whether an offering is avoided.
    pub fn is_avoided(&self, offering: &OfferingKey) -> bool {
        self.avoided.contains_key(offering)
    }

    /// Lets those be seen again whose time is over; whether there were any.
    pub fn forgive(&mut self, now: Timestamp) -> bool {
        let before = self.avoided.len();
        self.avoided.retain(|_, until| *until > now);
        let changed = self.avoided.len() != before;
        if changed {
            self.show();
        }
        changed
    }

    /// When the next offering may be seen again.
    pub fn next_change(&self) -> Option<Timestamp> {
        self.avoided.values().min().copied()
    }

    /// A node with these labels has this much for pods; whether its type is shown smaller for it.
    pub fn learn(&mut self, labels: &Labels, allocatable: &Resources) -> bool {
        let name = labels.get(labels::INSTANCE_TYPE);
        let Some(listed) = name.and_then(|name| self.listed.get(name)) else {
            return false;
        };
        let offering = listed.offering_of(labels);
        let news = self.learned.note(listed, offering, allocatable);
        if news {
            self.show();
        }
        news
    }

    /// Lowers what claims say of machines whose nodes have not come up to what was learned of their types.
    pub fn temper(&self, claims: &mut [Arc<NodeClaim>]) {
        for claim in claims {
            let on_its_way = claim.provider_id.is_some() && claim.phase < ClaimPhase::Initialized;
            let name = claim.labels.get(labels::INSTANCE_TYPE);
            let least = name.and_then(|name| self.learned.of(name));
            let Some(least) = least.filter(|_| on_its_way) else {
                continue;
            };
            for (name, amount) in least.iter() {
                if claim.allocatable.get(name) > amount {
                    let shown = Arc::make_mut(claim);
                    shown.allocatable.set(name.clone(), amount);
                }
            }
        }
    }

    fn show(&mut self) {
        let avoided = self.avoided.keys().map(|key| key.instance_type.as_str());
        let avoided: BTreeSet<&str> = avoided.collect();
        let mut revisions = BTreeMap::new();
        for (at, listed) in self.listed.types().iter().enumerate() {
            let is_avoided = avoided.contains(listed.name.as_str());
            if !is_avoided && self.learned.of(listed.name.as_str()).is_none() {
                continue;
            }
            let mut shown = InstanceType::clone(listed);
            self.learned.apply(&mut shown);
            for offering in &mut shown.offerings {
                let key = key_of(listed, offering);
                offering.available &= !self.avoided.contains_key(&key);
            }
            revisions.insert(at, shown);
        }
        self.shown = if revisions.is_empty() {
            Arc::clone(&self.listed)
        } else {
            Arc::new(self.listed.revised(revisions))
        };
    }
}

fn key_of(instance_type: &InstanceType, offering: &Offering) -> OfferingKey {
    OfferingKey {
        instance_type: instance_type.name.clone(),
        zone: Arc::clone(&offering.zone),
        capacity_type: offering.capacity_type,
        reservation: offering
            .reservation
            .as_ref()
            .map(|reservation| reservation.id.clone()),
    }
}
