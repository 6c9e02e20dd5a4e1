//! Room for calls at the same time: places and memory, apart for modules that decide and for shadows.
//!
//! The pool of instances has a place for every permit of both, so that the holder of one finds an instance.

use std::time::Duration;

use crate::limits::{Limits, SHADOW_SHARE};
use crate::permits::Permits;

/// Places of one kind of calls.
pub(crate) struct Room {
    pub(crate) permits: Permits,
    /// How many there are.
    pub(crate) calls: usize,
    /// Bytes that all calls at the same time may have together.
    pub(crate) memory: u64,
    /// How long a call waits for its turn.
    pub(crate) wait: Duration,
}

impl Room {
    /// That of modules that decide.
    pub(crate) fn of_deciders(limits: &Limits, calls: usize, memory: u64) -> Self {
        Self::new(calls, memory, limits.wait)
    }

    /// That of shadows, beside `calls` and `memory` of those that decide: any single call that is possible there is possible here. No
    /// decision waits for a shadow, so it may wait as long as a call may take.
    pub(crate) fn of_shadows(limits: &Limits, calls: usize, memory: u64) -> Self {
        let largest = memory.min(limits.memory_ceiling as u64);
        let memory = (memory / u64::from(SHADOW_SHARE)).max(largest);
        let calls = (calls / SHADOW_SHARE as usize).max(1);
        Self::new(calls, memory, limits.wall)
    }

    fn new(calls: usize, memory: u64, wait: Duration) -> Self {
        Self {
            permits: Permits::new(calls, memory),
            calls,
            memory,
            wait,
        }
    }

    /// Why a call that may use so many bytes was not begun.
    pub(crate) fn saturated(&self, memory: usize) -> String {
        format!(
            "no room for a policy call of {} MiB came free within {} ms; all calls have {} MiB together, and at most {} run at a time",
            memory >> 20,
            self.wait.as_millis(),
            self.memory >> 20,
            self.calls
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadows_have_half_the_room_and_always_enough_for_one_call() {
        let limits = Limits::default();
        let room = |calls, memory| {
            let room = Room::of_shadows(&limits, calls, memory);
            (room.calls, room.memory)
        };
        assert_eq!(room(8, 1 << 30), (4, 1 << 29));
        assert_eq!(room(1, 32 << 20), (1, 32 << 20));
        assert_eq!(room(3, 200 << 20), (1, 128 << 20));
    }
}
