//! Each misbehaviour ends in its own class, with a sentence, and the next call of another module is unaffected.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use plimsoll_guests::HOSTILE;
use plimsoll_hooks::rank::{PolicySettings, Setting, list_price};
use plimsoll_policy::{Called, Engine, EngineSettings, Module, Outcome};

use crate::common;

fn engine() -> Engine {
    Engine::new(EngineSettings::default()).unwrap()
}

fn settings(behaviour: &str) -> PolicySettings {
    PolicySettings::from([("behaviour".to_owned(), Setting::Text(behaviour.to_owned()))])
}

fn honest(engine: &Engine) -> Module {
    let shipped = plimsoll_policies::ranking("list-price").unwrap();
    engine
        .accept(shipped.bytes, &PolicySettings::new())
        .unwrap()
}

/// Calls the module under that behaviour, then an honest module; the latter must answer as always.
#[track_caller]
fn check<'a>(
    behaviour: &str,
    outcome: Outcome,
    sentence: impl Into<Option<&'a str>>,
) -> Called<()> {
    let engine = engine();
    let question = common::question(2, 3, 3);
    let hostile = engine.accept(HOSTILE, &settings(behaviour)).unwrap();
    let called = hostile.price(&question);
    assert_eq!(called.outcome(), outcome, "{:?}", called.result);
    let said = called
        .result
        .as_ref()
        .err()
        .map(ToString::to_string)
        .unwrap_or_default();
    assert!(said.contains(sentence.into().unwrap_or_default()), "{said}");
    assert_eq!(
        honest(&engine).price(&question).result.unwrap().raw,
        list_price(&question)
    );
    assert!(called.memory_peak <= 32 << 20);
    let Called {
        fuel,
        memory_peak,
        log,
        log_dropped,
        ..
    } = called;
    Called {
        result: Ok(()),
        fuel,
        memory_peak,
        log,
        log_dropped,
    }
}

#[test]
fn an_honest_answer_is_ok_and_has_its_costs() {
    let called = check("honest", Outcome::Ok, None);
    assert!(called.fuel > 0 && called.memory_peak > 0);
}

#[test]
fn a_loop_ends_with_its_fuel() {
    check("loop", Outcome::Fuel, "used up its fuel");
}

#[test]
fn endless_recursion_is_a_trap() {
    check("recurse", Outcome::Trap, "the module");
}

#[test]
fn a_memory_bomb_is_refused_memory() {
    check("memory", Outcome::Memory, "more than 32 MiB");
}

#[test]
fn a_panic_says_what_and_where() {
    check("panic", Outcome::Trap, "cannot answer 18 rows");
}

#[test]
fn a_declined_question_carries_the_modules_words_cleaned() {
    check(
        "decline",
        Outcome::PolicyError,
        "the module declined (code 7): no [31m idea",
    );
}

#[test]
fn answers_that_are_too_short_or_too_long_are_invalid() {
    check(
        "short",
        Outcome::InvalidOutput,
        "answer column `first` has 0 rows; the question has 18 candidates",
    );
    check(
        "huge",
        Outcome::InvalidOutput,
        "the module's answer cannot be read",
    );
}

#[test]
fn prices_out_of_range_are_invalid() {
    let place = "row 0 (pool pool-0, f0.0, a, on-demand)";
    check(
        "nan",
        Outcome::InvalidOutput,
        format!("{place}: `first` is NaN").as_str(),
    );
    check(
        "negative",
        Outcome::InvalidOutput,
        format!("{place}: `first` is -1").as_str(),
    );
    check(
        "first-above-then",
        Outcome::InvalidOutput,
        "`first` must not be above `then`",
    );
    check(
        "group-counts",
        Outcome::InvalidOutput,
        "a group has one count",
    );
}

#[test]
fn floods_of_lines_are_stopped() {
    check("log-flood", Outcome::Trap, "more than 1000 log lines");
    let called = check("log-bomb", Outcome::InvalidOutput, None);
    assert!(called.log.is_empty());
}

#[test]
fn lines_are_kept_up_to_64_and_on_one_line_each() {
    let called = check("chatter", Outcome::Ok, None);
    assert_eq!((called.log.len(), called.log_dropped), (64, 36));
    assert_eq!(called.log[3].message, "line 3");
}

#[test]
fn the_same_question_costs_the_same_fuel() {
    assert_eq!(
        check("honest", Outcome::Ok, None).fuel,
        check("honest", Outcome::Ok, None).fuel
    );
}
