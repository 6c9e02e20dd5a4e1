//! An accepted module: compiled, with settings that it has agreed to, ready to be asked.

use std::fmt;
use std::sync::Arc;

use plimsoll_core::rank::{
    AnswerError, LaunchLists, OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion, Prices,
    Settings, check_ordering, check_prices,
};

use crate::engine::Inner;
use crate::gate::Refusal;
use crate::manifest::Manifest;
use crate::outcome::{Called, Fault, Outcome};
use crate::sandbox::Budget;
use crate::text;
use crate::track::v0_1;

/// Bytes of one row of prices, as they come out of a module.
const PRICE_ROW: usize = 28;
/// Bytes of one row of scores, as they come out of a module.
const SCORE_ROW: usize = 10;

/// An answer that has passed the checks of the core.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<Raw, Typed> {
    /// As the module gave it: what a record keeps.
    pub raw: Raw,
    /// As the core uses it.
    pub typed: Typed,
}

/// A policy module that has passed all gates. Cheap to clone; calls of clones may run at the same time.
#[derive(Clone)]
pub struct Module {
    engine: Arc<Inner>,
    program: Arc<v0_1::Program>,
    manifest: Arc<Manifest>,
    settings: Arc<Settings>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Manifest { name, version, .. } = &*self.manifest;
        f.debug_struct("Module")
            .field("name", name)
            .field("version", version)
            .finish_non_exhaustive()
    }
}

impl Module {
    pub(crate) fn new(
        engine: Arc<Inner>,
        program: v0_1::Program,
        manifest: Manifest,
        settings: Settings,
    ) -> Self {
        Self {
            engine,
            program: Arc::new(program),
            manifest: Arc::new(manifest),
            settings: Arc::new(settings),
        }
    }

    /// What the module says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The settings it was accepted with, defaults filled in.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Asks for prices.
    pub fn price(&self, question: &PriceQuestion) -> Called<Checked<PriceAnswer, Prices>> {
        let rows = question.pools.cand.len();
        self.with_permit(rows, PRICE_ROW, |budget| {
            self.program
                .price(&self.engine.wasmtime, budget, &self.settings, question)
        })
        .and_then(|raw| match check_prices(question, &raw) {
            Ok(typed) => Ok(Checked { raw, typed }),
            Err(error) => Err(invalid(&error)),
        })
    }

    /// Asks for an order.
    pub fn order(&self, question: &OrderQuestion) -> Called<Checked<OrderAnswer, LaunchLists>> {
        let rows = question.claims.cand.len();
        self.with_permit(rows, SCORE_ROW, |budget| {
            self.program
                .order(&self.engine.wasmtime, budget, &self.settings, question)
        })
        .and_then(|raw| match check_ordering(question, &raw) {
            Ok(typed) => Ok(Checked { raw, typed }),
            Err(error) => Err(invalid(&error)),
        })
    }

    /// Asks whether the settings are right beyond what their schema says.
    pub(crate) fn validate_settings(&self) -> Result<(), Refusal> {
        let called = self.with_permit(0, 0, |budget| {
            self.program
                .validate_settings(&self.engine.wasmtime, budget, &self.settings)
        });
        let problems = called.result.map_err(|fault| Refusal::Start {
            problem: fault.sentence,
        })?;
        match problems.into_iter().next() {
            None => Ok(()),
            Some((path, problem)) => Err(Refusal::Setting {
                path: text::clean(&path, text::NAME),
                problem: text::clean(&problem, text::MESSAGE),
            }),
        }
    }

    fn with_permit<T>(
        &self,
        rows: usize,
        row_bytes: usize,
        call: impl FnOnce(&Budget<'_>) -> Called<T>,
    ) -> Called<T> {
        let limits = &self.engine.limits;
        let Some(_permit) = self.engine.permits.take(limits.wait) else {
            return Called::refused(Outcome::Saturated, "all places for policy calls were taken");
        };
        let asked = self
            .manifest
            .limits
            .memory_mib
            .map_or(0, |mib| (mib as usize).saturating_mul(1 << 20));
        call(&Budget {
            limits,
            fuel: limits.fuel(rows, self.manifest.limits.fuel_per_row),
            memory: limits.memory.max(asked).min(limits.memory_ceiling),
            answer_bytes: rows
                .saturating_mul(row_bytes)
                .saturating_add(limits.answer_slack),
        })
    }
}

/// The fault of an answer that the core refuses.
pub(crate) fn invalid(error: &AnswerError) -> Fault {
    Fault {
        outcome: Outcome::InvalidOutput,
        sentence: error.to_string(),
    }
}
