//! Places for concurrent calls, and the memory that they may have together. The pool of instances fails when it is empty; this waits a
//! moment first.
//!
//! Who comes first goes first: a call that may use much memory is not passed over for ever by those that may use little.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A number of places and of bytes.
pub(crate) struct Permits {
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// One place and its bytes, returned when dropped.
pub(crate) struct Permit<'a> {
    permits: &'a Permits,
    bytes: u64,
}

/// Bytes that are free, and the tickets that wait for them.
struct Queue {
    places: usize,
    bytes: u64,
    waiting: VecDeque<u64>,
    next: u64,
}

impl Permits {
    pub(crate) fn new(places: usize, bytes: u64) -> Self {
        Self {
            queue: Mutex::new(Queue {
                places,
                bytes,
                waiting: VecDeque::new(),
                next: 0,
            }),
            changed: Condvar::new(),
        }
    }

    /// A place for a call that may use so many bytes, if both come free in time.
    pub(crate) fn take(&self, bytes: u64, wait: Duration) -> Option<Permit<'_>> {
        let mut queue = self.queue();
        let ticket = queue.join();
        let waited = self
            .changed
            .wait_timeout_while(queue, wait, |queue| !queue.is_turn(ticket, bytes));
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_taken = queue.leave(ticket, bytes);
        self.tell(&queue);
        // Made only where there is something to give back.
        is_taken.then(|| Permit {
            permits: self,
            bytes,
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes those that wait, where there are any: what they wait for may have come.
    fn tell(&self, queue: &Queue) {
        if !queue.waiting.is_empty() {
            self.changed.notify_all();
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut queue = self.permits.queue();
        queue.places += 1;
        queue.bytes += self.bytes;
        self.permits.tell(&queue);
    }
}

impl Queue {
    /// Gets in line.
    fn join(&mut self) -> u64 {
        let ticket = self.next;
        self.next += 1;
        self.waiting.push_back(ticket);
        ticket
    }

    /// `true` if the holder of the ticket is first in line, and what it waits for is there.
    fn is_turn(&self, ticket: u64, bytes: u64) -> bool {
        self.waiting.front() == Some(&ticket) && self.places > 0 && self.bytes >= bytes
    }

    /// Leaves the line, with what it waited for where it was its turn.
    fn leave(&mut self, ticket: u64, bytes: u64) -> bool {
        let is_turn = self.is_turn(ticket, bytes);
        self.waiting.retain(|waiting| *waiting != ticket);
        if is_turn {
            self.places -= 1;
            self.bytes -= bytes;
        }
        is_turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returned_place_can_be_taken_again() {
        let permits = Permits::new(1, 10);
        let first = permits.take(1, Duration::ZERO);
        assert!(first.is_some());
        assert!(permits.take(1, Duration::ZERO).is_none());
        drop(first);
        assert!(permits.take(1, Duration::ZERO).is_some());
    }

    #[test]
    fn memory_runs_out_before_places_do_and_comes_back() {
        let permits = Permits::new(10, 5);
        let large = permits.take(4, Duration::ZERO);
        assert!(large.is_some());
        assert!(permits.take(2, Duration::ZERO).is_none());
        let small = permits.take(1, Duration::ZERO);
        assert!(small.is_some());
        drop(large);
        assert!(permits.take(4, Duration::ZERO).is_some());
    }

    #[test]
    fn a_large_call_that_came_first_is_not_passed_by_small_ones() {
        let permits = Permits::new(10, 5);
        let mut queue = permits.queue();
        let (large, small) = (queue.join(), queue.join());
        queue.bytes = 3;
        assert!(!queue.is_turn(small, 1), "there is room, but not its turn");
        assert!(!queue.leave(large, 4), "it gives up");
        assert!(queue.leave(small, 1), "now it is");
        assert_eq!((queue.places, queue.bytes), (9, 2));
    }
}
