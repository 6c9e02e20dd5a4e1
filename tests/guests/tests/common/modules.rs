//! Modules as tests accept them: those that are shipped, and those that misbehave.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::time::Duration;

use plimsoll_guests::HOSTILE;
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_policy::{Considered, Engine, EngineSettings, Limits, Module, Outcome};

/// Settings of one name with a text.
pub(crate) fn text(name: &str, value: &str) -> PolicySettings {
    PolicySettings::from([(name.to_owned(), Setting::Text(value.to_owned()))])
}

/// Settings of a hostile guest.
pub(crate) fn behaving(behaviour: &str) -> PolicySettings {
    text("behaviour", behaviour)
}

/// A shipped ranking policy, under its default settings.
pub(crate) fn shipped(engine: &Engine, name: &str) -> Module {
    let bytes = plimsoll_policies::ranking(name).unwrap().bytes;
    engine.accept(bytes, &PolicySettings::new()).unwrap()
}

/// The ranking policy that misbehaves so.
pub(crate) fn hostile(engine: &Engine, behaviour: &str) -> Module {
    engine.accept(HOSTILE, &behaving(behaviour)).unwrap()
}

/// An engine under these limits.
pub(crate) fn limited(limits: Limits) -> Engine {
    let settings = EngineSettings {
        limits,
        ..EngineSettings::default()
    };
    Engine::new(settings).unwrap()
}

/// An engine with one place for calls, for which no call waits, and so many bytes for the memories of guests.
pub(crate) fn one_at_a_time(guest_memory: Option<u64>) -> Engine {
    let limits = Limits {
        wait: Duration::ZERO,
        ..Limits::default()
    };
    let settings = EngineSettings {
        limits,
        concurrency: 1,
        guest_memory,
        ..EngineSettings::default()
    };
    Engine::new(settings).unwrap()
}

/// The first note for people says one thing, and ends with what was done instead.
#[track_caller]
pub(crate) fn noted(considered: &Considered, says: &str, end: &str) {
    let told = &considered.notes[0];
    assert!(told.contains(says) && told.ends_with(end), "{told}");
}

/// Behaviours that guests of all hooks share, with how a call ends and a part of the sentence; of a question of so many rows.
pub(crate) fn misbehaviours(rows: usize) -> [(&'static str, Outcome, String); 6] {
    [
        ("loop", Outcome::Fuel, "used up its fuel".to_owned()),
        ("recurse", Outcome::Trap, "the module".to_owned()),
        ("memory", Outcome::Memory, "more than 32 MiB".to_owned()),
        ("panic", Outcome::Trap, format!("cannot answer {rows} rows")),
        (
            "log-flood",
            Outcome::Trap,
            "more than 1000 log lines".to_owned(),
        ),
        (
            "decline",
            Outcome::PolicyError,
            "(code 7): no [31m idea".to_owned(),
        ),
    ]
}
