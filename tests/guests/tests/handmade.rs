//! Modules made instruction by instruction, for what no compiler writes: work at the start, and answers that lie about
//! where they are and how long they are.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::time::Duration;

use plimsoll_guests::handmade;
use plimsoll_hooks::rank::{PolicySettings, list_price};
use plimsoll_policy::{Called, Engine, EngineSettings, Limits, Module, Outcome, Refusal};

use crate::common;
use crate::modules::limited;

fn engine() -> Engine {
    Engine::new(EngineSettings::default()).unwrap()
}

fn accept(engine: &Engine, name: &str) -> Result<Module, Refusal> {
    engine.accept(handmade(name).unwrap(), &PolicySettings::new())
}

/// An honest module of the same engine must answer as always.
#[track_caller]
fn check_others(engine: &Engine) {
    let shipped = plimsoll_policies::ranking("list-price").unwrap();
    let question = common::question(2, 3, 3);
    let honest = engine
        .accept(shipped.bytes, &PolicySettings::new())
        .unwrap();
    assert_eq!(
        honest.price(&question).result.unwrap().raw,
        list_price(&question)
    );
}

#[track_caller]
fn check_lie(name: &str, sentence: &str) {
    let engine = engine();
    let module = accept(&engine, name).unwrap();
    let called: Called<_> = module.price(&common::question(2, 3, 3));
    assert_eq!(called.outcome(), Outcome::InvalidOutput);
    let said = called.result.unwrap_err().to_string();
    assert!(said.contains(sentence), "{said}");
    check_others(&engine);
}

/// Why a module is refused whose start function fails; others are not disturbed by it.
#[track_caller]
fn failed_start(name: &str) -> String {
    let engine = engine();
    let refusal = accept(&engine, name).unwrap_err();
    assert_eq!(refusal.reason(), "StartFailed");
    check_others(&engine);
    refusal.to_string()
}

#[test]
fn a_start_function_that_loops_is_refused_when_its_fuel_is_gone() {
    assert_eq!(
        failed_start("start-loops"),
        "the module failed to check its settings: the module used up its fuel, all of the 10000000"
    );
}

#[test]
fn a_start_function_that_traps_is_refused() {
    failed_start("start-traps");
}

#[test]
fn a_loop_is_caught_by_the_deadline_where_fuel_would_last() {
    let limits = Limits {
        fuel_start: u64::MAX,
        ..Limits::default()
    };
    let engine = limited(limits);
    let refusal = accept(&engine, "start-loops").unwrap_err();
    assert!(refusal.to_string().contains("100 ms of CPU time"));
    check_others(&engine);
}

#[test]
fn a_call_that_the_machine_gives_no_time_is_not_held_against_the_module() {
    let limits = Limits {
        fuel_start: u64::MAX,
        cpu_rank: Duration::MAX,
        wall: Duration::ZERO,
        ..Limits::default()
    };
    let engine = limited(limits);
    let refusal = accept(&engine, "start-loops").unwrap_err().to_string();
    assert!(
        refusal.contains("the machine gave the module too little time"),
        "{refusal}"
    );
    assert!(!Outcome::Saturated.blames_module() && Outcome::Deadline.blames_module());
}

#[test]
fn lists_that_are_not_where_they_say_are_invalid() {
    for lie in ["list-of-4g", "list-outside", "list-unaligned"] {
        check_lie(lie, "the module's answer cannot be read");
    }
}

#[test]
fn a_list_of_another_length_is_invalid() {
    check_lie("list-short", "has 17 rows; the question has 18");
}

/// What becomes of a call of a module that may have 4 MiB of memory, and the most memory that it had.
fn within_four_mib(name: &str) -> (Outcome, usize) {
    let engine = limited(Limits {
        memory: 4 << 20,
        ..Limits::default()
    });
    let module = accept(&engine, name).unwrap();
    let called = module.price(&common::question(2, 3, 3));
    check_others(&engine);
    (called.outcome(), called.memory_peak)
}

#[test]
fn growth_that_a_memory_forbids_itself_is_not_counted_and_blames_no_limit() {
    // What it began with is the most that it had.
    let ended = within_four_mib("own-maximum");
    assert_eq!(ended, (Outcome::Trap, 16 << 16));
}

#[test]
fn growth_that_no_memory_can_have_gives_no_room_beside_the_limit() {
    let ended = within_four_mib("memory-grows-beyond");
    assert_eq!(ended, (Outcome::Ok, 4 << 20));
}

#[track_caller]
fn check_shape(name: &str, sentence: &str) {
    let refusal = accept(&engine(), name).unwrap_err();
    assert_eq!(refusal.reason(), "ShapeRefused");
    assert_eq!(refusal.to_string(), sentence);
}

#[test]
fn functions_that_are_dear_to_compile_are_refused_before_they_are_compiled() {
    check_shape(
        "many-locals",
        "the module has 60000 locals in function 0; at most 512 are allowed",
    );
    check_shape(
        "long-function",
        "the module has 307202 bytes of code in function 0; at most 262144 are allowed",
    );
    check_shape(
        "many-branches",
        "the module has 3000 branch table targets in function 0; at most 2000 are allowed",
    );
}
