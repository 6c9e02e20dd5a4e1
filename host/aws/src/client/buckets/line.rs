//! A line before a bucket: those who wait for its tokens, the most urgent first, and of those in the order in which they came.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::bucket::Bucket;

/// Order of calls that wait for the same tokens, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// It ends an instance, or must be made before one can be: what is late costs money, or holds up a node that is removed.
    Terminate,
    /// It gets an instance, or must be made before one can be got: pods wait for it.
    Launch,
    /// It says how things stand, or tidies up.
    Read,
}

/// A place in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    urgency: Urgency,
    number: u64,
}

/// The state of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Its tokens are taken, and it has left the line.
    Now,
    /// It is the first, and its tokens will be there after so long.
    In(Duration),
    /// Others are before it.
    Behind,
}

/// A line and its bucket.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) bucket: Bucket,
    /// Tokens that are waited for.
    waiting: BTreeMap<Place, u32>,
    joined: u64,
}

impl Line {
    /// An empty line.
    pub(super) const fn new(bucket: Bucket) -> Self {
        Self {
            bucket,
            waiting: BTreeMap::new(),
            joined: 0,
        }
    }

    /// A new place for so many tokens, behind all that are as urgent.
    pub(super) fn join(&mut self, urgency: Urgency, tokens: u32) -> Place {
        let number = self.joined;
        self.joined += 1;
        let place = Place { urgency, number };
        self.waiting.insert(place, tokens);
        place
    }

    /// Gives up a place; one that is not in the line any more is left as it is.
    pub(super) fn leave(&mut self, place: Place) {
        self.waiting.remove(&place);
    }

    /// The place whose turn is next; `None` where the line is empty.
    pub(super) fn first(&self) -> Option<Place> {
        self.waiting.keys().next().copied()
    }

    /// Takes the tokens of a place if it is its turn.
    pub(super) fn ask(&mut self, place: Place, now: Instant) -> Turn {
        let first = self.waiting.first_key_value();
        let Some((_, tokens)) = first.filter(|(first, _)| **first == place) else {
            return Turn::Behind;
        };
        match self.bucket.take(*tokens, now) {
            Ok(()) => {
                self.leave(place);
                Turn::Now
            }
            Err(wait) => Turn::In(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bucket::Rate;
    use super::*;

    const URGENCIES: [Urgency; 3] = [Urgency::Terminate, Urgency::Launch, Urgency::Read];

    fn line(burst: u32, now: Instant) -> Line {
        let rate = Rate {
            per_second: 2,
            burst,
        };
        Line::new(Bucket::full(rate, now))
    }

    #[test]
    fn an_end_passes_those_who_wait_and_a_read_does_not() {
        let now = Instant::now();
        let mut line = line(1, now);
        let read = line.join(Urgency::Read, 1);
        assert_eq!(line.ask(read, now), Turn::Now);
        let [read, launch, end] =
            [Urgency::Read, Urgency::Launch, Urgency::Terminate].map(|own| line.join(own, 1));
        let half = Duration::from_millis(500);
        assert_eq!(line.ask(read, now + half), Turn::Behind);
        assert_eq!(line.ask(launch, now + half), Turn::Behind);
        assert_eq!(line.ask(end, now + half), Turn::Now);
        assert_eq!(line.ask(launch, now + half), Turn::In(half));
        line.leave(launch);
        assert_eq!(line.ask(read, now + half + half), Turn::Now);
        assert_eq!(line.first(), None);
    }

    proptest! {
        /// However callers come and go, tokens are given to the most urgent, and among those to the first that came.
        #[test]
        fn nobody_is_served_before_somebody_more_urgent_or_as_urgent_who_came_before(
            steps in proptest::collection::vec((0_u64..900, 0_usize..3, 1_u32..3, 0_u8..6), 1..80),
        ) {
            let mut now = Instant::now();
            let mut line = line(3, now);
            let mut waiting: Vec<(usize, Place)> = Vec::new();
            for (pause, urgency, tokens, act) in steps {
                now += Duration::from_millis(pause);
                if act == 0 && !waiting.is_empty() {
                    let (_, gone) = waiting.swap_remove(waiting.len() / 2);
                    line.leave(gone);
                }
                waiting.push((urgency, line.join(URGENCIES[urgency], tokens)));
                // Everybody asks, the last to come first.
                let mut asking = waiting.clone();
                asking.sort_unstable_by_key(|(_, place)| std::cmp::Reverse(place.number));
                for (own, place) in asking {
                    if line.ask(place, now) == Turn::Now {
                        let is_before = |(other, before): &(usize, Place)| {
                            (*other, before.number) < (own, place.number)
                        };
                        prop_assert!(!waiting.iter().any(is_before));
                        waiting.retain(|(_, other)| *other != place);
                    }
                }
            }
            // All who are left are served in the end.
            while let Some(place) = line.first() {
                if let Turn::In(wait) = line.ask(place, now) {
                    now += wait;
                }
            }
        }
    }
}
