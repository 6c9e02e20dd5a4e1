//! The generation that serves: a candidate runs all gates before it displaces a module, and a broken one leaves a finding.
//!
//! Candidates are taken in one at a time, off the way of decisions: a decision takes the generation that serves and keeps it to the
//! end, and a new one is published by exchanging one pointer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use plimsoll_base::time::Timestamp;
use thiserror::Error;

use crate::accept::Given;
use crate::any::AnyModule;
use crate::breaker::Breaker;
use crate::engine::Engine;
use crate::gate::Refusal;
use crate::generation::{Binding, Generation, Successor};
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
    /// The name that it serves under, in the place of the one that did, and the pools that it serves.
    pub binding: Binding,
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
        let binding = candidate.binding.clone();
        match candidate.accepted(engine) {
            Ok(accepted) => Ok(self.publish(&binding, accepted.into())),
            Err(refusal) => Err(Finding {
                refusal,
                serving: self.current().number(),
            }),
        }
    }

    /// Lets a module serve that has passed the gates already.
    pub fn publish(&self, binding: &Binding, successor: Successor) -> Arc<Generation> {
        let health = Breaker::default();
        self.exchange(|serving| Some(serving.succeeded_by(binding, successor, health)))
    }

    /// Lets such a module serve that kept failing where it served before: it is set aside from that instant on, the last that served well
    /// stands in for it, and it comes back by what it says on trial.
    pub fn publish_set_aside(
        &self,
        binding: &Binding,
        successor: Successor,
        since: Timestamp,
    ) -> Arc<Generation> {
        let health = Breaker::set_aside_at(since);
        self.exchange(|serving| Some(serving.succeeded_by(binding, successor, health)))
    }

    /// Lets a policy serve other pools. Where none serves under that name nothing changes.
    pub fn select(&self, hook: Hook, binding: &Binding) -> Arc<Generation> {
        self.exchange(|serving| serving.with_selection(hook, binding))
    }

    /// Ends the service of a policy. Where none serves under that name nothing changes.
    pub fn withdraw(&self, hook: Hook, name: &str) -> Arc<Generation> {
        self.exchange(|serving| serving.without(hook, name))
    }

    fn exchange(&self, next: impl FnOnce(&Generation) -> Option<Generation>) -> Arc<Generation> {
        let mut serving = self.serving.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = next(&serving) {
            *serving = Arc::new(next);
        }
        Arc::clone(&serving)
    }
}

impl Candidate<'_> {
    /// Takes the candidate through all gates, and changes nothing that serves.
    pub fn accepted(self, engine: &Engine) -> Result<AnyModule, Refusal> {
        let stored = assemble(self.entries)?;
        if let Some(sha256) = self.sha256 {
            engine.verify(&stored, sha256)?;
        }
        Ok(match self.hook {
            Hook::Rank => AnyModule::Rank(engine.accept_with(&stored, self.settings)?),
            Hook::Consolidate => {
                AnyModule::Consolidate(engine.accept_with(&stored, self.settings)?)
            }
            Hook::Budget => AnyModule::Budget(engine.accept_with(&stored, self.settings)?),
        })
    }
}
