//! Future events in order of time; of those at one instant, what was entered first comes first.

use std::collections::BTreeMap;

use plimsoll_base::time::Timestamp;

/// Events by time.
#[derive(Clone, Debug)]
pub(crate) struct Queue<E> {
    events: BTreeMap<Entry, E>,
    entered: u64,
}

/// One event's place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// When it happens.
    pub(crate) at: Timestamp,
    number: u64,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self {
            events: BTreeMap::new(),
            entered: 0,
        }
    }
}

impl<E> Queue<E> {
    pub(crate) fn push(&mut self, at: Timestamp, event: E) -> Entry {
        self.entered += 1;
        let entry = Entry {
            at,
            number: self.entered,
        };
        self.events.insert(entry, event);
        entry
    }

    /// It will not happen after all.
    pub(crate) fn cancel(&mut self, entry: Entry) {
        self.events.remove(&entry);
    }

    pub(crate) fn pop(&mut self) -> Option<(Timestamp, E)> {
        let (entry, event) = self.events.pop_first()?;
        Some((entry.at, event))
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&E) -> bool) {
        self.events.retain(|_, event| keep(event));
    }

    /// The event that happens next; `None` where there is none left.
    pub(crate) fn first(&self) -> Option<&E> {
        self.events.values().next()
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.events.keys().next().map(|entry| entry.at)
    }

    /// `true` if an event of some kind will happen; asks the last ones first.
    pub(crate) fn holds(&self, kind: impl Fn(&E) -> bool) -> bool {
        self.events.values().rev().any(kind)
    }
}
