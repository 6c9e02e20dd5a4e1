//! Records of decisions as users meet them: written by a simulation, replayed by another process, compared and explained.

use std::path::Path;

use serde_json::Value;

use crate::json::check;
use crate::user::{Folder, Ran, SHOP, plimsoll};

/// A recording, and the records of one simulation of it.
struct Kept {
    folder: Folder,
    input: String,
    records: String,
}

fn kept() -> Kept {
    let folder = Folder::new();
    let input = folder.file("recording.yaml", two_hours());
    let records = folder.path("records.jsonl").display().to_string();
    let ran = simulated(&input, &records).ok();
    let told = ran.err.lines().last().unwrap_or_default();
    assert!(
        told.starts_with("records: ") && told.ends_with(" decisions"),
        "{told}"
    );
    Kept {
        folder,
        input,
        records,
    }
}

/// Two deployments in a small market that grow and shrink every ten minutes.
fn two_hours() -> String {
    let deployed = [("web", "450m", "256Mi"), ("api", "700m", "512Mi")].map(|(name, cpu, memory)| {
        format!(
            "- {{at: +0s, deploy: {{namespace: shop, name: {name}, replicas: 16, template: {{metadata: {{labels: {{app: {name}}}}}, \
             spec: {{containers: [{{name: main, resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}}}]}}}}}}}}\n"
        )
    });
    let scaled = (2..24).map(|step| {
        let (step, place) = (step / 2, step % 2);
        let replicas = [4, 18, 7, 20, 5][(step + place) % 5];
        let (minute, name) = (10 * step + 3 * place, ["web", "api"][place]);
        format!(
            "- {{at: +{minute}m, scale: {{namespace: shop, name: {name}, amount: {replicas}}}}}\n"
        )
    });
    let changes: String = deployed.into_iter().chain(scaled).collect();
    SHOP.replacen("---\n", &format!("changes:\n{changes}---\n"), 1)
}

fn simulated(input: &str, records: &str) -> Ran {
    let policies = [
        "rank=spot-diversified",
        "consolidate=savings-threshold",
        "budget=rollout-guard",
    ];
    let policies = policies.iter().flat_map(|spec| ["--policy", spec]);
    let mut arguments = vec!["simulate", input, "--records", records];
    arguments.extend(policies);
    plimsoll(&arguments)
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).expect("it is JSON")
}

/// A file with the last answer of a kind changed.
fn changed(kept: &Kept) -> String {
    let text = std::fs::read_to_string(&kept.records).expect("it was written");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut records = lines.iter_mut().rev();
    let line = records
        .find(|line| line.contains("\"call\":\"allow\""))
        .expect("budgets were asked");
    let mut record: Value = serde_json::from_str(line).expect("it is JSON");
    record["decision"]["answer"]["recheck_after_s"] = 77.into();
    *line = record.to_string();
    kept.folder.file("changed.jsonl", lines.join("\n") + "\n")
}

#[test]
fn what_a_simulation_recorded_is_equal_to_the_byte_in_another_process_and_with_other_threads() {
    let kept = kept();
    let replay = |threads| {
        json(&plimsoll(&["replay", &kept.records, "--threads", threads, "-o", "json"]).ok())
    };
    let one = replay("1");
    assert_eq!(one["equal"], true);
    assert!(one["decisions"].as_u64() > Some(50), "{one}");
    assert_eq!(one["modules"], 3);
    assert_eq!(replay("4"), one);
    let people = plimsoll(&["replay", &kept.records]).ok();
    assert!(
        people
            .out
            .contains(" policy decisions of 3 modules are the same, byte for byte\n"),
        "{}",
        people.out
    );
    people.prints("; --on INPUT replays them\n");
}

#[test]
fn plans_are_equal_to_the_byte_once_the_input_is_played_again() {
    let kept = kept();
    let ran = plimsoll(&["replay", &kept.records, "--on", &kept.input, "-o", "json"]).ok();
    let replayed = json(&ran);
    assert_eq!(replayed["firstPlanDifference"], Value::Null);
    assert_eq!(replayed["replayedPlans"], replayed["plans"]);
    assert!(replayed["plans"].as_u64() > Some(20), "{replayed}");

    let other = kept.folder.file("other.yaml", SHOP);
    let refused = plimsoll(&["replay", &kept.records, "--on", &other]);
    assert_eq!(refused.code, 1);
    assert!(
        refused
            .error()
            .contains("; the records are of an input with "),
        "{refused:?}"
    );
}

#[test]
fn compressed_records_say_the_same() {
    let kept = kept();
    let compressed = kept.folder.path("records.jsonl.zst").display().to_string();
    simulated(&kept.input, &compressed).ok();
    let size = |path: &str| {
        std::fs::metadata(Path::new(path))
            .expect("it is there")
            .len()
    };
    assert!(size(&compressed) < size(&kept.records));
    let of = |path: &str| json(&plimsoll(&["replay", path, "-o", "json"]).ok());
    assert_eq!(of(&compressed), of(&kept.records));
}

#[test]
fn an_answer_that_was_another_one_is_shown_and_fails() {
    let kept = kept();
    let path = changed(&kept);
    check("replay", &plimsoll(&["replay", &path, "-o", "json"]).out);
    let ran = plimsoll(&["replay", &path]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out
            .contains("(allow, budget-rollout-guard): recheck_after_s was 77 and is "),
        "{}",
        ran.out
    );
    assert!(
        ran.error()
            .ends_with("the decisions differ from the recorded ones")
    );
}

#[test]
fn records_that_were_cut_are_replayed_as_far_as_they_go() {
    let kept = kept();
    let bytes = std::fs::read(&kept.records).expect("it was written");
    let cut = kept.folder.file("cut.jsonl", &bytes[..bytes.len() - 20]);
    let ran = plimsoll(&["replay", &cut]).ok();
    assert!(
        ran.err
            .contains(" ends in the middle; what stands before it is whole\n"),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_no_file_of_records_is_refused_in_a_sentence() {
    let kept = kept();
    let ran = plimsoll(&["replay", &kept.input]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.error().ends_with(
            "line 1: expected the heading of decision records on line 1 and nowhere else"
        ),
        "{ran:?}"
    );
    let refused = plimsoll(&[
        "simulate",
        &kept.input,
        "--policy",
        "compatible",
        "--records",
        "r",
    ]);
    assert!(refused.error().contains("asks no module"), "{refused:?}");
    let refused = plimsoll(&["simulate", &kept.input, "--records", "/nowhere/records"]);
    assert_eq!(refused.code, 3);
}

#[test]
fn two_policies_are_compared_on_the_same_decisions() {
    let kept = kept();
    let diff = |a: &str, b: &str| {
        let ran = plimsoll(&["policy", "diff", a, b, "--on", &kept.input, "-o", "json"]);
        let ran = ran.ok();
        check("policy diff", &ran.out);
        json(&ran)
    };
    let same = diff("list-price", "list-price");
    assert!(same["decisions"].as_u64() > Some(0), "{same}");
    assert_eq!(
        (&same["differingDecisions"], &same["agreementPercent"]),
        (&0.into(), &100.0.into())
    );
    let other = diff("list-price", "rank=fewest-nodes,charge=1");
    assert!(other["differingDecisions"].as_u64() > Some(0), "{other}");
    let regret = |value: &Value| value["regretDollarsPerHour"].as_f64().expect("a number");
    assert!(regret(&other) > 0.0, "{other}");
    let listed = other["differences"].as_array().expect("a list");
    let sum: f64 = listed.iter().map(regret).sum();
    assert!((sum - regret(&other)).abs() < 1e-8, "{other}");

    let refused = plimsoll(&[
        "policy",
        "diff",
        "list-price",
        "gentle",
        "--on",
        &kept.input,
    ]);
    assert_eq!(
        refused.error(),
        "policy list-price is a ranking policy and gentle a consolidation policy; expected two of one hook"
    );
}

#[test]
fn a_recorded_decision_is_explained_by_its_module() {
    let kept = kept();
    let explain =
        |rest: &[&str]| plimsoll(&[&["policy", "explain", kept.records.as_str()], rest].concat());
    let list = check("policy explain", &explain(&["-o", "json"]).ok().out);
    let list = list["items"].as_array().expect("a list");
    let first = list
        .iter()
        .find(|listed| listed["call"] == "price")
        .expect("prices were asked");
    let number = first["decision"].to_string();
    let one = explain(&["--decision", &number, "-o", "json"]).ok();
    check("policy explain", &one.out);
    let one = json(&one);
    let rows = one["explained"].as_array().expect("a list");
    assert_eq!(rows.len(), 4, "the market has so many on-demand offerings");
    assert_eq!(rows[0]["reason"], "list price");
    assert_eq!(rows[0]["terms"][0]["name"], "list price");
    let given: u64 = one["reasons"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|tally| tally["rows"].as_u64())
        .sum();
    assert_eq!(Some(given), one["rows"].as_u64());

    let found = explain(&["--decision", &number, "--find", ", large"]).ok();
    found.prints(", large, zone-");
    let refused = explain(&["--decision", "999999"]);
    assert!(
        refused
            .error()
            .contains("there is no decision 999999; expected a number from 1 to ")
    );
    let refused = explain(&["--decision", &number, "--row", "999999"]);
    assert!(
        refused.error().contains("--row 999999: the question has "),
        "{refused:?}"
    );
}

/// The records with the first decision of a kind as one that failed.
fn failed(kept: &Kept) -> (String, u64) {
    let text = std::fs::read_to_string(&kept.records).expect("it was written");
    let mut number = 0;
    let mut lines = text.lines().map(|line| {
        if number > 0 || !line.contains("\"call\":\"allow\"") {
            return line.to_owned();
        }
        let mut record: Value = serde_json::from_str(line).expect("it is JSON");
        let decision = record["decision"].as_object_mut().expect("it is a record");
        number = decision["number"].as_u64().expect("it has one");
        decision.insert("outcome".to_owned(), "trap".into());
        decision.insert(
            "fault".to_owned(),
            "the module stopped: it was told to".into(),
        );
        decision.remove("answer");
        record.to_string()
    });
    let text: Vec<String> = lines.by_ref().collect();
    (
        kept.folder.file("failed.jsonl", text.join("\n") + "\n"),
        number,
    )
}

#[test]
fn an_explanation_of_a_call_that_failed_says_so() {
    let kept = kept();
    let (path, number) = failed(&kept);
    let number = number.to_string();
    let explain = |rest: &[&str]| {
        let asked = ["policy", "explain", path.as_str(), "--decision", &number];
        plimsoll(&[&asked, rest].concat()).ok()
    };
    let people = explain(&[]).out;
    let said = "\n  no answer was recorded: the module stopped: it was told to; the reasons below are the module's present ones\n";
    assert!(people.contains(said), "{people}");
    let shown = json(&explain(&["-o", "json"]));
    assert_eq!(shown["outcome"], "trap");
    assert_eq!(shown["fault"], "the module stopped: it was told to");
}

#[test]
fn records_without_a_decision_are_not_called_equal() {
    let kept = kept();
    let text = std::fs::read_to_string(&kept.records).expect("it was written");
    let heading = text.lines().next().expect("it has a heading");
    let empty = kept.folder.file("empty.jsonl", format!("{heading}\n"));
    let refused = plimsoll(&["replay", &empty]);
    assert_eq!((refused.code, refused.out.as_str()), (1, ""));
    assert!(
        refused
            .error()
            .ends_with("the file has no decision to replay"),
        "{refused:?}"
    );
}

/// Commands that move pods, by the ledger's last word on each: when it ended, what it was to save and did, in nano-dollars, and how
/// long it was watched.
fn ledger(records: &str) -> Vec<(i64, i64, i64, i64)> {
    let text = std::fs::read_to_string(records).expect("it was written");
    let mut last = std::collections::BTreeMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("it is JSON");
        let own = &line["ledger"];
        if own.is_object() && own["reason"] != "Empty" {
            let number = |field: &str| own[field].as_i64().expect("a number");
            let told = ["ended", "predicted", "realised", "watched"].map(number);
            let id = own["command"].as_str().expect("an id").to_owned();
            last.insert(id, told);
        }
    }
    let mut told: Vec<_> = last
        .into_values()
        .map(|[a, b, c, d]| (a, b, c, d))
        .collect();
    told.sort_unstable();
    told
}

#[test]
fn records_have_the_ledger_that_the_simulation_tells() {
    let kept = kept();
    let recorded = ledger(&kept.records);
    let ran = plimsoll(&[
        "simulate",
        &kept.input,
        "-o",
        "json",
        "--policy",
        "rank=spot-diversified",
        "--policy",
        "consolidate=savings-threshold",
        "--policy",
        "budget=rollout-guard",
    ]);
    let simulated = json(&ran.ok());
    let commands = simulated["runs"][0]["disruption"]["commands"].as_array();
    let told = |command: &Value| {
        let nanos = |field: &str| {
            let dollars = command[field].as_f64().expect("dollars");
            format!("{dollars:.9}")
        };
        let saved = nanos("realisedSavingsDollarsPerHour");
        let is_watched = command["watched"] == "1h";
        (nanos("predictedSavingsDollarsPerHour"), saved, is_watched)
    };
    let commands: Vec<_> = commands.expect("a list").iter().map(told).collect();
    let dollars = |nanos: i64| format!("{:.9}", nanos as f64 / 1e9);
    let recorded: Vec<_> = recorded
        .into_iter()
        .map(|(_, predicted, realised, watched)| {
            (dollars(predicted), dollars(realised), watched == 3_600_000)
        })
        .collect();
    let sorted = |mut list: Vec<(String, String, bool)>| {
        list.sort();
        list
    };
    assert!(
        recorded.iter().any(|(.., watched)| *watched),
        "{recorded:?}"
    );
    assert!(
        recorded
            .iter()
            .any(|(predicted, realised, _)| predicted != realised)
    );
    assert_eq!(sorted(recorded), sorted(commands));
}
