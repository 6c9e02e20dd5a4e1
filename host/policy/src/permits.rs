//! Places for concurrent calls. The pool of instances fails when it is empty; this waits a moment first.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A number of places.
pub(crate) struct Permits {
    free: Mutex<usize>,
    returned: Condvar,
}

/// One place, returned when dropped.
pub(crate) struct Permit<'a> {
    permits: &'a Permits,
}

impl Permits {
    pub(crate) fn new(places: usize) -> Self {
        Self {
            free: Mutex::new(places),
            returned: Condvar::new(),
        }
    }

    /// A place, if one comes free in time.
    pub(crate) fn take(&self, wait: Duration) -> Option<Permit<'_>> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .returned
            .wait_timeout_while(free, wait, |free| *free == 0);
        let (mut free, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(Permit { permits: self })
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self
            .permits
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += 1;
        self.permits.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returned_place_can_be_taken_again() {
        let permits = Permits::new(1);
        let first = permits.take(Duration::ZERO);
        assert!(first.is_some());
        assert!(permits.take(Duration::ZERO).is_none());
        drop(first);
        assert!(permits.take(Duration::ZERO).is_some());
    }
}
