//! Records of decisions: replayed to the byte with any number of threads, stored once, and refused with a sentence where a file
//! was cut, changed or made up.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::{Arc, LazyLock};

use plimsoll_hooks::hook::PolicySettings;
use plimsoll_model::OwnerKind;
use plimsoll_model::command::DisruptionQuestion;
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, OnDemand, ZONE_1, cluster, instance_type, machine, node, pod, pool,
};
use plimsoll_oracles::judge::cases;
use plimsoll_policy::records::{
    Entry, InMemory, Reader, RecordStore, Recorder, RecordsError, Replayed, digest_of_decision,
    replay,
};
use plimsoll_policy::{Engine, EngineSettings, Generation, Policies};
use plimsoll_schedule::Session;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::recorded::{records, store};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());
static STORE: LazyLock<RecordStore> = LazyLock::new(|| store(&ENGINE));
/// A decision of each kind, one of which is a fault.
static FIVE: LazyLock<Vec<u8>> = LazyLock::new(|| records(&ENGINE, 5, 4));

fn replayed(bytes: &[u8], threads: usize) -> Result<Replayed, String> {
    let replayed = || anyhow::Ok(replay(Reader::begin(bytes)?, &STORE, threads)?);
    replayed().map_err(|error| format!("{error:#}"))
}

/// The lines of a file, to be changed.
fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn file(lines: &[Value]) -> Vec<u8> {
    let lines = lines.iter().map(|line| format!("{line}\n"));
    lines.collect::<String>().into_bytes()
}

/// The records with the one of that number changed.
fn with(bytes: &[u8], number: u64, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut lines = lines(bytes);
    let mut records = lines.iter_mut().filter_map(|line| line.get_mut("decision"));
    change(records.find(|record| record["number"] == number).unwrap());
    file(&lines)
}

#[test]
fn hundreds_of_decisions_are_equal_to_the_byte_with_any_number_of_threads() {
    let bytes = records(&ENGINE, 300, 20);
    let one = replayed(&bytes, 1).unwrap();
    assert_eq!((one.decisions, one.passed_over), (300, 0));
    assert_eq!((&one.differs, one.cut), (&None, None));
    for threads in [2, 7] {
        assert_eq!(replayed(&bytes, threads).unwrap(), one, "{threads}");
    }
}

#[test]
fn the_same_decisions_give_the_same_file() {
    assert_eq!(records(&ENGINE, 5, 4), *FIVE);
}

#[test]
fn the_first_answer_that_differs_is_shown_whatever_the_threads() {
    let change = |record: &mut Value| record["answer"] = json!({"reason": [], "value": []});
    let bytes = with(&records(&ENGINE, 60, 4), 53, change);
    let change = |record: &mut Value| {
        let allowed = record["answer"]["allowed"]["numbers"].as_str().unwrap();
        let (_, rest) = allowed.split_once(' ').unwrap();
        record["answer"]["allowed"]["numbers"] = format!("77 {rest}").into();
    };
    let bytes = with(&bytes, 29, change);
    for threads in 1..6 {
        let differs = replayed(&bytes, threads).unwrap().differs.unwrap();
        let words = differs.to_string();
        let begins = "decision 29 (allow, budget-rollout-guard): allowed of row 0 (pool-000, emptiness) was 77 and is ";
        assert!(words.starts_with(begins), "{words}");
    }
}

#[test]
fn an_outcome_a_fault_and_fuel_that_differ_are_shown() {
    let words = |number, field: &str, value: &str| {
        let value: Value = serde_json::from_str(value).unwrap();
        let bytes = with(&FIVE, number, |record| record[field] = value);
        replayed(&bytes, 2).unwrap().differs.unwrap().to_string()
    };
    let outcome = words(5, "outcome", "\"ok\"");
    assert!(
        outcome.contains("outcome was ok and is trap (the module stopped: "),
        "{outcome}"
    );
    let fault = words(5, "fault", "\"the module slept\"");
    assert!(
        fault.contains("fault was the module slept and is "),
        "{fault}"
    );
    let fuel = words(4, "fuel", "1");
    assert!(fuel.contains("): fuel was 1 and is "), "{fuel}");
}

#[test]
fn fuel_of_another_engine_is_not_compared() {
    let mut lines = lines(&with(&FIVE, 4, |record| record["fuel"] = 1.into()));
    lines[0]["records"]["engine"] = "wasmtime-0".into();
    assert_eq!(replayed(&file(&lines), 1).unwrap().differs, None);
}

#[test]
fn what_hung_on_the_machine_is_not_asked_again() {
    let bytes = with(&FIVE, 2, |record| record["outcome"] = "deadline".into());
    let replayed = replayed(&bytes, 1).unwrap();
    assert_eq!((replayed.decisions, replayed.passed_over), (4, 1));
    assert_eq!(replayed.differs, None);
}

#[test]
fn one_catalogue_is_stored_once() {
    let parts = |bytes: &[u8]| {
        let lines = lines(bytes);
        let parts = lines.iter().filter(|line| line.get("part").is_some());
        parts
            .map(ToString::to_string)
            .map(|text| text.len())
            .sum::<usize>()
    };
    let (few, many) = (
        parts(&records(&ENGINE, 10, 200)),
        parts(&records(&ENGINE, 100, 200)),
    );
    assert!(many < 5 * few, "{many} bytes for ten times the {few} bytes");
}

#[test]
fn a_file_cut_anywhere_is_read_up_to_the_cut() {
    let ends: Vec<usize> = (0..FIVE.len()).filter(|at| FIVE[*at] == b'\n').collect();
    for at in (0..FIVE.len()).step_by(397).chain(ends.iter().copied()) {
        match read_through(&FIVE[..at]) {
            Ok(cut) => {
                let is_whole = ends.iter().any(|end| *end == at || end + 1 == at);
                assert_eq!(cut.is_none(), is_whole, "cut at {at}");
            }
            Err(error) => {
                assert!(at < ends[0], "cut at {at}: {error}");
                assert!(error.to_string().contains("heading of decision records"));
            }
        }
    }
    let last = ends[ends.len() - 1];
    let replayed = replayed(&FIVE[..last - 1], 1).unwrap();
    assert_eq!((replayed.decisions, replayed.cut), (4, Some(ends.len())));
}

/// Reads to the end; the line that was cut.
fn read_through(bytes: &[u8]) -> Result<Option<usize>, RecordsError> {
    let mut reader = Reader::begin(bytes)?;
    while let Some(entry) = reader.next_entry()? {
        if let Entry::Decision(record) = entry {
            reader.question(&record)?;
        }
    }
    Ok(reader.cut())
}

#[test]
fn what_was_changed_or_is_missing_is_named_with_its_line() {
    let whole = lines(&FIVE);
    let part = whole.iter().position(|line| line.get("part").is_some());
    let part = part.unwrap();
    let mut changed = whole.clone();
    changed[part]["part"]["value"] = json!(["another"]);
    let words = replayed(&file(&changed), 1).unwrap_err();
    assert!(
        words.starts_with(&format!("line {}: part ", part + 1)),
        "{words}"
    );
    assert!(words.ends_with("; the file was changed"), "{words}");

    let mut short = whole.clone();
    short.remove(part);
    let words = replayed(&file(&short), 1).unwrap_err();
    assert!(words.contains("is not among the lines before"), "{words}");

    let mut newer = whole.clone();
    newer[0]["records"]["version"] = "v2".into();
    let words = replayed(&file(&newer), 1).unwrap_err();
    assert_eq!(words, "line 1: version is \"v2\"; expected \"v1alpha1\"");

    let mut twice = whole.clone();
    twice.push(whole[0].clone());
    let words = replayed(&file(&twice), 1).unwrap_err();
    let expected = "expected the heading of decision records on line 1 and nowhere else";
    assert_eq!(words, format!("line {}: {expected}", whole.len() + 1));
}

#[test]
fn a_module_that_is_not_at_hand_is_named() {
    let mut lines = lines(&FIVE);
    let mut last = None;
    for line in &mut lines {
        if let Some(module) = line.get_mut("module") {
            module["sha256"] = "00".into();
            last = Some(module["name"].clone());
        }
        if let Some(record) = line.get_mut("decision") {
            record["module"] = "00".into();
        }
    }
    assert!(last.is_some());
    let words = replayed(&file(&lines), 1).unwrap_err();
    assert!(
        words.starts_with("module rank-spot-diversified 0.1.0 with digest 00 is not at hand; the one of that name at hand has "),
        "{words}"
    );
}

#[test]
fn columns_that_do_not_fit_each_other_are_refused() {
    let torn = |column: &str, value: Value| {
        let change = |record: &mut Value| {
            let pools = opened(&FIVE, &record["question"]["pools"]);
            record["question"]["pools"] = pools;
            record["question"]["pools"][column] = value;
        };
        replayed(&with(&FIVE, 4, change), 1).unwrap_err()
    };
    let begins = "decision 4: its question: ";
    assert_eq!(
        torn("nodes", json!({"numbers": "1 2"})),
        format!("{begins}column pools.nodes has 2 rows; expected 9")
    );
    assert_eq!(
        torn("name", json!({"numbers": "1 1 1 2 2 2 3 3 99"})),
        format!("{begins}column pools.name refers to row 99; expected one below 4")
    );
    let words = torn("nodes", json!({"numbers": "1 many"}));
    assert_eq!(
        words,
        "decision 4: its question: \"many\" is no number; expected numbers between spaces"
    );
    let words = torn("nodes", json!("none"));
    assert!(
        words.starts_with("decision 4: its question: is no allow question: "),
        "{words}"
    );
}

/// A value with its reference followed.
fn opened(bytes: &[u8], value: &Value) -> Value {
    let Some(name) = value.get("part") else {
        return value.clone();
    };
    let lines = lines(bytes);
    let mut parts = lines.iter().filter_map(|line| line.get("part"));
    parts.find(|part| part["sha256"] == *name).unwrap()["value"].clone()
}

#[test]
fn whoever_writes_records_changes_no_decision() {
    let sold = instance_type("small").cpu(4000).memory_mib(8192).price(0.1);
    let world = cluster().pool(pool("general"));
    let world = world.sells(sold.offered(ZONE_1, OnDemand));
    let snapshot = world.pod(pod("web").cpu(500).memory_mib(256)).snapshot();
    let shipped = plimsoll_policies::ranking("spot-diversified").unwrap();
    let module = ENGINE
        .accept(shipped.bytes, &PolicySettings::new())
        .unwrap();
    let alone = Policies {
        rank: Some(module),
        ..Policies::default()
    };
    let written = InMemory::default();
    let recorder = Arc::new(Recorder::begin(Box::new(written.clone()), &ENGINE, None).unwrap());
    let watched = Policies {
        observers: vec![recorder.clone()],
        ..alone.clone()
    };
    let plan = Generation::first(alone).plan(&snapshot, &Session::default());
    assert_eq!(plan.plan.claims.len(), 1);
    assert_eq!(
        Generation::first(watched).plan(&snapshot, &Session::default()),
        plan
    );
    let recorded = recorder.finish().unwrap();
    assert_eq!((recorded.decisions, recorded.made), (1, 1));
    assert_eq!(replayed(&written.bytes(), 1).unwrap().made.len(), 1);
}

/// A pass that buys something asks for prices twice: for what there is, and for what the move would lead to.
#[test]
fn prices_asked_for_moves_are_recorded_and_answered_again_to_the_byte() {
    let sold =
        |name: &str, cores: i64, price: f64| machine(name, cores, price).offered(ZONE_1, OnDemand);
    let world = cluster()
        .sells(sold("small", 2, 0.1))
        .sells(sold("large", 8, 0.4));
    let used = node("used")
        .managed("general")
        .of_type("large")
        .zone(ZONE_1);
    let used = used.label(CAPACITY_TYPE, "on-demand").cpu(8000);
    let web = pod("web").cpu(500).memory_mib(256).on("used");
    let web = web.owned_by(OwnerKind::ReplicaSet, "web");
    let world = world.pool(pool("general")).node(used.memory_mib(32_768));
    let snapshot = world.pod(web).snapshot();
    let shipped = plimsoll_policies::ranking("spot-diversified").unwrap();
    let written = InMemory::default();
    let recorder = Arc::new(Recorder::begin(Box::new(written.clone()), &ENGINE, None).unwrap());
    let policies = Policies {
        rank: Some(
            ENGINE
                .accept(shipped.bytes, &PolicySettings::new())
                .unwrap(),
        ),
        observers: vec![recorder.clone()],
        ..Policies::default()
    };
    let pass = DisruptionQuestion::Pass { consolidate: true };
    let considered = Generation::first(policies).consider(&snapshot, &pass, &Session::default());
    assert_eq!(considered.decision.commands[0].plan.claims.len(), 1);
    let recorded = recorder.finish().unwrap();
    assert_eq!((recorded.decisions, recorded.made), (2, 1));
    let replayed = replayed(&written.bytes(), 2).unwrap();
    assert_eq!((replayed.decisions, replayed.differs), (2, None));
    assert_eq!(
        replayed.made[0].sha256,
        digest_of_decision(&considered.decision)
    );
}

proptest! {
    #![proptest_config(cases(200))]

    /// Whatever a file says, reading it ends with an answer or a sentence.
    #[test]
    fn no_change_of_bytes_is_worse_than_a_sentence(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)
    ) {
        let mut bytes = FIVE.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Err(words) = replayed(&bytes, 2) {
            prop_assert!(!words.is_empty());
        }
    }
}
