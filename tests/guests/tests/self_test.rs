//! Modules that carry questions with their answers: let in where they give them again to the bit, and refused with vector, row, field and
//! both values where they do not, or where what they carry is none.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_encode::{SELF_TEST_SECTION, with_self_test};
use plimsoll_guests::{HOSTILE, HOSTILE_BUDGET};
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_policy::records::{Excerpt, Reader, excerpt};
use plimsoll_policy::{
    AnyModule, Engine, EngineSettings, Limits, Refusal, SelfTest, SelfTestLimits, Step,
};
use serde_json::{Value, json};

use crate::modules::{limited, one_at_a_time};
use crate::vectors::{SUITE, behaving, file, lines, of, off_by_a_bit, with};
use crate::{common, recorded};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());
static HONEST: LazyLock<AnyModule> = LazyLock::new(|| accepted(&ENGINE, &PolicySettings::new()));
/// The honest module's answers.
static VECTORS: LazyLock<Vec<u8>> = LazyLock::new(|| of(&ENGINE, HOSTILE, SUITE));

fn accepted(engine: &Engine, settings: &PolicySettings) -> AnyModule {
    AnyModule::accept(engine, HOSTILE, &|_| Ok(settings.clone())).unwrap()
}

fn engine_of(self_test: SelfTestLimits) -> Engine {
    limited(Limits {
        self_test,
        ..Limits::default()
    })
}

/// The refusal of vectors that are put to the honest module.
#[track_caller]
fn refusal(vectors: &[u8]) -> Refusal {
    let refusal = HONEST.hold_to(vectors).unwrap_err();
    assert_eq!(refusal.step(), Step::SelfTest);
    assert!(refusal.blames_module() && !refusal.hint().is_empty());
    refusal
}

#[track_caller]
fn check_ends(vectors: &[u8], reason: &str, sentence: &str) {
    let refusal = refusal(vectors);
    assert_eq!(refusal.to_string(), sentence);
    assert_eq!(refusal.reason(), reason);
}

#[track_caller]
fn check_refused(vectors: &[u8], sentence: &str) {
    check_ends(vectors, "SelfTestRefused", sentence);
}

/// The same of our vectors once one of them, by its number, is changed.
#[track_caller]
fn check_changed(number: u64, change: impl FnOnce(&mut Value), sentence: &str) {
    check_refused(&with(&VECTORS, number, change), sentence);
}

#[track_caller]
fn check_failed(vectors: &[u8], sentence: &str) {
    check_ends(vectors, "SelfTestFailed", sentence);
}

#[test]
fn a_module_that_answers_its_vectors_is_let_in() {
    let module = with_self_test(HOSTILE, &VECTORS).unwrap();
    let seen = ENGINE.examine(&module, &|_| Ok(PolicySettings::new()));
    assert_eq!(seen.end, Ok(()));
    let last = seen.passed.last().unwrap();
    assert_eq!(
        (last.step, last.seen.as_str()),
        (Step::SelfTest, "2 vectors, 3 rows, answered as recorded")
    );
    let told = ENGINE.inspect(&module).unwrap().self_test;
    let carried = SelfTest {
        vectors: 2,
        rows: 3,
    };
    assert_eq!(told, Some(Ok(carried)));
    assert!(ENGINE.accept(&module, &PolicySettings::new()).is_ok());
    assert_eq!(ENGINE.inspect(HOSTILE).unwrap().self_test, None);
}

#[test]
fn a_price_that_is_another_in_its_last_bit_is_told_with_its_row_and_both_values() {
    let module = with_self_test(HOSTILE, &off_by_a_bit(&VECTORS)).unwrap();
    let refusal = ENGINE.accept(&module, &PolicySettings::new()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the module fails its self-test at vector 1 (price): then of row 1 (general, m5.large, a, on-demand) is 0.096; expected 0.09600000000000002, as recorded"
    );
    assert_eq!(refusal.reason(), "SelfTestFailed");
}

#[test]
fn a_vector_that_loops_traps_declines_or_is_answered_wrongly_fails() {
    let outcome = |behaviour: &str, outcome: &str| {
        let sentence = format!(
            "the module fails its self-test at vector 1 (price): outcome is {outcome}; expected ok, as recorded"
        );
        check_failed(&behaving(&VECTORS, behaviour), &sentence);
    };
    outcome(
        "loop",
        "fuel (the module used up its fuel, all of the 10002000 for a question of 2 rows; its manifest may ask for more with fuel_per_row)",
    );
    outcome(
        "panic",
        "trap (the module stopped: panicked at tests/guests/hostile/src/misbehave.rs:40:5: cannot answer 2 rows)",
    );
    outcome(
        "decline",
        "policy-error (the module declined (code 7): no [31m idea)",
    );
    outcome(
        "nan",
        "invalid-output (row 0 (pool general, c5.large, a, on-demand): `first` is NaN; expected dollars per hour in 0 to 100000, or +inf to veto)",
    );
    let words = refusal(&behaving(&VECTORS, "validate-panic")).to_string();
    let start = "the module fails its self-test at vector 1 (price): the module failed to check its settings: ";
    assert!(words.starts_with(start), "{words}");
}

#[test]
fn each_vector_is_put_under_its_own_settings() {
    let dearest = Setting::Text("dearest".to_owned());
    let dearest = accepted(
        &ENGINE,
        &PolicySettings::from([("behaviour".to_owned(), dearest)]),
    );
    assert!(dearest.hold_to(&VECTORS).is_ok());
    let words = refusal(&behaving(&VECTORS, "dearest")).to_string();
    assert!(
        words.contains(" is 999.915; expected 0.085, as recorded"),
        "{words}"
    );
    let filled_in = with(&VECTORS, 2, |record| record["settings"] = json!({}));
    assert!(HONEST.hold_to(&filled_in).is_ok(), "defaults are filled in");
}

#[test]
fn settings_that_do_not_fit_are_refused_with_their_vector() {
    check_changed(
        2,
        |record| record["settings"] = json!({"behavior": "honest"}),
        "the module's self-test has a vector 2 (price) under settings that do not fit: setting behavior: is not a setting of this policy; did you mean behaviour?",
    );
    let words = refusal(&behaving(&VECTORS, "validate-refuses")).to_string();
    assert!(words.contains("vector 1 (price) under settings"), "{words}");
    assert!(!words.contains(char::is_control) && words.len() < 2_000);
}

#[test]
fn what_is_no_file_of_vectors_is_refused() {
    let heading = "line 1: expected the heading of decision records on line 1 and nowhere else";
    let unread = format!("the module's self-test cannot be read: {heading}");
    check_refused(b"", &unread);
    check_refused(b"\xff\xfe\0garbage\n", &unread);
    check_refused(b"{\"records\":1}\n", &unread);
    let all = lines(&VECTORS);
    check_refused(&file(&all[..1]), "the module's self-test has no vector");
    let mut newer = all.clone();
    newer[0]["records"]["version"] = "v2".into();
    check_refused(
        &file(&newer),
        "the module's self-test cannot be read: line 1: version is \"v2\"; expected \"v1alpha1\"",
    );
    let words = refusal(&[&VECTORS[..], b"{\"verdict\":1}\n"].concat()).to_string();
    let start = format!(
        "the module's self-test cannot be read: line {} is no line of records: ",
        all.len() + 1
    );
    assert!(words.starts_with(&start), "{words}");
}

#[test]
fn vectors_cut_within_a_line_are_refused_wherever_it_is() {
    for at in (0..VECTORS.len() - 1).step_by(23) {
        let is_whole = [VECTORS[at], VECTORS[at.max(1) - 1]].contains(&b'\n');
        let held = HONEST.hold_to(&VECTORS[..at]);
        assert!(is_whole || held.is_err(), "cut at {at}");
    }
    let count = lines(&VECTORS).len();
    check_refused(
        &VECTORS[..VECTORS.len() - 5],
        &format!("the module's self-test ends in the middle of line {count}"),
    );
}

#[test]
fn a_vector_for_another_hook_or_without_an_answer_is_refused() {
    let pools = "cases: [{ name: one, input: { pools: { general: { nodes: 9 } } } }]";
    let budget = of(&ENGINE, HOSTILE_BUDGET, pools);
    check_refused(
        &budget,
        "the module's self-test has a vector 1 (allow) that asks a budget policy; this is a ranking policy",
    );
    let module = with_self_test(HOSTILE, &budget).unwrap();
    assert!(ENGINE.accept(&module, &PolicySettings::new()).is_err());
    let told = ENGINE.inspect(&module).unwrap().self_test;
    assert_eq!(told.unwrap().unwrap_err().reason(), "SelfTestRefused");

    check_changed(
        2,
        |record| record["outcome"] = "trap".into(),
        "the module's self-test has a vector 2 (price) that was recorded as trap; expected an answer",
    );
    check_changed(
        2,
        |record| record["answer"] = Value::Null,
        "the module's self-test has a vector 2 (price) that was recorded as ok; expected an answer",
    );
}

#[test]
fn a_question_that_is_torn_or_has_parts_that_are_not_there_is_refused() {
    check_changed(
        1,
        |record| record["question"] = json!({"part": "0"}),
        "the module's self-test has a vector 1 (price) that cannot be put together: part 0 is not among the lines before; expected it there",
    );
    let torn = with(&VECTORS, 1, |record| record["question"] = json!({}));
    let words = refusal(&torn).to_string();
    assert!(
        words.starts_with("the module's self-test has a vector 1 (price) that cannot be put to anybody: is no price question: missing field"),
        "{words}"
    );
    check_changed(
        1,
        |record| record["answer"]["then"] = json!({"part": "0"}),
        "the module's self-test has a vector 1 (price) whose answer is torn: part 0 is not among the lines before; expected it there",
    );
}

#[test]
fn parts_that_double_each_other_are_not_put_together() {
    let mut lines = lines(&VECTORS);
    let mut last = json!({"numbers": vec!["1"; 1_000].join(" ")});
    let mut add = |value: Value| {
        let sha256 = plimsoll_policy::digest(value.to_string().as_bytes());
        lines.insert(
            lines.len() - 1,
            json!({"part": {"sha256": sha256, "value": value}}),
        );
        json!({"part": sha256})
    };
    for _ in 0..12 {
        last = add(json!([last, last, last, last]));
    }
    let bomb = with(&file(&lines), 2, |record| record["question"] = last);
    assert!(bomb.len() < 20_000);
    let words = refusal(&bomb).to_string();
    let start = "the module's self-test has a vector 2 (price) that comes to more than the 249";
    assert!(words.starts_with(start), "{words}");
}

#[test]
fn what_vectors_come_to_is_capped() {
    let limits = SelfTestLimits::default();
    let refused = |limits: SelfTestLimits| {
        let engine = engine_of(limits);
        let held = accepted(&engine, &PolicySettings::new()).hold_to(&VECTORS);
        held.unwrap_err().to_string()
    };
    let said = refused(SelfTestLimits {
        bytes: 1_000,
        ..limits.clone()
    });
    let bytes = VECTORS.len();
    assert_eq!(
        said,
        format!("the module's self-test has {bytes} bytes; at most 1000 are allowed")
    );
    let said = refused(SelfTestLimits {
        vectors: 1,
        ..limits.clone()
    });
    assert_eq!(said, "the module's self-test has more than 1 vectors");
    let said = refused(SelfTestLimits {
        rows: 2,
        ..limits.clone()
    });
    assert_eq!(said, "the module's self-test asks about more than 2 rows");
    let said = refused(SelfTestLimits {
        cpu: Duration::ZERO,
        ..limits
    });
    assert_eq!(
        said,
        "the module fails its self-test at vector 1 (price): the vectors took more than 0 ms of CPU time together"
    );
}

#[test]
fn a_second_self_test_is_refused() {
    let once = with_self_test(HOSTILE, &VECTORS).unwrap();
    assert!(with_self_test(&once, &VECTORS).is_err());
    // A custom section: its length, its name with its length, and nothing in it.
    let mut twice = once.clone();
    twice.extend_from_slice(&[0, 26, 25]);
    twice.extend_from_slice(SELF_TEST_SECTION.as_bytes());
    let refusal = ENGINE.accept(&twice, &PolicySettings::new()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the module's self-test is there more than once"
    );
}

#[test]
fn a_machine_without_room_is_not_held_against_the_module() {
    let engine = one_at_a_time(Some(1 << 30));
    let endless =
        PolicySettings::from([("behaviour".to_owned(), Setting::Text("loop".to_owned()))]);
    let AnyModule::Rank(endless) = accepted(&engine, &endless) else {
        unreachable!("it is a ranking policy");
    };
    let honest = accepted(&engine, &PolicySettings::new());
    let question = common::question(3, 800, 3);
    let is_seen = AtomicBool::new(false);
    let refused = std::thread::scope(|scope| {
        // Takes the only place again and again, until somebody has found it taken.
        scope.spawn(|| {
            while !is_seen.load(Ordering::Relaxed) {
                endless.price(&question);
            }
        });
        let refused = loop {
            if let Err(refusal) = honest.hold_to(&VECTORS) {
                break refusal;
            }
        };
        is_seen.store(true, Ordering::Relaxed);
        refused
    });
    assert!(
        matches!(refused, Refusal::SelfTestSaturated { .. }),
        "{refused}"
    );
    assert_eq!(
        (refused.step(), refused.reason(), refused.blames_module()),
        (Step::SelfTest, "Saturated", false)
    );
    assert!(honest.hold_to(&VECTORS).is_ok(), "it is tried again");
}

/// The decisions of a shipped policy in records of several.
fn cut(records: &[u8], name: &str, limits: &SelfTestLimits) -> Excerpt {
    let shipped = plimsoll_policies::ranking(name).unwrap();
    let manifest = ENGINE.inspect(shipped.bytes).unwrap().manifest;
    excerpt(Reader::begin(records).unwrap(), &manifest, limits).unwrap()
}

#[test]
fn an_excerpt_has_the_decisions_of_one_policy_and_is_the_same_wherever_they_were_recorded() {
    let limits = SelfTestLimits::default();
    let records = recorded::records(&ENGINE, 15, 4);
    let some = cut(&records, "spot-diversified", &limits);
    assert_eq!((some.holds.vectors, some.found), (3, 3));
    assert!(some.bytes.len() < records.len() / 2);
    let shipped = plimsoll_policies::ranking("spot-diversified").unwrap();
    let module = AnyModule::accept(&ENGINE, shipped.bytes, &|_| Ok(PolicySettings::new()));
    assert_eq!(module.unwrap().hold_to(&some.bytes), Ok(some.holds));

    let mut elsewhere = lines(&records);
    elsewhere[0]["records"]["engine"] = "wasmtime-0".into();
    for line in &mut elsewhere {
        if let Some(record) = line.get_mut("decision") {
            record["fuel"] = 7.into();
        }
    }
    assert_eq!(cut(&file(&elsewhere), "spot-diversified", &limits), some);
    assert_eq!(cut(&records, "list-price", &limits).found, 0);
}

#[test]
fn an_excerpt_has_as_many_decisions_as_a_module_may_carry() {
    let records = recorded::records(&ENGINE, 15, 4);
    let limits = SelfTestLimits {
        vectors: 2,
        ..SelfTestLimits::default()
    };
    let some = cut(&records, "spot-diversified", &limits);
    assert_eq!((some.holds.vectors, some.found), (2, 3));
    let few = SelfTestLimits {
        bytes: some.bytes.len() - 1,
        ..limits
    };
    assert_eq!(cut(&records, "spot-diversified", &few).holds.vectors, 1);
    let none = SelfTestLimits { values: 10, ..few };
    assert_eq!(cut(&records, "spot-diversified", &none).holds.vectors, 0);
}
