//! A thread for work in the background: tasks go to it over a queue that has room for a few.
//!
//! Tasks are done one after the other, in the order in which they were handed over, so that what they come to is the same whatever else
//! runs. Where the queue is full a task is skipped, or its sender waits for room, as was settled at the beginning. A caller that
//! needs the results settles first. A queue that is dropped finishes the task at hand, leaves the others undone
//! and waits for its thread; a task that panics ends the thread, and later ones are skipped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Treatment of a task for which the queue has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBehind {
    /// It is not done: for live decisions, which do not wait.
    PassOver,
    /// Its sender waits until there is room: for simulations and tests, which report all.
    Wait,
}

/// The thread, and the way to it.
pub(super) struct TaskQueue<Task> {
    /// Taken away when the queue goes.
    queue: Option<SyncSender<Job<Task>>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
    room: usize,
    when_behind: WhenBehind,
}

#[derive(Default)]
struct Shared {
    /// Tasks in the queue.
    queued: AtomicUsize,
    is_closing: AtomicBool,
}

enum Job<Task> {
    Do(Task),
    /// Everything before it is done.
    Tell(SyncSender<()>),
}

impl<Task: Send + 'static> TaskQueue<Task> {
    /// Starts the thread. The queue has room for `room` tasks besides the one at hand, and for one at least.
    pub(super) fn begin(
        name: &str,
        room: usize,
        when_behind: WhenBehind,
        work: impl FnMut(Task) + Send + 'static,
    ) -> io::Result<Self> {
        let room = room.max(1);
        let (queue, jobs) = sync_channel(room);
        let shared: Arc<Shared> = Arc::default();
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || serve(&jobs, &of_thread, work))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            shared,
            room,
            when_behind,
        })
    }

    /// Hands a task over, which is made only where there is room for it. Whether it will be done.
    pub(super) fn ask(&self, task: impl FnOnce() -> Task) -> bool {
        let Some(queue) = &self.queue else {
            return false;
        };
        let queued = &self.shared.queued;
        let is_full = queued.load(Ordering::Relaxed) >= self.room;
        if is_full && self.when_behind == WhenBehind::PassOver {
            return false;
        }
        let job = Job::Do(task());
        queued.fetch_add(1, Ordering::Relaxed);
        let is_sent = match self.when_behind {
            WhenBehind::PassOver => queue.try_send(job).is_ok(),
            WhenBehind::Wait => queue.send(job).is_ok(),
        };
        if !is_sent {
            queued.fetch_sub(1, Ordering::Relaxed);
        }
        is_sent
    }

    /// Waits until everything that was handed over before is done.
    pub(super) fn settle(&self) {
        let (done, told) = sync_channel(1);
        let queue = self.queue.as_ref();
        if queue.is_some_and(|queue| queue.send(Job::Tell(done)).is_ok()) {
            // A thread that has ended tells nothing, and drops its end.
            let _ = told.recv();
        }
    }
}

fn serve<Task>(jobs: &Receiver<Job<Task>>, shared: &Shared, mut work: impl FnMut(Task)) {
    while let Ok(job) = jobs.recv() {
        if shared.is_closing.load(Ordering::Relaxed) {
            break;
        }
        match job {
            Job::Do(task) => {
                shared.queued.fetch_sub(1, Ordering::Relaxed);
                work(task);
            }
            Job::Tell(done) => {
                // Who has stopped waiting needs no word.
                let _ = done.try_send(());
            }
        }
    }
}

impl<Task> Drop for TaskQueue<Task> {
    fn drop(&mut self) {
        self.shared.is_closing.store(true, Ordering::Relaxed);
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A task that panicked has been told of by its thread.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// A queue that notes tasks, and does each only when it is let.
    fn gated(
        room: usize,
        when_behind: WhenBehind,
    ) -> (TaskQueue<u32>, SyncSender<()>, Arc<Mutex<Vec<u32>>>) {
        let (gate, lets) = sync_channel::<()>(100);
        let done: Arc<Mutex<Vec<u32>>> = Arc::default();
        let notes = Arc::clone(&done);
        let work = move |task| {
            if lets.recv().is_ok() {
                notes
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(task);
            }
        };
        (
            TaskQueue::begin("gated", room, when_behind, work).unwrap(),
            gate,
            done,
        )
    }

    #[test]
    fn tasks_are_done_in_the_order_in_which_they_were_handed_over() {
        let (queue, gate, done) = gated(2, WhenBehind::Wait);
        (0..50).for_each(|_| gate.send(()).unwrap());
        assert!((0..50).all(|task| queue.ask(|| task)));
        queue.settle();
        assert_eq!(*done.lock().unwrap(), (0..50).collect::<Vec<u32>>());
    }

    #[test]
    fn a_full_queue_passes_tasks_over_without_making_them() {
        let (gate, lets) = sync_channel::<()>(10);
        let (begins, begun) = sync_channel::<u32>(10);
        let work = move |task| {
            let _ = begins.send(task);
            let _ = lets.recv();
        };
        let queue = TaskQueue::begin("gated", 2, WhenBehind::PassOver, work).unwrap();
        assert!(queue.ask(|| 0));
        assert_eq!(begun.recv(), Ok(0), "it is at hand, and the queue empty");
        assert!(queue.ask(|| 1) && queue.ask(|| 2));
        assert!(!queue.ask(|| unreachable!("there is no room for it")));
        (0..3).for_each(|_| gate.send(()).unwrap());
        queue.settle();
        assert_eq!(begun.try_iter().collect::<Vec<u32>>(), [1, 2]);
    }

    #[test]
    fn a_desk_that_goes_leaves_what_is_queued_and_waits_for_its_thread() {
        let (queue, gate, done) = gated(5, WhenBehind::PassOver);
        assert!(queue.ask(|| 1) && queue.ask(|| 2) && queue.ask(|| 3));
        drop(gate);
        drop(queue);
        assert_eq!(Arc::strong_count(&done), 1, "the thread has ended");
        assert!(done.lock().unwrap().is_empty());
    }

    #[test]
    fn after_a_task_that_panics_nobody_waits() {
        let queue: TaskQueue<()> =
            TaskQueue::begin("broken", 1, WhenBehind::Wait, |()| panic!("told to")).unwrap();
        while queue.ask(|| ()) {}
        queue.settle();
    }
}
