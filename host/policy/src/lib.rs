//! Policy modules: bytes in, checked numbers out.
//!
//! An [`Engine`] accepts a module's bytes through gates, each with its own refusal, and gives a [`Module`] for ranking, a
//! [`ConsolidationModule`] or a [`BudgetModule`]. A module answers the questions of its hook; every call gets a fresh instance,
//! a budget of fuel, CPU time and memory, and ends in one [`Outcome`]. A module that fails is an outcome, never an error of
//! ours. [`decide`] carries all questions of a decision what to buy, [`consider`] those of one about nodes that might go; what each does
//! when a module fails is said there. [`Policies`] is a set that decides together; a [`Generation`] of it sets a module aside that keeps
//! failing, and [`Generations`] exchanges modules while decisions run.
//!
//! Invariants:
//! - A module sees its arguments and can leave log lines; nothing else is linked.
//! - Calls share nothing: store, instance and memory live for one call.
//! - An answer leaves this crate only after the checks of the core have passed it.
//! - Interface versions meet the core in [`track`] and nowhere else.

mod accept;
mod allow;
mod any;
mod bindings;
mod breaker;
mod clock;
mod compile;
mod consider;
mod cost_cap;
mod decide;
mod engine;
mod fingerprint;
mod gate;
mod generation;
mod generations;
mod guest_memory;
mod limits;
mod manifest;
mod module;
mod named;
mod note;
mod observer;
mod outcome;
mod package;
mod permits;
mod policies;
mod recent;
pub mod records;
mod room;
mod sandbox;
mod score;
mod settings;
mod shadow;
mod shape;
mod slot;
mod step;
mod text;
mod ticker;
mod together;
mod track;
mod unpack;
mod words;
mod world;
mod zone;

pub use accept::{Examination, Given, Inspection, Passed};
pub use allow::{Allowed, Budgeter, allow};
pub use any::AnyModule;
pub use breaker::{Cause, Turn};
pub use clock::thread_cpu_time;
pub use compile::{CompileError, Compiler, Helper, compile_for_parent};
pub use consider::{Advisers, Considered, consider};
pub use decide::{Decision, ListPrice, Ranker, RankerFacts, decide, decide_within, note_guards};
pub use engine::{Engine, EngineError, EngineSettings};
pub use gate::Refusal;
pub use generation::{Binding, Generation, Successor};
pub use generations::{Candidate, Finding, Generations};
pub use limits::{CallLimits, CompileLimits, Limits, SHADOW_SHARE, SelfTestLimits};
pub use manifest::{AskedLimits, Hook, Manifest, ReasonText, Unit};
pub use module::{BudgetModule, Checked, ConsolidationModule, HookModule, Module};
pub use named::Named;
pub use note::{MOST_NOTES, Note};
pub use observer::{Asked, EndedCall, Observer, ask_observed};
pub use outcome::{Called, Fault, LogLevel, LogLine, Outcome};
pub use package::{
    Entries, INDEX, MOST_BYTES, SHA256, WHOLE, assemble, digest, lay_out, part_name,
    parts_elsewhere, verify,
};
pub use policies::Policies;
pub use recent::RecentCalls;
pub use records::SelfTest;
pub use score::{BuiltIn, Consolidator, Scored, score};
pub use settings::{Property, Schema};
pub use shadow::{Differing, Lists, Shadow, ShadowLog, ShadowSettings, WhenBehind};
pub use step::Step;
pub use zone::ZoneTime;
