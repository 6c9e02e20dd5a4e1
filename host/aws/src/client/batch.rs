//! Calls that are made together: the first caller waits a moment for others, and one call answers them all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot::{Receiver, Sender, channel};

/// The first waits so long for others: Karpenter's time.
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

    /// Those who have waited longest, up to so many, for one call; `true` beside them if others still wait for the next. If not, the
    /// next caller is the first of others.
    pub(super) fn take(&self, most: usize) -> (Vec<Asking<K, A>>, bool) {
        let mut waiting = self.waiting();
        let count = waiting.len().min(most);
        let taken = waiting.drain(..count).collect();
        (taken, !waiting.is_empty())
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
        let take = || {
            let (taken, are_more) = batch.take(2);
            let keys: Vec<u32> = taken.into_iter().map(|(key, _)| key).collect();
            (keys, are_more)
        };
        assert_eq!(take(), (vec![0, 1], true));
        // Who makes the first call goes on with those who wait.
        assert!(!batch.join(5).1);
        assert_eq!(take(), (vec![2, 3], true));
        assert_eq!(take(), (vec![4, 5], false));
        assert!(batch.join(7).1);
        assert_eq!(take(), (vec![7], false));
    }
}
