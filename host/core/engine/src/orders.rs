//! Orders under way, and what is held back after a failure.
//!
//! Of one object and purpose at most one order is under way. Attempts only grow, so that an outcome that arrives twice
//! cannot be taken for that of a later attempt. Back-off lives here, in the core, so that every world has the same.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::Uid;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_lifecycle::Want;
use plimsoll_model::action::{ActionId, ObjectKey, Order, Purpose, Request};

/// An order without an outcome after this long counts as unknown.
const OVERDUE: Span = Span::from_secs(120);
/// After success the same is not asked again for this long: the watch needs a moment.
const SETTLED: Span = Span::from_secs(1);
/// How often an instance that is deleting, or whose claim is, is asked about.
const ENDING: Span = Span::from_secs(5);
/// After a conflict the change that outran us needs a moment to be seen; after conflicts in a row up to the longest.
const OUTRUN: (i64, i64) = (20, 1000);
/// The longest that a server may put an order off.
const LONGEST_THROTTLE: Span = Span::from_secs(300);

/// An object, told by uid from others of its name, and what is to be done about it.
pub(super) type OrderKey = (ObjectKey, Option<Uid>, Purpose);

/// Orders under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    flights: BTreeMap<ActionId, Flight>,
    busy: BTreeMap<OrderKey, ActionId>,
    /// The same orders, the longest under way first.
    by_age: BTreeSet<(Timestamp, ActionId)>,
}

/// One order under way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) object: ObjectKey,
    pub(super) uid: Option<Uid>,
    pub(super) purpose: Purpose,
    pub(super) request: Request,
    since: Timestamp,
}

impl Orders {
    pub(super) fn is_busy(&self, object: &ObjectKey, uid: Option<&Uid>, purpose: Purpose) -> bool {
        self.busy
            .contains_key(&(object.clone(), uid.cloned(), purpose))
    }

    pub(super) fn begin(&mut self, want: Want, attempt: u32, now: Timestamp) -> Order {
        let id = ActionId::of(&want.object, want.uid.as_ref(), want.purpose, attempt);
        let key = (want.object.clone(), want.uid.clone(), want.purpose);
        self.busy.insert(key, id);
        let flight = Flight {
            object: want.object.clone(),
            uid: want.uid.clone(),
            purpose: want.purpose,
            request: want.request.clone(),
            since: now,
        };
        self.flights.insert(id, flight);
        self.by_age.insert((now, id));
        Order {
            id,
            object: want.object,
            uid: want.uid,
            purpose: want.purpose,
            attempt,
            version: want.version,
            request: want.request,
        }
    }

    /// Ends an order; `None` when it is not under way.
    pub(super) fn end(&mut self, id: ActionId) -> Option<Flight> {
        let flight = self.flights.remove(&id)?;
        self.busy.remove(&flight.key());
        self.by_age.remove(&(flight.since, id));
        Some(flight)
    }

    /// Orders that should have ended by now, by id.
    pub(super) fn overdue(&self, now: Timestamp) -> Vec<ActionId> {
        let oldest = self.by_age.iter();
        let late = oldest.take_while(|(since, _)| now >= *since + OVERDUE);
        let mut ids: Vec<ActionId> = late.map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids
    }

    pub(super) fn next_overdue(&self) -> Option<Timestamp> {
        let (since, _) = self.by_age.first()?;
        Some(*since + OVERDUE)
    }
}

impl Flight {
    pub(super) fn key(&self) -> OrderKey {
        (self.object.clone(), self.uid.clone(), self.purpose)
    }
}

/// How an order ended, as far as the next attempt is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    /// The instance is deleting: ask again.
    Ending,
    /// The object has changed since: looked at again as soon as the change has been seen.
    Outrun,
    /// Too many requests; not again before this long, where that is said.
    Throttled(Option<Span>),
    Badly,
}

/// Orders that are held back, with the number of their failures.
#[derive(Clone, Debug, Default)]
pub(super) struct Retry {
    slots: BTreeMap<OrderKey, Trouble>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Trouble {
    attempt: u32,
    failures: u32,
    conflicts: u32,
    not_before: Timestamp,
}

impl Retry {
    /// The number of the next attempt, or the time before which there is none.
    pub(super) fn may_begin(&self, want: &Want, now: Timestamp) -> Result<u32, Timestamp> {
        let key = (want.object.clone(), want.uid.clone(), want.purpose);
        match self.slots.get(&key) {
            Some(trouble) if now < trouble.not_before => Err(trouble.not_before),
            Some(trouble) => Ok(trouble.attempt),
            None => Ok(0),
        }
    }

    /// The time before which there is no attempt at something; `None` where it was not tried.
    pub(super) fn not_before(
        &self,
        object: &ObjectKey,
        uid: Option<&Uid>,
        purpose: Purpose,
    ) -> Option<Timestamp> {
        let slot = self.slots.get(&(object.clone(), uid.cloned(), purpose));
        slot.map(|trouble| trouble.not_before)
    }

    /// Takes note of an ended order; the time from which the next attempt may begin.
    pub(super) fn note(&mut self, key: OrderKey, ended: Ended, now: Timestamp) -> Timestamp {
        let purpose = key.2;
        let trouble = self.slots.entry(key).or_default();
        trouble.attempt += 1;
        let wait = match ended {
            Ended::Well | Ended::Ending => {
                (trouble.failures, trouble.conflicts) = (0, 0);
                if ended == Ended::Well {
                    SETTLED
                } else {
                    ENDING
                }
            }
            Ended::Outrun => {
                trouble.conflicts += 1;
                doubled(OUTRUN, trouble.conflicts)
            }
            Ended::Throttled(after) => {
                trouble.failures += 1;
                let own = backoff(purpose, trouble.failures);
                own.max(after.unwrap_or_default().min(LONGEST_THROTTLE))
            }
            Ended::Badly => {
                trouble.failures += 1;
                backoff(purpose, trouble.failures)
            }
        };
        trouble.not_before = now + wait;
        trouble.not_before
    }

    /// The object is no more.
    pub(super) fn forget(&mut self, object: &ObjectKey) {
        let slots: Vec<OrderKey> = self
            .slots
            .range((object.clone(), None, Purpose::Create)..)
            .take_while(|((have, ..), _)| have == object)
            .map(|(slot, _)| slot.clone())
            .collect();
        for slot in slots {
            self.slots.remove(&slot);
        }
    }
}

/// Doubling waits: evictions from 100 ms to 10 s as the eviction queue's, nominations from 1 s to 10 s, all else to 60 s.
fn backoff(purpose: Purpose, failures: u32) -> Span {
    let bounds = match purpose {
        Purpose::Evict => (100, 10_000),
        Purpose::Nominate | Purpose::Withdraw => (1000, 10_000),
        Purpose::Launch | Purpose::Create => (1000, 60_000),
        _ => (500, 60_000),
    };
    doubled(bounds, failures)
}

/// The wait after so many failures in a row, from the first, in milliseconds, up to the longest.
fn doubled((first, longest): (i64, i64), failures: u32) -> Span {
    let doublings = failures.saturating_sub(1).min(16);
    Span::from_millis((first << doublings).min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let waits: Vec<i64> = (1..=8)
            .map(|failures| backoff(Purpose::Evict, failures).millis())
            .collect();
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000]);
    }
}
