//! Lanes: what waits for the API server does not hold up what waits for the cloud, and what empties and ends nodes goes first.

use std::collections::VecDeque;

/// Requests of one kind, so many at the same time; those that are urgent first, else in the order in which they came.
#[derive(Debug)]
pub(crate) struct Lane<T> {
    free: usize,
    urgent: VecDeque<T>,
    others: VecDeque<T>,
}

impl<T> Lane<T> {
    /// A lane that carries so many at once.
    pub(crate) fn new(at_once: usize) -> Self {
        Self {
            free: at_once,
            urgent: VecDeque::new(),
            others: VecDeque::new(),
        }
    }

    /// Takes one more.
    pub(crate) fn push(&mut self, one: T, is_urgent: bool) {
        let queue = if is_urgent {
            &mut self.urgent
        } else {
            &mut self.others
        };
        queue.push_back(one);
    }

    /// The next to begin; `None` while there is no room, or nothing waits. It takes room until [`Lane::end`].
    pub(crate) fn next(&mut self) -> Option<T> {
        if self.free == 0 {
            return None;
        }
        let next = self.urgent.pop_front().or_else(|| self.others.pop_front());
        self.free -= usize::from(next.is_some());
        next
    }

    /// One that was begun has ended.
    pub(crate) fn end(&mut self) {
        self.free += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_urgent_go_first_and_no_more_at_once_than_there_is_room_for() {
        let mut lane = Lane::new(2);
        for (one, is_urgent) in [
            ("a", false),
            ("b", false),
            ("c", true),
            ("d", false),
            ("e", true),
        ] {
            lane.push(one, is_urgent);
        }
        assert_eq!(
            [lane.next(), lane.next(), lane.next()],
            [Some("c"), Some("e"), None]
        );
        lane.end();
        assert_eq!([lane.next(), lane.next()], [Some("a"), None]);
        lane.end();
        lane.push("f", true);
        assert_eq!(lane.next(), Some("f"));
        lane.end();
        lane.end();
        assert_eq!(
            [lane.next(), lane.next(), lane.next()],
            [Some("b"), Some("d"), None]
        );
    }
}
