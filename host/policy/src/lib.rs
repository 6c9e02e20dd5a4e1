//! Policy modules: bytes in, checked numbers out.
//!
//! An [`Engine`] accepts a module's bytes through gates, each with its own refusal, and gives a [`Module`]. A module
//! answers the questions of `plimsoll_core::rank`; every call gets a fresh instance, a budget of fuel, CPU time and
//! memory, and ends in one [`Outcome`]. A module that fails is an outcome, never an error of ours. [`decide`] carries all
//! questions of one decision.
//!
//! Invariants:
//! - A module sees its arguments and can leave log lines; nothing else is linked.
//! - Calls share nothing: store, instance and memory live for one call.
//! - An answer leaves this crate only after the checks of the core have passed it.
//! - Interface versions meet the core in [`track`] and nowhere else.

mod clock;
mod decide;
mod engine;
mod gate;
mod limits;
mod manifest;
mod module;
mod outcome;
mod permits;
mod sandbox;
mod settings;
mod shape;
mod text;
mod ticker;
mod track;
mod unpack;
mod world;

pub use decide::{Decision, ListPrice, Ranker, decide, decide_again, note_guards};
pub use engine::{Engine, EngineError, EngineSettings};
pub use gate::Refusal;
pub use limits::Limits;
pub use manifest::{AskedLimits, Hook, Manifest, ReasonText, Unit};
pub use module::{Checked, Module};
pub use outcome::{Called, Fault, LogLevel, LogLine, Outcome};
pub use settings::Schema;
