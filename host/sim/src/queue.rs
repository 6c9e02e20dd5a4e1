//! What will happen, in order of time; of what happens at one instant, what was entered first comes first.

use std::collections::BTreeMap;

use plimsoll_core::time::Timestamp;

/// Events by time.
#[derive(Clone, Debug)]
pub(crate) struct Queue<E> {
    events: BTreeMap<(Timestamp, u64), E>,
    entered: u64,
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
    pub(crate) fn push(&mut self, at: Timestamp, event: E) {
        self.entered += 1;
        self.events.insert((at, self.entered), event);
    }

    pub(crate) fn pop(&mut self) -> Option<(Timestamp, E)> {
        let ((at, _), event) = self.events.pop_first()?;
        Some((at, event))
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&E) -> bool) {
        self.events.retain(|_, event| keep(event));
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.events.keys().next().map(|(at, _)| *at)
    }
}
