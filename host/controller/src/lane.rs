//! Lanes: what waits for the API server does not hold up what waits for the cloud, and within a lane the more urgent goes first.
//!
//! Background requests take a part of a lane only: a server that is short of time has it for those that are waited for.

use std::collections::VecDeque;

use plimsoll_model::action::Purpose;

/// How urgent a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// It keeps pods off a node that is removed, empties it or ends it.
    High,
    /// Pods, nodes or the cloud wait for it.
    Normal,
    /// It says where the scheduler is to bind a pod: there may be as many of them as pods, and few of all others.
    Nomination,
    /// It reports a status; nothing waits for it.
    Low,
}

impl Urgency {
    /// The urgency of an order, by its purpose.
    pub(crate) const fn of(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Taint | Purpose::Evict | Purpose::Terminate => Self::High,
            Purpose::MarkRegistered
            | Purpose::Initialize
            | Purpose::MarkInitialized
            | Purpose::Tag
            | Purpose::MarkTagged
            | Purpose::MarkWaiting
            | Purpose::MarkStatus
            | Purpose::MarkDisruption
            | Purpose::MarkHash
            | Purpose::Hydrate
            | Purpose::HydrateNode
            | Purpose::MarkPodEvent => Self::Low,
            Purpose::Nominate | Purpose::Withdraw => Self::Nomination,
            _ => Self::Normal,
        }
    }
}

/// The part of a lane that requests of low urgency may take, one in so many.
const LOW_PART: usize = 8;

/// Requests of one kind, so many at the same time; the most urgent first, and of those in the order in which they came.
#[derive(Debug)]
pub(crate) struct Lane<T> {
    free: usize,
    /// How many more of low urgency may be carried.
    free_of_low: usize,
    /// By urgency.
    queues: [VecDeque<T>; 4],
}

impl<T> Lane<T> {
    /// A lane that carries so many at once.
    pub(crate) fn new(at_once: usize) -> Self {
        Self {
            free: at_once,
            free_of_low: (at_once / LOW_PART).max(1),
            queues: Default::default(),
        }
    }

    /// Takes one more.
    pub(crate) fn push(&mut self, one: T, urgency: Urgency) {
        self.queues[urgency as usize].push_back(one);
    }

    /// Those that wait for their turn.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &T> {
        self.queues.iter().flatten()
    }

    /// The next to begin; `None` while there is no room, or nothing waits. It takes room until [`Lane::end`].
    pub(crate) fn next(&mut self) -> Option<T> {
        if self.free == 0 {
            return None;
        }
        let [first @ .., low] = &mut self.queues;
        let mut next = first.iter_mut().find_map(VecDeque::pop_front);
        if next.is_none() && self.free_of_low > 0 {
            next = low.pop_front();
            self.free_of_low -= usize::from(next.is_some());
        }
        self.free -= usize::from(next.is_some());
        next
    }

    /// One that was begun, of an urgency, has ended.
    pub(crate) fn end(&mut self, urgency: Urgency) {
        self.free += 1;
        self.free_of_low += usize::from(urgency == Urgency::Low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_urgent_go_first_and_no_more_at_once_than_there_is_room_for() {
        use Urgency::{High, Low, Nomination, Normal};

        let mut lane = Lane::new(2);
        for (one, purpose) in [
            ("b", Purpose::MarkPodEvent),
            ("n", Purpose::Nominate),
            ("a", Purpose::Create),
            ("c", Purpose::Evict),
            ("d", Purpose::MarkInitialized),
            ("e", Purpose::Terminate),
        ] {
            lane.push(one, Urgency::of(purpose));
        }
        assert_eq!(
            [lane.next(), lane.next(), lane.next()],
            [Some("c"), Some("e"), None]
        );
        lane.end(High);
        assert_eq!([lane.next(), lane.next()], [Some("a"), None]);
        lane.end(High);
        lane.push("f", High);
        assert_eq!(lane.next(), Some("f"));
        lane.end(Normal);
        lane.end(High);
        assert_eq!([lane.next(), lane.next()], [Some("n"), Some("b")]);
        lane.end(Nomination);
        // One of two at most is of low urgency.
        assert_eq!(lane.next(), None);
        lane.push("g", Normal);
        assert_eq!([lane.next(), lane.next()], [Some("g"), None]);
        lane.end(Low);
        assert_eq!([lane.next(), lane.next()], [Some("d"), None]);
    }
}
