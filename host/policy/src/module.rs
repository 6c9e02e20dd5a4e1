//! Accepted modules, one type per hook: compiled, with settings that they have agreed to, ready to be asked.
//!
//! A question of one hook cannot be put to a module of another: the engine's `accept` functions are the only way to get one,
//! and each gives the type of its hook.

use std::fmt;
use std::sync::Arc;

use plimsoll_base::time::Span;
use plimsoll_hooks::allow::{AllowAnswer, AllowQuestion, Allowances, check_allowances};
use plimsoll_hooks::hook::{Context, PolicySettings};
use plimsoll_hooks::rank::{
    LaunchLists, OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion, Prices, check_ordering,
    check_prices,
};
use plimsoll_hooks::score::{ScoreAnswer, ScoreQuestion, Verdicts, check_verdicts};

use crate::accept::Given;
use crate::any::AnyModule;
use crate::engine::{Engine, Inner};
use crate::gate::Refusal;
use crate::limits::{CallLimits, Duty, Limits};
use crate::manifest::{Hook, Manifest};
use crate::named::Named;
use crate::note::{Note, RawNote, asked_rows, notes_of};
use crate::outcome::{Called, Fault, Outcome};
use crate::sandbox::Budget;
use crate::text;
use crate::track::v0_1::{self, Call, Program};
use crate::zone::{Zone, ZoneTime};

/// Bytes of one row of prices, as they come out of a module.
const PRICE_ROW: usize = 28;
/// Bytes of one row of scores, as they come out of a module.
const SCORE_ROW: usize = 10;
/// Bytes of one row of allowances, as they come out of a module.
const ALLOWANCE_ROW: usize = 6;

/// An answer that has passed the checks of the core.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<Raw, Typed> {
    /// As the module gave it: what a record keeps.
    pub raw: Raw,
    /// As the core uses it.
    pub typed: Typed,
}

/// Parts of an accepted module, whatever its hook.
#[derive(Clone)]
pub(crate) struct Accepted {
    engine: Arc<Inner>,
    sha256: Arc<str>,
    manifest: Arc<Manifest>,
    settings: Arc<PolicySettings>,
    /// Those that its settings name, in the order of the settings.
    zones: Arc<[Zone]>,
    duty: Duty,
}

impl Accepted {
    pub(crate) fn new(
        engine: Arc<Inner>,
        sha256: &str,
        manifest: Manifest,
        settings: PolicySettings,
    ) -> Self {
        Self {
            engine,
            sha256: sha256.into(),
            zones: manifest.settings.zones(&settings).into(),
            manifest: Arc::new(manifest),
            settings: Arc::new(settings),
            duty: Duty::Decides,
        }
    }

    /// The same module under other settings, which it has to agree to.
    fn under(&self, settings: &PolicySettings, program: &impl Program) -> Result<Self, Refusal> {
        let settings = self.manifest.settings.complete(settings)?;
        let accepted = Self {
            zones: self.manifest.settings.zones(&settings).into(),
            settings: Arc::new(settings),
            ..self.clone()
        };
        accepted.validate_settings(program)?;
        Ok(accepted)
    }

    /// Asks whether the settings are right beyond what their schema says.
    pub(crate) fn validate_settings(&self, program: &impl Program) -> Result<(), Refusal> {
        let called = self.call(0, 0, 0, |call| program.validate_settings(call));
        let problems = called.result.map_err(|fault| {
            let problem = fault.sentence;
            match fault.outcome {
                Outcome::Saturated => Refusal::Saturated { problem },
                _ => Refusal::Start { problem },
            }
        })?;
        match problems.into_iter().next() {
            None => Ok(()),
            Some((path, problem)) => Err(Refusal::Setting {
                path: text::clean(&path, text::NAME),
                problem: text::clean(&problem, text::MESSAGE),
            }),
        }
    }

    fn zones(&self, unix_s: u64) -> Vec<ZoneTime> {
        self.zones.iter().map(|zone| zone.at(unix_s)).collect()
    }

    /// Asks for an answer of so many rows, each of so many bytes, and checks it.
    fn ask<Raw, Typed, Error: fmt::Display>(
        &self,
        context: &Context,
        (rows, row_bytes): (usize, usize),
        ask: impl FnOnce(&Call<'_>) -> Called<Raw>,
        check: impl FnOnce(&Raw) -> Result<Typed, Error>,
    ) -> Called<Checked<Raw, Typed>> {
        let called = self.call(context.now_unix_s, rows, row_bytes, ask);
        called.and_then(|raw| {
            let typed = check(&raw).map_err(|error| invalid(&error))?;
            Ok(Checked { raw, typed })
        })
    }

    /// Asks why some of the rows of an answer are what they are.
    fn explain(
        &self,
        context: &Context,
        all: usize,
        rows: &[u32],
        ask: impl FnOnce(&Call<'_>, &[u32]) -> Called<Vec<RawNote>>,
    ) -> Called<Vec<Note>> {
        let called = self.call(context.now_unix_s, all, 0, |call| {
            ask(call, asked_rows(rows))
        });
        called.and_then(|notes| notes_of(notes, rows))
    }

    /// Limits of a call about so many rows.
    fn limits_of_call(&self, rows: usize) -> CallLimits {
        let (limits, manifest, share) = (&self.engine.limits, &self.manifest, self.duty.share());
        let asked = manifest
            .limits
            .memory_mib
            .map_or(0, |mib| (mib as usize).saturating_mul(1 << 20));
        CallLimits {
            fuel: limits.fuel(rows, manifest.limits.fuel_per_row) / u64::from(share),
            cpu: limits.cpu(manifest.hook) / share,
            wall: limits.wall / share,
            memory: limits.memory.max(asked).min(limits.memory_ceiling),
        }
    }

    /// Calls at Unix second `now` about `rows` rows, each of which has `row_bytes` in the answer.
    fn call<T>(
        &self,
        now: u64,
        rows: usize,
        row_bytes: usize,
        call: impl FnOnce(&Call<'_>) -> Called<T>,
    ) -> Called<T> {
        let Self {
            engine,
            settings,
            duty,
            ..
        } = self;
        let CallLimits {
            fuel,
            cpu,
            wall,
            memory,
        } = self.limits_of_call(rows);
        let room = engine.room(*duty);
        let Some(_permit) = room.permits.take(memory as u64, room.wait) else {
            return Called::refused(Outcome::Saturated, &room.saturated(memory));
        };
        let answer_bytes = rows.saturating_mul(row_bytes);
        call(&Call {
            engine: &engine.wasmtime,
            settings,
            zones: &self.zones(now),
            budget: &Budget {
                limits: &engine.limits,
                cpu,
                wall,
                fuel,
                rows,
                memory,
                answer_bytes: answer_bytes.saturating_add(engine.limits.answer_slack),
            },
        })
    }
}

/// A module of one hook.
pub trait HookModule: Sized {
    /// Takes a stored module in, or says at which step it failed and why.
    fn accepted(engine: &Engine, stored: &[u8], settings: Given<'_>) -> Result<Self, Refusal>;
}

/// A module of one hook, as the walk through the gates makes it.
pub(crate) trait Admitted: Clone + Into<AnyModule> {
    /// The compiled program.
    type Program: Program;

    fn new(accepted: Accepted, program: Self::Program) -> Self;
}

/// Methods of every accepted module, whatever its hook.
macro_rules! accepted {
    ($module:ident, $program:ty, $hook:ident) => {
        impl Admitted for $module {
            type Program = $program;

            fn new(accepted: Accepted, program: $program) -> Self {
                let program = Arc::new(program);
                Self { accepted, program }
            }
        }

        impl HookModule for $module {
            fn accepted(
                engine: &Engine,
                stored: &[u8],
                settings: Given<'_>,
            ) -> Result<Self, Refusal> {
                engine.walk(Hook::$hook, stored, settings)
            }
        }

        impl From<$module> for AnyModule {
            fn from(module: $module) -> Self {
                Self::$hook(module)
            }
        }

        impl Named for $module {
            fn name(&self) -> &str {
                &self.manifest().name
            }
        }

        impl $module {
            /// Manifest of the module.
            pub fn manifest(&self) -> &Manifest {
                &self.accepted.manifest
            }

            /// SHA-256 of its component.
            pub fn sha256(&self) -> &str {
                &self.accepted.sha256
            }

            /// The settings it was accepted with, defaults filled in.
            pub fn settings(&self) -> &PolicySettings {
                &self.accepted.settings
            }

            /// The same module under other settings, which it has to agree to; nothing is compiled again.
            pub fn under(&self, settings: &PolicySettings) -> Result<Self, Refusal> {
                let program = Arc::clone(&self.program);
                let accepted = self.accepted.under(settings, program.as_ref())?;
                Ok(Self { accepted, program })
            }

            /// Limits of a call about so many rows.
            pub fn limits_of_call(&self, rows: usize) -> CallLimits {
                self.accepted.limits_of_call(rows)
            }

            /// Limits of its calls.
            pub(crate) fn limits(&self) -> &Limits {
                &self.accepted.engine.limits
            }

            /// The same module, asked beside those that decide: under lower limits, and with places of its own.
            pub(crate) fn in_shadow(mut self) -> Self {
                self.accepted.duty = Duty::LooksOn;
                self
            }

            /// The time zones its settings name, as it is told of them at that Unix second.
            pub fn zones(&self, unix_s: u64) -> Vec<ZoneTime> {
                self.accepted.zones(unix_s)
            }
        }

        impl fmt::Debug for $module {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Manifest { name, version, .. } = self.manifest();
                f.debug_struct(stringify!($module))
                    .field("name", name)
                    .field("version", version)
                    .finish_non_exhaustive()
            }
        }
    };
}

/// A ranking module that has passed all gates. Cheap to clone; calls of clones may run at the same time.
#[derive(Clone)]
pub struct Module {
    accepted: Accepted,
    program: Arc<v0_1::Ranker>,
}

accepted!(Module, v0_1::Ranker, Rank);

impl Module {
    /// The same, but that nothing is bought where it fails, as if it forbade offerings.
    #[must_use]
    pub fn holding(mut self) -> Self {
        Arc::make_mut(&mut self.accepted.manifest).vetoes = true;
        self
    }

    /// Asks for prices.
    pub fn price(&self, question: &PriceQuestion) -> Called<Checked<PriceAnswer, Prices>> {
        let ask = |call: &Call<'_>| self.program.price(call, question);
        let rows = (question.pools.cand.len(), PRICE_ROW);
        self.accepted.ask(&question.context, rows, ask, |raw| {
            check_prices(question, raw)
        })
    }

    /// Asks why candidates of a price question, by their rows, got their prices: at most [`MOST_NOTES`](crate::MOST_NOTES) of them.
    pub fn explain_price(&self, question: &PriceQuestion, rows: &[u32]) -> Called<Vec<Note>> {
        let all = question.pools.cand.len();
        self.accepted
            .explain(&question.context, all, rows, |call, rows| {
                self.program.explain_price(call, question, rows)
            })
    }

    /// The same of an order question and its scores.
    pub fn explain_order(&self, question: &OrderQuestion, rows: &[u32]) -> Called<Vec<Note>> {
        let all = question.claims.cand.len();
        self.accepted
            .explain(&question.context, all, rows, |call, rows| {
                self.program.explain_order(call, question, rows)
            })
    }

    /// Asks for an order.
    pub fn order(&self, question: &OrderQuestion) -> Called<Checked<OrderAnswer, LaunchLists>> {
        let ask = |call: &Call<'_>| self.program.order(call, question);
        let rows = (question.claims.cand.len(), SCORE_ROW);
        self.accepted.ask(&question.context, rows, ask, |raw| {
            check_ordering(question, raw)
        })
    }
}

/// A consolidation module that has passed all gates. Cheap to clone; calls of clones may run at the same time.
#[derive(Clone)]
pub struct ConsolidationModule {
    accepted: Accepted,
    program: Arc<v0_1::Consolidator>,
}

accepted!(ConsolidationModule, v0_1::Consolidator, Consolidate);

impl ConsolidationModule {
    /// Asks what moves are worth.
    pub fn score(&self, question: &ScoreQuestion) -> Called<Checked<ScoreAnswer, Verdicts>> {
        let ask = |call: &Call<'_>| self.program.score(call, question);
        let rows = (question.moves.len(), SCORE_ROW);
        self.accepted.ask(&question.context, rows, ask, |raw| {
            check_verdicts(question, raw)
        })
    }

    /// Asks why moves, by their rows, got their values: at most [`MOST_NOTES`](crate::MOST_NOTES) of them.
    pub fn explain(&self, question: &ScoreQuestion, rows: &[u32]) -> Called<Vec<Note>> {
        let all = question.moves.len();
        self.accepted
            .explain(&question.context, all, rows, |call, rows| {
                self.program.explain(call, question, rows)
            })
    }
}

/// A budget module that has passed all gates. Cheap to clone; calls of clones may run at the same time.
#[derive(Clone)]
pub struct BudgetModule {
    accepted: Accepted,
    program: Arc<v0_1::Budgeter>,
}

accepted!(BudgetModule, v0_1::Budgeter, Budget);

impl BudgetModule {
    /// Asks how many nodes may be down at once.
    pub fn allow(&self, question: &AllowQuestion) -> Called<Checked<AllowAnswer, Allowances>> {
        let ask = |call: &Call<'_>| self.program.allow(call, question);
        let rows = (question.pools.len(), ALLOWANCE_ROW);
        let check = |raw: &AllowAnswer| check_allowances(question, raw);
        let called = self.accepted.ask(&question.context, rows, ask, check);
        called.and_then(|mut answer| {
            let said = answer.typed.recheck_after;
            let change = self.next_clock_change(question.context.now_unix_s);
            answer.typed.recheck_after = [said, change].into_iter().flatten().min();
            Ok(answer)
        })
    }

    /// Asks why pools, by their rows, got their allowances: at most [`MOST_NOTES`](crate::MOST_NOTES) of them.
    pub fn explain(&self, question: &AllowQuestion, rows: &[u32]) -> Called<Vec<Note>> {
        let all = question.pools.len();
        self.accepted
            .explain(&question.context, all, rows, |call, rows| {
                self.program.explain(call, question, rows)
            })
    }

    /// Until the clock of a zone that the settings name changes next: what the policy said of local times ends there.
    fn next_clock_change(&self, now: u64) -> Option<Span> {
        let zones = self.zones(now);
        let changes = zones.iter().map(|zone| zone.next_change_unix_s);
        let next = changes.filter(|change| *change > now).min()?;
        Some(Span::from_secs(i64::try_from(next - now).ok()?))
    }
}

/// The fault of an answer that the core refuses.
pub(crate) fn invalid(error: &impl fmt::Display) -> Fault {
    Fault {
        outcome: Outcome::InvalidOutput,
        sentence: error.to_string(),
    }
}
