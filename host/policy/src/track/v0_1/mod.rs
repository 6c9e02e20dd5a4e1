//! Interface version 0.1: the generated bindings, and the way from the core's columns to theirs and back.
//!
//! One file per hook; what they share is here. Columns are lent, not copied: the core's lists are the interface's lists. Only
//! settings and the names of optional columns are made anew, which are few.

/// Implementation that linked modules of all hooks share; only the generated types differ.
macro_rules! program {
    ($program:ident, $pre:ident) => {
        impl super::Program for $program {
            fn link(
                pre: wasmtime::component::InstancePre<$crate::sandbox::State>,
            ) -> wasmtime::Result<Self> {
                $pre::new(pre).map(|pre| Self { pre })
            }

            fn validate_settings(
                &self,
                call: &super::Call<'_>,
            ) -> $crate::outcome::Called<Vec<(String, String)>> {
                let texts = super::lend::texts(call.settings);
                let settings = super::lend::settings(call.settings, &texts);
                $crate::sandbox::run(
                    call.engine,
                    call.budget,
                    |store| self.pre.instantiate(store),
                    |store, policy| {
                        let configure = policy.plimsoll_policy_configure();
                        Ok(super::problems(
                            configure.call_validate_settings(store, &settings)?,
                        ))
                    },
                )
            }
        }
    };
}

mod budgeter;
mod columns;
mod consolidator;
mod lend;
mod ranker;

use plimsoll_hooks::hook::{self, PolicySettings};
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Store, StoreContextMut};

pub(crate) use self::budgeter::Budgeter;
pub(crate) use self::consolidator::Consolidator;
pub(crate) use self::ranker::Ranker;

use self::bindings::plimsoll::policy::diag::Level;
use self::bindings::plimsoll::policy::types::{Note, PolicyError, Problem};
use self::lend::Lent;
use crate::gate::Refusal;
use crate::note::RawNote;
use crate::outcome::{Called, LogLevel};
use crate::sandbox::{self, Budget, State, Stopped};
use crate::text;
use crate::zone::ZoneTime;

#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    unused_lifetimes,
    elided_lifetimes_in_paths,
    clippy::pedantic,
    reason = "generated from `wit/0.1`"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit/0.1",
        world: "ranking-policy",
        ownership: Borrowing { duplicate_if_necessary: true },
    });

    pub(super) mod consolidation {
        wasmtime::component::bindgen!({
            path: "../../wit/0.1",
            world: "consolidation-policy",
            ownership: Borrowing { duplicate_if_necessary: true },
            with: {
                "plimsoll:policy/types": super::plimsoll::policy::types,
                "plimsoll:policy/diag": super::plimsoll::policy::diag,
            },
        });
    }

    pub(super) mod budget {
        wasmtime::component::bindgen!({
            path: "../../wit/0.1",
            world: "budget-policy",
            ownership: Borrowing { duplicate_if_necessary: true },
            with: {
                "plimsoll:policy/types": super::plimsoll::policy::types,
                "plimsoll:policy/diag": super::plimsoll::policy::diag,
            },
        });
    }
}

/// The imports of version 0.1: `diag`, and `types`, which has no functions.
pub(crate) struct Track {
    linker: Linker<State>,
}

impl Track {
    pub(crate) fn new(engine: &wasmtime::Engine) -> wasmtime::Result<Self> {
        let mut linker = Linker::new(engine);
        linker.instance("plimsoll:policy/types@0.1.0")?;
        linker.instance("plimsoll:policy/diag@0.1.0")?.func_wrap(
            "log",
            |store: StoreContextMut<'_, State>, (level, message): (Level, String)| {
                sandbox::log(store, log_level(level), &message)
            },
        )?;
        Ok(Self { linker })
    }

    /// Links a module and checks that its functions have the types of this version, for the hook of `P`.
    pub(crate) fn prepare<P: Program>(&self, component: &Component) -> Result<P, Refusal> {
        let linked = self.linker.instantiate_pre(component);
        linked.and_then(P::link).map_err(|error| Refusal::Mismatch {
            problem: text::clean(&format!("{error:#}"), text::MESSAGE),
        })
    }
}

/// A linked module of version 0.1, of one hook.
pub(crate) trait Program: Sized {
    /// Checks the types of a component's functions.
    fn link(pre: InstancePre<State>) -> wasmtime::Result<Self>;

    /// The problems the module finds in its settings, as (setting, problem).
    fn validate_settings(&self, call: &Call<'_>) -> Called<Vec<(String, String)>>;
}

/// Parameters that every call has besides its question.
pub(crate) struct Call<'a> {
    pub(crate) engine: &'a wasmtime::Engine,
    pub(crate) budget: &'a Budget<'a>,
    pub(crate) settings: &'a PolicySettings,
    /// Time zones of the settings, at the time of the question.
    pub(crate) zones: &'a [ZoneTime],
}

/// A module's answer to a call that was made, or its own words where it declined.
type Answered<A> = wasmtime::Result<Result<A, PolicyError>>;

/// Asks a module in an instance of its own: `ask` calls it, and `answer` says in the core's words what came back.
fn asked<I, A, T>(
    call: &Call<'_>,
    (context, symbols): (&hook::Context, &hook::Symbols),
    instantiate: impl FnOnce(&mut Store<State>) -> wasmtime::Result<I>,
    ask: impl FnOnce(&mut Store<State>, &I, Lent<'_>) -> Answered<A>,
    answer: impl FnOnce(A) -> T,
) -> Called<T> {
    let texts = lend::texts(call.settings);
    let settings = lend::settings(call.settings, &texts);
    let zones = lend::zones(call.zones);
    sandbox::run(call.engine, call.budget, instantiate, |store, policy| {
        let lent = Lent {
            context: lend::context(context, &zones),
            settings: &settings,
            symbols: lend::symbols(symbols),
        };
        let answered = ask(store, policy, lent)?.map_err(declined)?;
        Ok(answer(answered))
    })
}

fn declined(error: PolicyError) -> Stopped {
    Stopped::Declined {
        code: error.code,
        message: error.message,
    }
}

fn raw_notes(notes: Vec<Note>) -> Vec<RawNote> {
    let raw = |note: Note| RawNote {
        reason: note.reason,
        text: note.text,
        terms: note.terms,
    };
    notes.into_iter().map(raw).collect()
}

/// Problems that a module found in its settings, each as its path and its message; empty where it found none.
fn problems(answer: Result<(), Vec<Problem>>) -> Vec<(String, String)> {
    let problems = answer.err().unwrap_or_default();
    let pairs = problems
        .into_iter()
        .map(|problem| (problem.path, problem.message));
    pairs.collect()
}

fn log_level(level: Level) -> LogLevel {
    match level {
        Level::Debug => LogLevel::Debug,
        Level::Info => LogLevel::Info,
        Level::Warn => LogLevel::Warn,
        Level::Error => LogLevel::Error,
    }
}
