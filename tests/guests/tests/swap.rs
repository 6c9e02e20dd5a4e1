//! Modules are exchanged while decisions run: no decision fails, none mixes two generations, and a candidate that breaks at whatever gate
//! leaves the one that serves, with the step, the reason and the remedy.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use plimsoll_core::hook::{Setting, Settings};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_guests::{HOSTILE, HOSTILE_BUDGET, handmade};
use plimsoll_oracles::fixture::{OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_policy::{
    Candidate, Compiler, Engine, EngineSettings, Finding, Generations, Helper, Hook, INDEX, Module,
    Policies, Step, Successor, WHOLE,
};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

fn marking(mark: u32) -> Settings {
    Settings::from([
        ("behaviour".to_owned(), Setting::Text("marks".to_owned())),
        ("mark".to_owned(), Setting::Number(mark.into())),
    ])
}

/// A module whose prices and order both show its mark.
fn marked(mark: u32) -> Module {
    ENGINE.accept(HOSTILE, &marking(mark)).unwrap()
}

/// A module's bytes as a ConfigMap carries them.
fn entries(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([(WHOLE[1].to_owned(), bytes.to_vec())])
}

fn offer<'c>(hook: Hook, bytes: &[u8], settings: &'c Settings) -> Candidate<'c> {
    let _ = settings;
    Candidate {
        hook,
        place: 0,
        entries: entries(bytes),
        sha256: None,
        settings: &|_| Ok(Settings::new()),
    }
}
