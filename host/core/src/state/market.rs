//! The catalogue less what was out of stock a moment ago.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::action::OfferingKey;
use crate::catalog::{Catalogue, InstanceType, Offering};
use crate::time::{Span, Timestamp};

/// How long an offering is avoided after the cloud had none of it: three minutes, as the incumbent's AWS provider does.
pub const OUT_OF_STOCK: Span = Span::from_secs(180);

/// What can be bought, and what is being avoided.
#[derive(Clone, Debug)]
pub struct Market {
    listed: Arc<Catalogue>,
    shown: Arc<Catalogue>,
    avoided: BTreeMap<OfferingKey, Timestamp>,
}

impl Market {
    /// A market with everything on the list.
    pub fn new(listed: Arc<Catalogue>) -> Self {
        Self {
            shown: Arc::clone(&listed),
            listed,
            avoided: BTreeMap::new(),
        }
    }

    /// Another list, with new prices or types. What is avoided stays avoided.
    pub fn relist(&mut self, listed: Arc<Catalogue>) {
        self.listed = listed;
        self.show();
    }

    /// The catalogue as decisions see it: what is avoided is not available.
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

    fn show(&mut self) {
        if self.avoided.is_empty() {
            self.shown = Arc::clone(&self.listed);
            return;
        }
        let names: BTreeSet<&str> = self
            .avoided
            .keys()
            .map(|key| key.instance_type.as_str())
            .collect();
        let types = self.listed.types().iter().map(|listed| {
            let mut shown = InstanceType::clone(listed);
            if names.contains(listed.name.as_str()) {
                for offering in &mut shown.offerings {
                    let key = key_of(listed, offering);
                    offering.available &= !self.avoided.contains_key(&key);
                }
            }
            shown
        });
        let own_keys = self.listed.own_keys().iter().cloned();
        self.shown = Arc::new(Catalogue::new(types, own_keys));
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
