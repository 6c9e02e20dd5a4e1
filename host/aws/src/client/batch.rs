//! Calls that are made together: whoever asks first waits a moment for others, and one call answers them all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot::{Receiver, Sender, channel};

/// The first waits so long for others: the incumbent's time.
pub(super) const WINDOW: Duration = Duration::from_millis(100);

/// Somebody who asks about one thing, and waits for the answer.
pub(super) type Asking<K, A> = (K, Sender<A>);

/// Those who wait for the next call.
#[derive(Debug)]
pub(super) struct Batch<K, A> {
    waiting: Mutex<Vec<Asking<K, A>>>,
}

impl<K, A> Default for Batch<K, A> {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
        }
    }
}

impl<K, A> Batch<K, A> {
    fn waiting(&self) -> MutexGuard<'_, Vec<Asking<K, A>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next call; `true` beside the answer to come for the first, who sees to it that the call is made.
    pub(super) fn join(&self, key: K) -> (Receiver<A>, bool) {
        let (answer, asking) = channel();
        let mut waiting = self.waiting();
        waiting.push((key, answer));
        (asking, waiting.len() == 1)
    }

    /// All who wait, for one call each so many. Whoever comes from now on is the first of others.
    pub(super) fn take(&self, most: usize) -> Vec<Vec<Asking<K, A>>> {
        let mut left = std::mem::take(&mut *self.waiting());
        let mut calls = Vec::new();
        while left.len() > most {
            let rest = left.split_off(most);
            calls.push(std::mem::replace(&mut left, rest));
        }
        calls.push(left);
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_batch_sees_to_its_call() {
        let batch: Batch<u32, u32> = Batch::default();
        let firsts: Vec<bool> = (0..5).map(|key| batch.join(key).1).collect();
        assert_eq!(firsts, [true, false, false, false, false]);
        let keys = |calls: Vec<Vec<Asking<u32, u32>>>| {
            let keys = |call: Vec<Asking<u32, u32>>| call.into_iter().map(|(key, _)| key).collect();
            calls.into_iter().map(keys).collect::<Vec<Vec<u32>>>()
        };
        assert_eq!(keys(batch.take(2)), [vec![0, 1], vec![2, 3], vec![4]]);
        assert!(batch.join(7).1);
        assert_eq!(keys(batch.take(2)), [[7]]);
    }
}
