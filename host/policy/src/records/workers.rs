//! Tasks handed to threads one after the other, each to the first that is free.
//!
//! Threads hold the end of the queue that tasks come out of, and nothing else does: where all of them are gone, the sender
//! learns of it instead of waiting for room.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Does the tasks that `hand_out` sends, with so many threads, and waits for all of them. A task that panics ends its thread, and this
/// call once the others have ended.
pub(super) fn work<Task: Send, R>(
    threads: usize,
    work: &(impl Fn(Task) + Sync),
    hand_out: impl FnOnce(&SyncSender<Task>) -> R,
) -> R {
    let (sender, tasks) = sync_channel::<Task>(2 * threads);
    let tasks = Arc::new(Mutex::new(tasks));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let tasks = Arc::clone(&tasks);
            scope.spawn(move || {
                loop {
                    let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(task) = task else { break };
                    work(task);
                }
            });
        }
        drop(tasks);
        let result = hand_out(&sender);
        // Threads end when there is nothing more to come.
        drop(sender);
        result
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn every_task_is_done_once() {
        let sum = AtomicU64::new(0);
        let add = |number: u64| {
            sum.fetch_add(number, Ordering::Relaxed);
        };
        let sent = work(3, &add, |sender| {
            (1..=100).all(|number| sender.send(number).is_ok())
        });
        assert!(sent);
        assert_eq!(sum.into_inner(), 5_050);
    }

    #[test]
    fn whoever_hands_out_does_not_wait_for_threads_that_are_gone() {
        let refused = AtomicU64::new(0);
        let hand_out = |sender: &SyncSender<u64>| {
            while sender.send(1).is_ok() {}
            refused.fetch_add(1, Ordering::Relaxed);
        };
        let worked = AssertUnwindSafe(|| work(2, &|_| panic!("no task for me"), hand_out));
        assert!(catch_unwind(worked).is_err());
        assert_eq!(refused.into_inner(), 1);
    }
}
