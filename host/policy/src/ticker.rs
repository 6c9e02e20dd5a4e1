//! The thread that moves the engine's epoch, so that running modules look at their deadlines.
//!
//! A plain thread of the operating system: a task of an executor starves exactly when a module spins. It always runs
//! while the engine lives, whatever the limits, and is joined when the engine goes.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two looks at the deadlines.
const TICK: Duration = Duration::from_millis(5);

/// Owner of the thread.
pub(crate) struct Ticker {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(crate) fn start(engine: &wasmtime::Engine) -> std::io::Result<Self> {
        let (stop, stopped) = sync_channel(1);
        let engine = engine.clone();
        let thread = std::thread::Builder::new()
            .name("policy-ticker".to_owned())
            .spawn(move || tick(&engine, &stopped))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // Hanging up ends the wait of the thread at once.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that could panic; if it has, the error has no receiver.
            let _ = thread.join();
        }
    }
}

fn tick(engine: &wasmtime::Engine, stopped: &Receiver<()>) {
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        engine.increment_epoch();
    }
}
