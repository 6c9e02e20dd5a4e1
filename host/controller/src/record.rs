//! Everything that went into an engine and came out of it, as lines of JSON.
//!
//! The first line says with what the engine began; then every input with its time, and after each the actions that it led
//! to. A solve request is written as a digest of its snapshot: the snapshot follows from the inputs. Lines are made and written by a
//! thread of their own, so that the loop does not wait for digests.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use plimsoll_base::fixed_hash::hash_of;
use plimsoll_base::time::Timestamp;
use plimsoll_engine::Input;
use plimsoll_model::action::Action;
use plimsoll_model::snapshot::{Settings, Snapshot};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Lines that wait to be written; the loop waits for more.
const AHEAD: usize = 4096;

/// With what an engine began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// Seed of its draws.
    pub seed: u64,
    /// How it decides.
    pub settings: Arc<Settings>,
}

/// One line of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The first.
    Begin(Beginning),
    /// An input and when it was handed in.
    Input(Timestamp, Box<Input>),
    /// An action of the input before it.
    Action(serde_json::Value),
}

/// A line that is still to be made.
enum Item {
    Made(Box<Line>),
    Action(Box<Action>),
}

/// Writes a recording.
pub struct Recorder {
    items: Option<SyncSender<Item>>,
    writing: Option<JoinHandle<io::Result<()>>>,
}

impl Recorder {
    /// Begins a recording; fails where no thread can be had.
    pub fn begin(out: Box<dyn Write + Send>, beginning: Beginning) -> io::Result<Self> {
        let (sender, items) = sync_channel(AHEAD);
        let writing = thread::Builder::new().name("recorder".to_owned());
        let writing = writing.spawn(move || write(out, &items))?;
        let mut recorder = Self {
            items: Some(sender),
            writing: Some(writing),
        };
        recorder.send(Item::Made(Box::new(Line::Begin(beginning))))?;
        Ok(recorder)
    }

    /// An input, before the engine has it.
    pub fn input(&mut self, input: &Input, now: Timestamp) -> io::Result<()> {
        let line = Line::Input(now, Box::new(input.clone()));
        self.send(Item::Made(Box::new(line)))
    }

    /// Writes the actions that the engine came to; fails as the file did.
    pub fn actions(&mut self, actions: &[Action]) -> io::Result<()> {
        let mut actions = actions.iter();
        actions.try_for_each(|action| self.send(Item::Action(Box::new(action.clone()))))
    }

    /// Waits until all is written; fails as the file did.
    pub fn finish(mut self) -> io::Result<()> {
        self.end()
    }

    fn send(&mut self, item: Item) -> io::Result<()> {
        let sent = self.items.as_ref().map(|items| items.send(item));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => self.end(),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.items = None;
        match self.writing.take().map(JoinHandle::join) {
            Some(Ok(written)) => written,
            Some(Err(_)) => Err(io::Error::other("the recorder failed")),
            None => Ok(()),
        }
    }
}

impl Drop for Recorder {
    /// A process that ends early, its lease lost for instance, keeps all that it did.
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::error!(%error, "the recording is not whole");
        }
    }
}

/// Writes lines until there are no more to come. What was written is handed on whenever nothing waits.
fn write(mut out: Box<dyn Write + Send>, items: &Receiver<Item>) -> io::Result<()> {
    loop {
        let item = match items.try_recv() {
            Ok(item) => item,
            Err(TryRecvError::Disconnected) => return out.flush(),
            Err(TryRecvError::Empty) => {
                out.flush()?;
                match items.recv() {
                    Ok(item) => item,
                    Err(_) => return Ok(()),
                }
            }
        };
        let line = match item {
            Item::Made(line) => *line,
            Item::Action(action) => Line::Action(shown(&action)?),
        };
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
}

/// A snapshot's digest, as recordings have it.
pub(crate) fn digest(snapshot: &Snapshot) -> serde_json::Result<String> {
    let text = serde_json::to_string(snapshot)?;
    Ok(format!("{:016x}", hash_of(&text)))
}

/// An action as it is written down.
pub(crate) fn shown(action: &Action) -> serde_json::Result<serde_json::Value> {
    match action {
        Action::Solve(request) => {
            let digest = digest(&request.snapshot)?;
            Ok(json!({"Solve": {"id": request.id, "snapshot": digest}}))
        }
        Action::Consider(request) => {
            let digest = digest(&request.snapshot)?;
            let question = &request.question;
            Ok(json!({"Consider": {"id": request.id, "snapshot": digest, "question": question}}))
        }
        Action::Do(_) | Action::Report(_) | Action::Begin(_) | Action::Settle(_) => {
            serde_json::to_value(action)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody failed").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_recorder_given_up_has_written_all_that_it_was_handed() {
        let kept = Kept::default();
        let beginning = Beginning {
            seed: 1,
            settings: Arc::default(),
        };
        let mut recorder = Recorder::begin(Box::new(kept.clone()), beginning).expect("a thread");
        for at in 0..3000 {
            let now = Timestamp::from_millis(at);
            recorder.input(&Input::Tick, now).expect("it takes it");
        }
        drop(recorder);
        let written = kept.0.lock().expect("nobody failed");
        let lines = written.split(|byte| *byte == b'\n');
        assert_eq!(lines.filter(|line| !line.is_empty()).count(), 3001);
    }
}
