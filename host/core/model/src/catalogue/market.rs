//! The catalogues less what was out of stock a moment ago, with what failed within the last hour and how often spot was taken back, its types no larger than their
//! nodes turned out to be, its reservations as they are after the launches and endings since they were counted.
//!
//! An offering is out of stock in the cloud, and a reservation drawn on there: both hold for every class of nodes. What nodes
//! have depends on their class, too ([`Learned`]).
//!
//! A launch whose answer was lost while a new list came draws on its reservation twice until the next list: too few of the
//! reservation are left for that time, never too many.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, ReservationId};
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::time::{Span, Timestamp};

use super::interruptions::Interruptions;
use super::{Catalogue, Catalogues, InstanceType, Learned, NodeResources, Offering, OfferingKey};
use crate::ClassRef;

/// How long an offering is avoided after the cloud had none of it: three minutes, as in Karpenter.
pub const OUT_OF_STOCK: Span = Span::from_secs(180);

/// How long a failed launch counts for a ranking policy.
const REMEMBERED: Span = Span::from_secs(3600);

/// The catalogues, offerings that are avoided after failed launches, and sizes learned from nodes.
#[derive(Clone, Debug)]
pub struct Market {
    listed: Arc<Catalogues>,
    shown: Arc<Catalogues>,
    avoided: BTreeMap<OfferingKey, Timestamp>,
    /// When launches failed, oldest first.
    failed: BTreeMap<OfferingKey, Vec<Timestamp>>,
    /// How often the cloud takes spot back.
    interruptions: Interruptions,
    /// When the first of either ends, or how often is counted anew.
    next_change: Option<Timestamp>,
    learned: Learned,
    /// Launched claims that draw on a reservation.
    drawn: BTreeMap<ClaimName, ReservationId>,
    /// Those of them that the counts of the list carry.
    counted: BTreeMap<ClaimName, ReservationId>,
}

impl Market {
    /// A market with everything on the list.
    pub fn new(listed: Arc<Catalogues>) -> Self {
        Self {
            shown: Arc::clone(&listed),
            listed,
            avoided: BTreeMap::new(),
            failed: BTreeMap::new(),
            interruptions: Interruptions::default(),
            next_change: None,
            learned: Learned::default(),
            drawn: BTreeMap::new(),
            counted: BTreeMap::new(),
        }
    }

    /// Another list, with new prices, types or counts. What is avoided stays avoided, and what was learned is kept. Its
    /// reservations count every instance that is there now: those known of, and those of `launched`, whose claims do not say so
    /// yet.
    pub fn relist(
        &mut self,
        listed: Arc<Catalogues>,
        launched: impl IntoIterator<Item = (ClaimName, ReservationId)>,
    ) {
        self.listed = listed;
        self.counted = self.drawn.clone();
        self.counted.extend(launched);
        self.show();
    }

    /// The list's reservations count every launched claim that is known of.
    pub fn counts_all(&mut self) {
        if self.counted != self.drawn {
            self.counted = self.drawn.clone();
            self.show();
        }
    }

    /// A claim was launched and has these labels; whether a reservation has less left for it.
    pub fn draws(&mut self, claim: &ClaimName, labels: &Labels) -> bool {
        let Some(id) = self.listed.provider().reservation_of(labels) else {
            return false;
        };
        let news = self.drawn.get(claim) != Some(&id);
        if news {
            self.drawn.insert(claim.clone(), id);
            self.show();
        }
        news
    }

    /// The list's counts carry the instance of a claim, which has these labels.
    pub fn carries(&mut self, claim: &ClaimName, labels: &Labels) {
        if let Some(id) = self.listed.provider().reservation_of(labels) {
            self.counted.insert(claim.clone(), id);
            self.show();
        }
    }

    /// The instance of a claim is no more, or the claim is; whether a reservation has more left for it.
    pub fn gives_back(&mut self, claim: &ClaimName) -> bool {
        let news = self.drawn.remove(claim).is_some();
        if news {
            self.show();
        }
        news
    }

    /// By how much reservations have less left than the list says.
    fn drawn_since(&self) -> BTreeMap<&ReservationId, i64> {
        let mut result: BTreeMap<&ReservationId, i64> = BTreeMap::new();
        for id in self.drawn.values() {
            *result.entry(id).or_default() += 1;
        }
        for id in self.counted.values() {
            *result.entry(id).or_default() -= 1;
        }
        result.retain(|_, more| *more != 0);
        result
    }

    /// The catalogues as decisions see them: what is avoided is not available, and types have what was learned of them.
    pub fn catalogues(&self) -> &Arc<Catalogues> {
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

    /// Avoids an offering from now on for [`OUT_OF_STOCK`] of which the cloud took something back: no launch of it has failed. It counts
    /// among the offering's interruptions.
    pub fn hold_back(&mut self, offering: OfferingKey, now: Timestamp) {
        self.interruptions.reclaimed(&offering, now);
        self.avoided.insert(offering, now + OUT_OF_STOCK);
        self.next_change = self.first_end();
        self.show();
    }

    /// A node of a claim runs, and is of a spot offering: it counts among those of which some are taken back.
    pub fn begins(&mut self, claim: &ClaimName, offering: OfferingKey, now: Timestamp) {
        self.interruptions.begins(claim, offering, now);
    }

    /// The node of a claim is no more.
    pub fn ends(&mut self, claim: &ClaimName, now: Timestamp) {
        self.interruptions.ends(claim, now);
    }

    /// `true` if an offering is avoided.
    pub fn is_avoided(&self, offering: &OfferingKey) -> bool {
        self.avoided.contains_key(offering)
    }

    /// Lets those be seen again whose time is over, forgets failures, and counts interruptions anew; whether there were any.
    pub fn expire_unavailable(&mut self, now: Timestamp) -> bool {
        if self.next_change.is_none_or(|at| at > now) {
            return false;
        }
        self.avoided.retain(|_, until| *until > now);
        self.failed.retain(|_, times| {
            times.retain(|at| *at + REMEMBERED > now);
            !times.is_empty()
        });
        self.interruptions.recount(now);
        self.next_change = self.first_end();
        self.show();
        true
    }

    /// When the next offering may be seen again, the next failure is forgotten, or interruptions are counted anew; `None` when there is
    /// neither.
    pub fn next_change(&self) -> Option<Timestamp> {
        self.next_change
    }

    fn first_end(&self) -> Option<Timestamp> {
        let first = self.failed.values().filter_map(|times| times.first());
        let forgotten = first.map(|at| *at + REMEMBERED);
        let counted = self.interruptions.next_change();
        let ends = self.avoided.values().copied();
        ends.chain(forgotten).chain(counted).min()
    }

    /// A node of a class with these labels has this much; whether what is shown of its type is another for it.
    pub fn learn(&mut self, class: &ClassRef, labels: &Labels, seen: &NodeResources) -> bool {
        let name = labels.get(labels::INSTANCE_TYPE);
        let Some(listed) = name.and_then(|name| self.listed.of(class).get(name)) else {
            return false;
        };
        let offering = listed.offering_of(self.listed.provider(), labels);
        let lesson = self.learned.note(class, listed, offering, seen);
        let has_others = self.listed.distinct().len() > 1;
        let news = lesson.of_class || (has_others && lesson.of_type);
        if news {
            self.show();
        }
        news
    }

    fn show(&mut self) {
        let marked = self.failed.keys().chain(self.avoided.keys());
        let marked = marked.chain(self.interruptions.offerings());
        let marked: BTreeSet<&str> = marked.map(|key| key.instance_type.as_str()).collect();
        let drawn = self.drawn_since();
        let shown = self.listed.revised(|number, catalogue| {
            let revisions = self.revisions(number, catalogue, &marked, &drawn);
            if revisions.is_empty() {
                Arc::clone(catalogue)
            } else {
                Arc::new(catalogue.revised(revisions))
            }
        });
        let same = |(shown, listed): (&Arc<Catalogue>, &Arc<Catalogue>)| Arc::ptr_eq(shown, listed);
        let mut pairs = shown.distinct().iter().zip(self.listed.distinct());
        self.shown = if pairs.all(same) {
            Arc::clone(&self.listed)
        } else {
            Arc::new(shown)
        };
    }

    /// Types of a listed catalogue that are shown otherwise, by position. `marked` are those with an offering that has failed, is avoided or
    /// was taken back.
    fn revisions(
        &self,
        number: usize,
        catalogue: &Catalogue,
        marked: &BTreeSet<&str>,
        drawn: &BTreeMap<&ReservationId, i64>,
    ) -> BTreeMap<usize, InstanceType> {
        let is_meant = |class: &ClassRef| self.listed.number_of(class) == number;
        let learned = self.learned.of_classes(is_meant);
        let has_changed = |listed: &InstanceType| {
            let mut offerings = listed.offerings.iter();
            !drawn.is_empty() && offerings.any(|offering| drawn_on(offering, drawn).is_some())
        };
        let mut revisions = BTreeMap::new();
        for (at, listed) in catalogue.types().iter().enumerate() {
            let is_marked = marked.contains(listed.name.as_str());
            if !is_marked && !learned.speak_of(&listed.name) && !has_changed(listed) {
                continue;
            }
            let mut shown = InstanceType::clone(listed);
            learned.apply(&mut shown);
            for offering in &mut shown.offerings {
                let key = OfferingKey::of(listed, offering);
                offering.available &= !self.avoided.contains_key(&key);
                if offering.interruptions_per_day <= 0.0
                    && let Some(seen) = self.interruptions.seen(&key)
                {
                    offering.interruptions_per_day = seen;
                }
                let failures = self.failed.get(&key).map_or(0, Vec::len);
                let failures = u32::try_from(failures).unwrap_or(u32::MAX);
                offering.failures_1h = offering.failures_1h.saturating_add(failures);
                if let Some((more, own)) =
                    drawn_on(offering, drawn).zip(offering.reservation.as_mut())
                {
                    let left = i64::from(own.remaining).saturating_sub(more).max(0);
                    own.remaining = u32::try_from(left).unwrap_or(u32::MAX);
                }
            }
            revisions.insert(at, shown);
        }
        revisions
    }
}

/// By how much the reservation behind an offering has less left than the list says.
fn drawn_on(offering: &Offering, drawn: &BTreeMap<&ReservationId, i64>) -> Option<i64> {
    drawn.get(&offering.reservation.as_ref()?.id).copied()
}
