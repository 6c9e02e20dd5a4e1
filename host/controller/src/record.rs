//! Everything that went into an engine and came out of it, as lines of JSON.
//!
//! The first line says with what the engine began; then every input with its time, and after each the actions that it led
//! to. A solve request is written as a digest of its snapshot: the snapshot follows from the inputs.

use std::io::{self, Write};
use std::sync::Arc;

use plimsoll_core::action::Action;
use plimsoll_core::engine::Input;
use plimsoll_core::fixed_hash::hash_of;
use plimsoll_core::snapshot::Settings;
use plimsoll_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

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

/// Writes a recording.
pub struct Recorder {
    out: Box<dyn Write + Send>,
}

impl Recorder {
    /// Begins a recording.
    pub fn begin(out: Box<dyn Write + Send>, beginning: Beginning) -> io::Result<Self> {
        let mut recorder = Self { out };
        recorder.line(&Line::Begin(beginning))?;
        Ok(recorder)
    }

    /// An input, before the engine has it.
    pub fn input(&mut self, input: &Input, now: Timestamp) -> io::Result<()> {
        self.line(&Line::Input(now, Box::new(input.clone())))
    }

    /// Writes the actions that the engine came to; fails as the file does.
    pub fn actions(&mut self, actions: &[Action]) -> io::Result<()> {
        for action in actions {
            self.line(&Line::Action(shown(action)?))?;
        }
        self.out.flush()
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}

/// An action as it is written down.
pub(crate) fn shown(action: &Action) -> serde_json::Result<serde_json::Value> {
    match action {
        Action::Solve(request) => {
            let text = serde_json::to_string(&request.snapshot)?;
            let digest = format!("{:016x}", hash_of(&text));
            Ok(json!({"Solve": {"id": request.id, "snapshot": digest}}))
        }
        Action::Consider(request) => {
            let text = serde_json::to_string(&request.snapshot)?;
            let digest = format!("{:016x}", hash_of(&text));
            let question = &request.question;
            Ok(json!({"Consider": {"id": request.id, "snapshot": digest, "question": question}}))
        }
        Action::Do(_) | Action::Report(_) | Action::Settle(_) => serde_json::to_value(action),
    }
}
