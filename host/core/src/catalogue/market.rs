//! The catalogue less what was out of stock a moment ago, with what failed within the last hour, its types no larger than their
//! nodes turned out to be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Catalogue, InstanceType, Learned, Offering, OfferingKey};
use crate::labels::{self, Labels};
use crate::model::{ClaimPhase, NodeClaim};
use crate::resources::Resources;
use crate::time::{Span, Timestamp};

/// How long an offering is avoided after the cloud had none of it: three minutes, as the incumbent's AWS provider does.
pub const OUT_OF_STOCK: Span = Span::from_secs(180);

/// How long a failed launch counts for a ranking policy.
const REMEMBERED: Span = Span::from_secs(3600);

/// The catalogue, offerings that are avoided after failed launches, and sizes learned from nodes.
#[derive(Clone, Debug)]
pub struct Market {
    listed: Arc<Catalogue>,
    shown: Arc<Catalogue>,
    avoided: BTreeMap<OfferingKey, Timestamp>,
    /// When launches failed, oldest first.
    failed: BTreeMap<OfferingKey, Vec<Timestamp>>,
    /// When the first of either ends.
    next_change: Option<Timestamp>,
    learned: Learned,
}

impl Market {
    /// A market with everything on the list.
    pub fn new(listed: Arc<Catalogue>) -> Self {
        Self {
            shown: Arc::clone(&listed),
            listed,
            avoided: BTreeMap::new(),
            failed: BTreeMap::new(),
            next_change: None,
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
            self.failed.entry(offering.clone()).or_default().push(now);
            self.avoided.insert(offering, now + OUT_OF_STOCK);
        }
        self.next_change = self.first_end();
        self.show();
    }

    /// `true` if an offering is avoided.
    pub fn is_avoided(&self, offering: &OfferingKey) -> bool {
        self.avoided.contains_key(offering)
    }

    /// Lets those be seen again whose time is over, and forgets failures; whether there were any.
    pub fn forgive(&mut self, now: Timestamp) -> bool {
        if self.next_change.is_none_or(|at| at > now) {
            return false;
        }
        self.avoided.retain(|_, until| *until > now);
        self.failed.retain(|_, times| {
            times.retain(|at| *at + REMEMBERED > now);
            !times.is_empty()
        });
        self.next_change = self.first_end();
        self.show();
        true
    }

    /// When the next offering may be seen again, or the next failure is forgotten; `None` when there is neither.
    pub fn next_change(&self) -> Option<Timestamp> {
        self.next_change
    }

    fn first_end(&self) -> Option<Timestamp> {
        let first = self.failed.values().filter_map(|times| times.first());
        let forgotten = first.map(|at| *at + REMEMBERED);
        self.avoided.values().copied().chain(forgotten).min()
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
        // What is avoided has failed within the hour.
        let failed = self.failed.keys().map(|key| key.instance_type.as_str());
        let failed: BTreeSet<&str> = failed.collect();
        let mut revisions = BTreeMap::new();
        for (at, listed) in self.listed.types().iter().enumerate() {
            let has_failed = failed.contains(listed.name.as_str());
            if !has_failed && self.learned.of(listed.name.as_str()).is_none() {
                continue;
            }
            let mut shown = InstanceType::clone(listed);
            self.learned.apply(&mut shown);
            for offering in &mut shown.offerings {
                let key = key_of(listed, offering);
                offering.available &= !self.avoided.contains_key(&key);
                let failures = self.failed.get(&key).map_or(0, Vec::len);
                let failures = u32::try_from(failures).unwrap_or(u32::MAX);
                offering.failures_1h = offering.failures_1h.saturating_add(failures);
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
        reservation: offering.reservation_id(),
    }
}
