//! A machine that is too busy does nothing to a module that would be held against it.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_guests::HOSTILE;
use plimsoll_hooks::rank::{PolicySettings, Setting};
use plimsoll_policy::{Engine, EngineSettings, Limits, Outcome, Refusal, Step};

use crate::common;

/// An engine with one place, for which no call waits.
fn busy() -> Engine {
    let limits = Limits {
        wait: Duration::ZERO,
        ..Limits::default()
    };
    Engine::new(EngineSettings {
        limits,
        concurrency: 1,
        guest_memory: Some(1 << 30),
        ..EngineSettings::default()
    })
    .unwrap()
}

#[test]
fn a_module_that_finds_no_room_to_be_asked_is_not_to_blame_and_is_taken_in_later() {
    let engine = busy();
    let behaviour = Setting::Text("loop".to_owned());
    let settings = PolicySettings::from([("behaviour".to_owned(), behaviour)]);
    let endless = engine.accept(HOSTILE, &settings).unwrap();
    let question = common::question(3, 800, 3);
    let is_seen = AtomicBool::new(false);
    let honest = plimsoll_policies::ranking("list-price").unwrap().bytes;
    let refused = std::thread::scope(|scope| {
        // Takes the only place again and again, until somebody has found it taken.
        scope.spawn(|| {
            while !is_seen.load(Ordering::Relaxed) {
                endless.price(&question);
            }
        });
        let refused = loop {
            if let Err(refusal) = engine.accept(honest, &PolicySettings::new()) {
                break refusal;
            }
        };
        is_seen.store(true, Ordering::Relaxed);
        refused
    });
    assert_eq!(
        refused,
        Refusal::Saturated {
            problem: "no room for a policy call of 32 MiB came free within 0 ms; all calls have 1024 MiB together, and at most 1 run at a time".to_owned()
        }
    );
    assert_eq!(refused.step(), Step::Agreement);
    assert!(!refused.blames_module());
    let accepted = engine.accept(honest, &PolicySettings::new()).unwrap();
    assert_eq!(accepted.price(&question).outcome(), Outcome::Ok);
}
