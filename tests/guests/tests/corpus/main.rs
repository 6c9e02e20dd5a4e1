//! The hostile corpus: one behaviour each, the right class each; the next call of another module is unaffected, and ten thousand mixed
//! calls leave nothing behind.
//!
//! One test runs alone in this process, since it reads how much memory the process has.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

#[path = "../common/mod.rs"]
mod common;

use plimsoll_guests::{HOSTILE, handmade};
use plimsoll_hooks::rank::{PolicySettings, PriceQuestion, Setting, list_price};
use plimsoll_policy::{Engine, EngineSettings, Limits, Module, Outcome, Refusal};

/// End of a guest: refused, or the outcome of its call.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Verdict {
    /// Its bytes or settings are refused, for that reason.
    Refused(&'static str),
    /// It is taken in, and its calls end so.
    Ends(Outcome),
}

use Outcome::{Fuel, InvalidOutput, Memory, Ok as Answers, PolicyError, Trap};
use Verdict::{Ends, Refused};

/// Behaviours of the guest that a compiler made.
const WRITTEN: &[(&str, Verdict)] = &[
    ("honest", Ends(Answers)),
    ("loop", Ends(Fuel)),
    ("slow", Ends(Answers)),
    ("recurse", Ends(Trap)),
    ("memory", Ends(Memory)),
    ("panic", Ends(Trap)),
    ("tenant", Ends(Answers)),
    ("decline", Ends(PolicyError)),
    ("decline-in-html", Ends(PolicyError)),
    ("decline-at-length", Ends(PolicyError)),
    ("decline-without-end", Ends(InvalidOutput)),
    ("nan", Ends(InvalidOutput)),
    ("negative", Ends(InvalidOutput)),
    ("below", Ends(InvalidOutput)),
    ("beyond", Ends(InvalidOutput)),
    ("infinite", Ends(Answers)),
    ("dearest", Ends(Answers)),
    ("reversed", Ends(Answers)),
    ("unknown-reason", Ends(Answers)),
    ("remembers", Ends(Answers)),
    ("first-above-then", Ends(InvalidOutput)),
    ("group-counts", Ends(InvalidOutput)),
    ("short", Ends(InvalidOutput)),
    ("huge", Ends(InvalidOutput)),
    ("chatter", Ends(Answers)),
    ("log-flood", Ends(Trap)),
    ("log-bomb", Ends(InvalidOutput)),
    ("validate-panic", Refused("StartFailed")),
    ("validate-refuses", Refused("SettingsRefused")),
];

/// Guests made instruction by instruction, and bombs.
const MADE: &[(&str, Verdict)] = &[
    ("gives-away", Ends(Answers)),
    ("start-loops", Refused("StartFailed")),
    ("start-traps", Refused("StartFailed")),
    ("answer-loops", Ends(Fuel)),
    ("answer-traps", Ends(Trap)),
    ("list-of-4g", Ends(InvalidOutput)),
    ("list-outside", Ends(InvalidOutput)),
    ("list-unaligned", Ends(InvalidOutput)),
    ("list-short", Ends(InvalidOutput)),
    ("neither-answer-nor-error", Ends(InvalidOutput)),
    ("error-outside", Ends(InvalidOutput)),
    ("realloc-loops", Refused("StartFailed")),
    ("realloc-outside", Refused("StartFailed")),
    ("realloc-unaligned", Refused("StartFailed")),
    ("realloc-nowhere", Ends(InvalidOutput)),
    ("table-grows", Ends(Answers)),
    ("table-of-a-million", Refused("CompileFailed")),
    ("memory-grows", Ends(Answers)),
    ("memory-grows-beyond", Ends(Answers)),
    ("own-maximum", Ends(Trap)),
    ("memory-of-2g", Refused("CompileFailed")),
];

fn behaving(behaviour: &str) -> PolicySettings {
    let behaviour = Setting::Text(behaviour.to_owned());
    PolicySettings::from([("behaviour".to_owned(), behaviour)])
}

/// An engine of small limits, so that what runs to its limit is done sooner.
fn engine() -> Engine {
    let limits = Limits {
        fuel_base: 4_000_000,
        memory: 4 << 20,
        ..Limits::default()
    };
    Engine::new(EngineSettings {
        limits,
        concurrency: 2,
        ..EngineSettings::default()
    })
    .unwrap()
}

/// All guests that can be called or refused, with what becomes of them.
fn guests(engine: &Engine) -> Vec<(&'static str, Result<Module, Refusal>, Verdict)> {
    let written = WRITTEN.iter().map(|(name, verdict)| {
        let accepted = engine.accept(HOSTILE, &behaving(name));
        (*name, accepted, *verdict)
    });
    let made = MADE.iter().map(|(name, verdict)| {
        let accepted = engine.accept(handmade(name).unwrap(), &PolicySettings::new());
        (*name, accepted, *verdict)
    });
    written.chain(made).collect()
}

/// The end of a guest.
fn verdict(accepted: &Result<Module, Refusal>, question: &PriceQuestion) -> Verdict {
    match accepted {
        Ok(module) => Ends(module.price(question).outcome()),
        Err(refusal) => Refused(refusal.reason()),
    }
}

fn shipped(engine: &Engine) -> Module {
    let bytes = plimsoll_policies::ranking("list-price").unwrap().bytes;
    engine.accept(bytes, &PolicySettings::new()).unwrap()
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let told = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = told.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// A generator of numbers that are all over the place, the same in every run.
fn next(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    usize::try_from(*state >> 33).unwrap()
}

const CALLS: usize = 10_000;
/// Bytes of memory that the process may have above its level.
const MOST_ABOVE: usize = 10 << 20;

#[test]
fn every_guest_ends_in_its_class_and_ten_thousand_calls_leave_nothing_behind() {
    let engine = engine();
    let question = common::question(2, 3, 3);
    let honest = shipped(&engine);
    let guests = guests(&engine);
    let others_are_well = |after: &str| {
        let raw = honest.price(&question).result.unwrap().raw;
        assert_eq!(raw, list_price(&question), "after {after}");
    };
    let mut surprises = Vec::new();
    for (name, accepted, expected) in &guests {
        let found = verdict(accepted, &question);
        if found != *expected {
            surprises.push(format!("{name}: {found:?}, {accepted:?}"));
        }
        others_are_well(name);
    }
    assert_eq!(surprises, Vec::<String>::new());
    let called: Vec<_> = guests
        .iter()
        .filter_map(|(name, accepted, expected)| Some((name, accepted.as_ref().ok()?, expected)))
        .collect();
    let (mut state, level) = (7, resident());
    for call in 0..CALLS {
        let (name, module, expected) = called[next(&mut state) % called.len()];
        assert_eq!(Ends(module.price(&question).outcome()), *expected, "{name}");
        if call % 100 == 0 {
            others_are_well(name);
            let above = resident().saturating_sub(level);
            assert!(above <= MOST_ABOVE, "{above} bytes more after {call} calls");
        }
    }
}
