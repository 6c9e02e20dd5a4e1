//! The generation that serves: a candidate runs all gates before it displaces a module, and a broken one leaves a finding.
//!
//! Candidates are taken in one at a time, off the way of decisions: whoever decides takes the generation that serves and keeps it to the
//! end, and a new one is published by exchanging one pointer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use thiserror::Error;

use crate::accept::Given;
use crate::engine::Engine;
use crate::gate::Refusal;
use crate::generation::{Generation, Successor};
use crate::manifest::Hook;
use crate::package::assemble;
use crate::policies::Policies;

/// The generation that serves, and the way to the next one.
#[derive(Debug)]
pub struct Generations {
    serving: RwLock<Arc<Generation>>,
    /// Held while a candidate runs the gates.
    candidates: Mutex<()>,
}

/// A module that is to serve from now on.
#[derive(Clone)]
pub struct Candidate<'c> {
    /// The hook that it answers.
    pub hook: Hook,
    /// Of budget policies which one it replaces; behind all of them it is one more. Of no meaning for other hooks.
    pub place: usize,
    /// Entries of the ConfigMaps that carry it, by their keys.
    pub entries: BTreeMap<String, Vec<u8>>,
    /// SHA-256 that the component is promised to have.
    pub sha256: Option<&'c str>,
    /// Settings of the module.
    pub settings: Given<'c>,
}

/// A candidate that does not serve.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("step {}: {refusal}; generation {serving} serves on", refusal.step())]
pub struct Finding {
    /// The step, the reason and the remedy.
    pub refusal: Refusal,
    /// The number of the generation that serves, unchanged.
    pub serving: u64,
}

impl Generations {
    /// Begins with a set of policies.
    pub fn new(policies: Policies) -> Self {
        Self {
            serving: RwLock::new(Arc::new(Generation::first(policies))),
            candidates: Mutex::default(),
        }
    }

    /// The generation that serves now. A decision takes it once and uses it to its end.
    pub fn current(&self) -> Arc<Generation> {
        let serving = self.serving.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&serving)
    }

    /// Takes a candidate through all gates. It serves from then on, or nothing changes and the finding says why.
    pub fn offer(
        &self,
        engine: &Engine,
        candidate: Candidate<'_>,
    ) -> Result<Arc<Generation>, Finding> {
        let one = || self.candidates.lock();
        let _one_at_a_time = one().unwrap_or_else(PoisonError::into_inner);
        match candidate.accepted(engine) {
            Ok(successor) => Ok(self.publish(successor)),
            Err(refusal) => Err(Finding {
                refusal,
                serving: self.current().number(),
            }),
        }
    }

    /// Lets a module serve that has passed the gates already.
    pub fn publish(&self, successor: Successor) -> Arc<Generation> {
        let mut serving = self.serving.write().unwrap_or_else(PoisonError::into_inner);
        *serving = Arc::new(serving.succeeded_by(successor));
        Arc::clone(&serving)
    }
}

impl Candidate<'_> {
    fn accepted(self, engine: &Engine) -> Result<Successor, Refusal> {
        let stored = assemble(self.entries)?;
        if let Some(sha256) = self.sha256 {
            engine.verify(&stored, sha256)?;
        }
        Ok(match self.hook {
            Hook::Rank => Successor::Rank(engine.accept_with(&stored, self.settings)?),
            Hook::Consolidate => {
                Successor::Consolidate(engine.accept_with(&stored, self.settings)?)
            }
            Hook::Budget => {
                let module = engine.accept_with(&stored, self.settings)?;
                Successor::Budget(self.place, module)
            }
        })
    }
}
