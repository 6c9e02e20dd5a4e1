//! `simulate` and `generate`: the same bytes every time, whatever runs beside, and a result that names its input.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::user::{Folder, argument, fed, plimsoll, snapshot};

/// A small recording in a folder of its own.
fn recording() -> (TempDir, String) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("recording.json");
    let path = path.to_str().expect("a path of text").to_owned();
    plimsoll(&[
        "generate", "--seed", "3", "--scale", "4", "--hours", "1", "-O", &path,
    ])
    .ok();
    (folder, path)
}

/// Output of `simulate` as JSON, and the report that it writes.
fn simulated(input: &str, folder: &Path, threads: &str) -> (String, String) {
    let report = folder.join("report.html");
    let report_name = report.to_str().expect("a path of text");
    let policies = ["--compare", "compatible", "--compare", "fixed:m5.8xlarge"];
    let shown = ["--threads", threads, "-o", "json", "--report", report_name];
    let arguments = [&["simulate", input][..], &policies, &shown].concat();
    let ran = plimsoll(&arguments).ok();
    let report = fs::read_to_string(report).expect("the report is there");
    (ran.out, report)
}

#[test]
fn results_and_reports_are_the_same_bytes_whatever_the_number_of_threads() {
    let (folder, input) = recording();
    let (one, one_report) = simulated(&input, folder.path(), "1");
    let (four, four_report) = simulated(&input, folder.path(), "4");
    assert!(one == four, "cards differ");
    assert!(one_report == four_report, "reports differ");
    let names = ["list-price", "compatible", "fixed:m5.8xlarge"];
    let places = names.map(|name| one.find(name).expect("every policy is shown"));
    assert!(places.is_sorted(), "results come in the order asked for");
}

#[test]
fn a_result_names_its_input_by_digest() {
    let (folder, input) = recording();
    let digest = Sha256::digest(fs::read(&input).expect("the recording"));
    let digest = format!("{digest:x}");
    let (out, report) = simulated(&input, folder.path(), "2");
    assert!(out.contains(&digest) && report.contains(&digest));
}

#[test]
fn a_seed_gives_one_recording_and_another_another() {
    let generated = |seed| plimsoll(&["generate", "--seed", seed, "--scale", "2", "--hours", "2"]);
    assert_eq!(generated("5").ok().out, generated("5").ok().out);
    assert_ne!(generated("5").ok().out, generated("6").ok().out);
}

#[test]
fn a_region_that_nobody_knows_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    let to = argument(&folder.path("recording.json"));
    let ran = plimsoll(&["generate", "--region", "nowhere", "--hours", "1", "-O", &to]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.error().contains("nowhere"), "{ran:?}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_node_group_of_a_type_that_is_not_on_sale_is_refused() {
    let text = snapshot("");
    let told = |arguments: &[&str]| {
        let ran = fed(arguments, text.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        ran.error().to_owned()
    };
    let expected =
        "policy fixed:lage: there is no instance type lage in the catalogue; did you mean large?";
    assert_eq!(told(&["simulate", "-", "--policy", "fixed:lage"]), expected);
    assert_eq!(
        told(&["simulate", "-", "--compare", "fixed:lage"]),
        expected
    );
    assert_eq!(told(&["plan", "-", "--policy", "fixed:lage"]), expected);
}

#[test]
fn machines_that_appear_by_themselves_cannot_be_played() {
    let recording = |object: &str| {
        format!(
            "plimsoll: {{time: 2026-11-21T09:30:00Z, catalogue: {{region: us-east-1}}, changes: [{{at: +1s, upsert: {object}}}]}}"
        )
    };
    let node = "{apiVersion: v1, kind: Node, metadata: {name: n1}}";
    let claim = "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c1, labels: {karpenter.sh/nodepool: general}}, \
                 spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, \
                 requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}}";
    for (object, what) in [(node, "node n1"), (claim, "claim c1")] {
        let ran = fed(&["simulate", "-"], recording(object).as_bytes());
        assert_eq!(
            (ran.code, ran.error()),
            (
                1,
                format!("standard input: a simulation cannot play the appearance of {what}; expected it in the snapshot that it begins with").as_str()
            )
        );
    }
}

#[test]
fn a_static_pool_is_told_in_a_plan_and_kept_at_its_number_in_a_simulation() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/program/data/static.yaml"
    );
    let planned = plimsoll(&["plan", path]).ok().out;
    let line = "static NodePool base: 3 replicas, 0 nodes; 3 to launch";
    assert!(planned.lines().any(|have| have == line), "{planned}");
    let launches = |path: &str| {
        let ran = plimsoll(&["simulate", path, "-o", "json"]).ok();
        let result: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        (result["runs"][0]["nodes"]["launches"].as_u64(), ran.err)
    };
    assert_eq!(launches(path).0, Some(5));
    let text = fs::read_to_string(path).expect("the recording");
    let folder = TempDir::new().expect("a folder");
    let off = folder.path().join("off.yaml");
    fs::write(
        &off,
        text.replace("staticCapacity: true", "staticCapacity: false"),
    )
    .expect("a copy");
    let (bought, warned) = launches(off.to_str().expect("a path of text"));
    assert_eq!(bought, Some(0));
    let words = "NodePool base is not reconciled: setting staticCapacity is off";
    assert!(warned.contains(words), "{warned}");
}

/// Deployments whose nodes are empty after an hour.
const CHANGES: &str = "changes:\n\
    - {at: +1m, deploy: {namespace: shop, name: web, replicas: 12, template: {metadata: {labels: {app: web}}, \
      spec: {containers: [{name: main, resources: {requests: {cpu: 900m, memory: 1Gi}}}]}}}}\n\
    - {at: +1h, scale: {namespace: shop, name: web, amount: 5}}\n\
    - {at: +9h, scale: {namespace: shop, name: web, amount: 4}}\n";

/// Policies of a cluster are not in its file: what NodePools ask for by name, at once or later, is set aside and changes nothing.
#[test]
fn policies_that_node_pools_name_are_set_aside() {
    let folder = Folder::new();
    let input = |name: &str, annotations: &str| {
        let changed = format!(
            "- {{at: +2h, upsert: {{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {{name: later, annotations: {{{annotations}}}}}, \
             spec: {{template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}, \
             requirements: []}}}}}}}}}}\n"
        );
        let text = snapshot("").replacen("---\n", &format!("{CHANGES}{changed}---\n"), 1);
        let annotated = format!("metadata: {{name: general, annotations: {{{annotations}}}}}");
        let text = text.replacen("metadata: {name: general}", &annotated, 1);
        folder.file(name, text)
    };
    let plain = input("plain.yaml", "");
    let naming = input(
        "naming.yaml",
        "plimsoll.dev/rank-policy: spot-diversified, plimsoll.dev/budget-policy: freeze",
    );
    let runs = |input: &str| {
        let compare = ["--compare", "compatible", "-o", "json"];
        let ran = plimsoll(&[&["simulate", input][..], &compare].concat()).ok();
        let result: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        (result["runs"].clone(), ran.err)
    };
    let (without, quiet) = runs(&plain);
    assert!(!quiet.contains("asks for"), "{quiet}");
    assert!(
        without[0]["disruption"]["empty"].as_u64() > Some(0),
        "{without}"
    );
    let (with, said) = runs(&naming);
    assert_eq!(with, without, "{said}");
    let warning = |pool: &str| {
        format!(
            "warning: {naming}: NodePool {pool} asks for rank policy spot-diversified and budget policy freeze; --policy decides here\n"
        )
    };
    for pool in ["general", "later"] {
        assert_eq!(said.matches(&warning(pool)).count(), 1, "{said}");
    }
    for command in [
        &["plan", &naming][..],
        &["explain", "nodepool", "general", &naming],
    ] {
        let ran = plimsoll(command).ok();
        assert_eq!(ran.err.matches(&warning("general")).count(), 1, "{ran:?}");
        assert!(!ran.out.contains("does not serve"), "{ran:?}");
    }
}

#[test]
fn a_snapshot_without_changes_is_simulated_for_a_time_that_is_named() {
    let folder = Folder::new();
    let note = "note: the input is a snapshot without later changes; simulated for ";
    for (changes, count) in [("", 1), (CHANGES, 0)] {
        let input = snapshot("").replacen("---\n", &format!("{changes}---\n"), 1);
        let input = folder.file("recording.yaml", input);
        let ran = plimsoll(&["simulate", &input]).ok();
        assert_eq!(ran.out.matches(note).count(), count, "{}", ran.out);
    }
}

/// Nodes are empty after an hour, and a budget may keep them.
#[test]
fn a_rule_is_changed_for_a_column_of_its_own() {
    let folder = Folder::new();
    let input = snapshot("").replacen("---\n", &format!("{CHANGES}---\n"), 1);
    let input = folder.file("recording.yaml", input);
    let what_ifs = [
        "--what-if",
        "budgets=0",
        "--what-if",
        "budgets=100%+guards=off",
    ];
    let arguments = [&["simulate", &input, "-o", "json"][..], &what_ifs].concat();
    let ran = plimsoll(&arguments).ok();
    let result: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let columns = result["runs"].as_array().expect("a list").iter();
    let columns: Vec<(&str, u64)> = columns
        .map(|run| {
            let removed = run["disruption"]["empty"].as_u64().expect("a number");
            (run["policy"].as_str().expect("a name"), removed)
        })
        .collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let expected = [
        "list-price",
        "list-price, budgets=0",
        "list-price, budgets=100%+guards=off",
    ];
    assert_eq!(names, expected);
    let [_, (_, under_none), (_, under_all)] = columns[..] else {
        unreachable!("three columns: {columns:?}");
    };
    assert!(under_none == 0 && under_all > 0, "{columns:?}");
    let refused = plimsoll(&["simulate", &input, "--what-if", "budget=3"]);
    let said = "--what-if budget is no rule; expected one of guards, ";
    assert!(
        refused.code == 1 && refused.error().starts_with(said),
        "{refused:?}"
    );
    assert!(
        refused.error().ends_with("did you mean budgets?"),
        "{refused:?}"
    );
}
