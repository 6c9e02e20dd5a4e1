//! A recording played again: the same inputs into a fresh engine, without a cluster and without a clock.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use plimsoll_engine::{Engine, Input};
use plimsoll_model::action::{Action, ConsiderRequest};
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::snapshot::Snapshot;
use serde::Serialize;
use thiserror::Error;

use crate::fidelity::Fidelity;
use crate::planner::Planner;
use crate::record::{Line, shown};

/// Why a recording could not be played, or did not play the same.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// It cannot be read.
    #[error("line {line} of the recording cannot be read")]
    Read {
        /// Number of the line, from 1.
        line: usize,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// It does not begin as recordings do, or begins twice.
    #[error("line {line} of the recording: expected its beginning on line 1 and nowhere else")]
    Beginning {
        /// Number of the line, from 1.
        line: usize,
    },
    /// The engine does something else now.
    #[error("line {line} of the recording: the engine did {recorded} then and does {now} now")]
    Differs {
        /// Number of the line, from 1.
        line: usize,
        /// The action recorded; nothing where there was none.
        recorded: String,
        /// The action now; nothing where there is none.
        now: String,
    },
    /// The plan that was made then is not the plan that is made now.
    #[error("line {line} of the recording: solve request {id} gives another plan now")]
    Plan {
        /// Number of the line, from 1.
        line: usize,
        /// The request.
        id: u64,
    },
    /// The decision on disruption that was made then is not the one that is made now.
    #[error("line {line} of the recording: request {id} on disruption gives another decision now")]
    Decision {
        /// Number of the line, from 1.
        line: usize,
        /// The request.
        id: u64,
    },
}

/// Inputs and actions of a recording, counted, and the first difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Inputs.
    pub inputs: usize,
    /// Actions, all equal to those recorded.
    pub actions: usize,
    /// Plans, all equal to those recorded.
    pub plans: usize,
    /// Decisions on disruption, all equal to those recorded.
    pub decisions: usize,
    /// Where pods landed.
    pub fidelity: Fidelity,
}

struct Player<'a> {
    engine: Option<Engine>,
    planner: &'a Planner,
    /// Requests without an answer so far.
    solving: BTreeMap<u64, Arc<Snapshot>>,
    considering: BTreeMap<u64, Box<ConsiderRequest>>,
    /// Actions of the last input that the recording has not shown yet, last first.
    owed: Vec<String>,
    played: Played,
}

/// Plays a recording; the first difference ends it. Plans and decisions on disruption are made again, and compared byte by byte.
pub fn replay(recording: impl BufRead, planner: &Planner) -> Result<Played, ReplayError> {
    let mut player = Player {
        engine: None,
        planner,
        solving: BTreeMap::new(),
        considering: BTreeMap::new(),
        owed: Vec::new(),
        played: Played::default(),
    };
    let mut last = 0;
    for (index, text) in recording.lines().enumerate() {
        last = index + 1;
        let read = |source| ReplayError::Read { line: last, source };
        let line: Line =
            serde_json::from_str(&text.map_err(read)?).map_err(|error| read(error.into()))?;
        player.take(line, last)?;
    }
    player.settle(last)?;
    Ok(player.played)
}

impl Player<'_> {
    fn take(&mut self, line: Line, number: usize) -> Result<(), ReplayError> {
        let wrong = ReplayError::Beginning { line: number };
        match line {
            Line::Begin(beginning) if number == 1 => {
                let catalogues = Arc::new(Catalogues::default());
                let engine = Engine::new(beginning.settings, catalogues, beginning.seed);
                self.engine = Some(engine);
                Ok(())
            }
            Line::Begin(_) => Err(wrong),
            Line::Input(now, input) => {
                self.settle(number)?;
                self.check_answer(&input, number)?;
                let engine = self.engine.as_mut().ok_or(wrong)?;
                self.played.inputs += 1;
                self.played.fidelity.observe(engine, &input, now);
                let actions = engine.handle(*input, now);
                self.owe(&actions, number)
            }
            Line::Action(action) => {
                let now = self.owed.pop().unwrap_or_else(|| "nothing".to_owned());
                let recorded = action.to_string();
                self.played.actions += 1;
                if now == recorded {
                    return Ok(());
                }
                Err(ReplayError::Differs {
                    line: number,
                    recorded,
                    now,
                })
            }
        }
    }

    fn owe(&mut self, actions: &[Action], line: usize) -> Result<(), ReplayError> {
        for action in actions.iter().rev() {
            match action {
                Action::Solve(request) => {
                    let snapshot = Arc::clone(&request.snapshot);
                    self.solving.insert(request.id, snapshot);
                }
                Action::Consider(request) => {
                    self.considering.insert(request.id, request.clone());
                }
                Action::Do(_) | Action::Report(_) | Action::Begin(_) | Action::Settle(_) => {}
            }
            let shown = shown(action).map_err(|error| ReplayError::Read {
                line,
                source: error.into(),
            })?;
            self.owed.push(shown.to_string());
        }
        Ok(())
    }

    /// Every action of the input before must have been shown.
    fn settle(&mut self, line: usize) -> Result<(), ReplayError> {
        match self.owed.pop() {
            None => Ok(()),
            Some(now) => Err(ReplayError::Differs {
                line,
                recorded: "nothing".to_owned(),
                now,
            }),
        }
    }

    /// Makes what an input hands back once more.
    fn check_answer(&mut self, input: &Input, line: usize) -> Result<(), ReplayError> {
        match input {
            Input::Solved(id, recorded) => {
                let snapshot = self.solving.remove(id);
                let plan = snapshot.map(|snapshot| self.planner.plan(&snapshot));
                self.played.plans += 1;
                let differs = ReplayError::Plan { line, id: *id };
                equal(plan.as_ref(), &**recorded).ok_or(differs)
            }
            Input::Considered(id, recorded) => {
                let request = self.considering.remove(id);
                let consider =
                    |it: Box<ConsiderRequest>| self.planner.consider(&it.snapshot, &it.question);
                let decision = request.map(consider);
                self.played.decisions += 1;
                let differs = ReplayError::Decision { line, id: *id };
                equal(decision.as_ref(), &**recorded).ok_or(differs)
            }
            Input::Unsolved(id) => {
                self.solving.remove(id);
                Ok(())
            }
            Input::Unconsidered(id) => {
                self.considering.remove(id);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Something if both are written with the same bytes.
fn equal<T: Serialize>(now: Option<&T>, recorded: &T) -> Option<()> {
    let now = serde_json::to_vec(now?).ok()?;
    (now == serde_json::to_vec(recorded).ok()?).then_some(())
}
