//! `policy build --self-test` and `pack --self-test`: a module that carries what it is tested by, out of its suite or out of records.

use serde_json::Value;

use crate::user::{Folder, argument, plimsoll, pod, snapshot};

#[test]
fn a_packed_policy_carries_its_suite_and_is_held_to_it() {
    let folder = Folder::new();
    let to = argument(&folder.path("policy.yaml"));
    let pack = ["policy", "pack", "list-price", "--self-test", "-O", &to];
    let ran = plimsoll(&pack).ok();
    let told = ran.err.strip_prefix("self-test: ").expect("it says so");
    assert!(told.starts_with("4 vectors, 16 rows"), "{told}");
    let first = std::fs::read(&to).expect("it is there");
    plimsoll(&pack).ok();
    assert_eq!(std::fs::read(&to).expect("it is there"), first);

    let ran = plimsoll(&["policy", "inspect", &to]).ok();
    let fact = ran.out.lines().find(|line| line.contains("self-test"));
    assert!(fact.is_some_and(|fact| fact.contains(told.trim())));
    let ran = plimsoll(&["policy", "inspect", &to, "-o", "json"]).ok();
    let shown: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(shown["selfTest"]["vectors"], 4);
    let ran = plimsoll(&["policy", "check", &to]).ok();
    let mut steps = ran.out.lines();
    let step = steps.find(|line| line.starts_with("self-test"));
    assert!(step.is_some_and(|step| step.ends_with(", answered as recorded")));
}

#[test]
fn a_module_without_a_suite_is_told_where_vectors_come_from() {
    let folder = Folder::new();
    let shipped = plimsoll_policies::shipped("list-price").expect("it is shipped");
    let module = folder.file("list-price.wasm", shipped.bytes);
    let ran = plimsoll(&["policy", "pack", &module, "--self-test"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(
        ran.error(),
        format!("policy {module}: --self-test: there is no suite.yaml beside the module")
    );
    assert!(ran.err.contains("\nhint: `--self-test=RECORDS` takes"));
}

/// Records of a ranking and a budget policy while a cluster was played.
fn records(folder: &Folder) -> String {
    let file = folder.file("shop.yaml", snapshot(&pod("web", "1", "1Gi", "")));
    let to = argument(&folder.path("records.jsonl"));
    plimsoll(&[
        "simulate",
        &file,
        "--policy",
        "rank=list-price",
        "--policy",
        "budget=rollout-guard",
        "--records",
        &to,
    ])
    .ok();
    to
}

#[test]
fn recorded_decisions_become_vectors_and_those_of_others_do_not() {
    let folder = Folder::new();
    let records = records(&folder);
    let from = format!("--self-test={records}");
    let ran = plimsoll(&["policy", "pack", "gentle", &from]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(
        ran.error(),
        format!(
            "policy gentle: --self-test={records}: there is no answered decision of consolidate-gentle"
        )
    );
    let to = argument(&folder.path("policy.yaml"));
    for name in ["list-price", "rollout-guard"] {
        let ran = plimsoll(&["policy", "pack", name, &from, "-O", &to]).ok();
        let told = ran.err.strip_prefix("self-test: ").unwrap_or_default();
        let vectors = told.split(" vectors, ").next().map(str::parse::<usize>);
        assert!(matches!(vectors, Some(Ok(2..))), "{}", ran.err);
        plimsoll(&["policy", "check", &to]).ok();
    }
    let ran = plimsoll(&["policy", "pack", &to, &from]);
    let twice = format!("policy {to}: the module has 2 self-tests; expected one at most");
    assert_eq!((ran.code, ran.error()), (1, twice.as_str()));
}

#[test]
fn a_recorded_answer_that_the_module_does_not_give_is_told_with_row_and_values() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(records(&folder)).expect("it is there");
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("it is JSON");
        if let Some(allowed) = line.pointer_mut("/decision/answer/allowed/numbers") {
            let rest = allowed.as_str().expect("a text").split_once(' ');
            *allowed = format!("77 {}", rest.expect("several rows").1).into();
        }
        format!("{line}\n")
    });
    let changed = folder.file("changed.jsonl", lines.collect::<String>());
    let from = format!("--self-test={changed}");
    let ran = plimsoll(&["policy", "pack", "rollout-guard", &from]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let start = "policy rollout-guard: the module fails its self-test at vector 1 (allow): allowed of row 0 (general, emptiness) is ";
    assert!(ran.error().starts_with(start), "{}", ran.error());
    assert!(ran.error().ends_with("; expected 77, as recorded"));
}
