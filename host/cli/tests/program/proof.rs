//! `plimsoll policy test` and `bench`: what a suite, goldens, laws and a fuel baseline say of a policy, and how they say it.

use serde_json::Value;

use crate::policy::{first_policy, in_folder};
use crate::user::{Folder, argument, plimsoll};

/// A suite of `list-price` with one case; `more` is what it expects.
fn list_price(folder: &Folder, more: &str) -> String {
    folder.file(
        "suite.yaml",
        format!(
            "cases:\n- name: two prices\n  input: {{ offerings: {{ a: {{ type: m5.large, price: 0.096 }}, b: {{ type: c5.large, price: 0.085 }} }} }}\n  expect: {more}\n"
        ),
    );
    argument(&folder.path(""))
}

#[test]
fn a_shipped_policy_is_proven_by_what_is_built_in() {
    for (name, start) in [
        ("list-price", "list-price  2 cases, 18 laws  ok  "),
        (
            "rank-spot-diversified",
            "spot-diversified  5 cases, 9 laws  ok  ",
        ),
        ("gentle", "gentle  4 cases, 8 laws  ok  "),
        ("freeze-calendar", "freeze-calendar  6 cases, 6 laws  ok  "),
    ] {
        let ran = plimsoll(&["policy", "test", name]).ok();
        assert!(ran.out.starts_with(start), "{}", ran.out);
        assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
    }
}

#[test]
fn a_case_that_fails_names_row_value_and_expectation() {
    let folder = Folder::new();
    let suite = list_price(&folder, "{ prices: { a: 0.1 }, cheaper: [b, a] }");
    let ran = plimsoll(&["policy", "test", "list-price", "--suite", &suite]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(ran.error(), "policy list-price: 1 of 1 cases failed");
    let failed = "  failed: two prices  expect.prices.a: general/a price is 0.096; expected 0.1\n";
    ran.prints(failed);
    let ran = plimsoll(&[
        "policy",
        "test",
        "list-price",
        "--suite",
        &suite,
        "-o",
        "json",
    ]);
    let shown: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(
        (&shown["ok"], &shown["cases"][0]["ok"]),
        (&false.into(), &false.into())
    );
    assert_eq!(shown["goldens"]["recorded"], false);
}

#[test]
fn a_row_that_is_not_as_recorded_is_told_until_it_is_recorded_anew() {
    let folder = Folder::new();
    let suite = list_price(&folder, "{ cheaper: [b, a] }");
    let test = ["policy", "test", "list-price", "--suite", &suite];
    let ran = plimsoll(&test).ok();
    ran.prints("nothing is recorded: --update");
    let update = [&test[..], &["--update"]].concat();
    let ran = plimsoll(&update).ok();
    ran.prints("  recorded: 2 rows in goldens.yaml\n");
    let goldens = folder.path("goldens.yaml");
    let recorded = std::fs::read_to_string(&goldens).expect("it was written");
    assert!(
        recorded.contains("general/a: 0.096, list price\n"),
        "{recorded}"
    );

    folder.file("goldens.yaml", recorded.replace("0.096", "0.097"));
    let ran = plimsoll(&test);
    assert_eq!(
        (ran.code, ran.error()),
        (1, "policy list-price: 1 row not as recorded")
    );
    let changed = "general/a: 0.096, list price; recorded: 0.097, list price\n";
    ran.prints(changed);
    plimsoll(&update).ok();
    assert_eq!(
        std::fs::read_to_string(&goldens).expect("it is there"),
        recorded
    );
}

#[test]
fn a_bad_suite_is_told_with_file_case_field_value_and_expectation() {
    let folder = Folder::new();
    let suite = list_price(&folder, "{ prices: { a: cheap } }");
    let refused = |expected: &str| {
        let ran = plimsoll(&["policy", "test", "list-price", "--suite", &suite]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        let file = argument(&folder.path("suite.yaml"));
        assert_eq!(ran.error(), format!("{file}: {expected}"));
    };
    refused(
        "case \"two prices\": expect.prices.a is \"cheap\"; expected fields of price, reason, first, first-count, first-reason, then, then-reason",
    );
    folder.file("suite.yaml", "cases: {}");
    refused("cases is an object; expected a list");
    let file = folder.file("suite.yaml", b"cases: \xff");
    let ran = plimsoll(&["policy", "test", "list-price", "--suite", &suite]);
    assert_eq!(ran.error(), format!("{file} is no text in UTF-8"));
    let nowhere = argument(&folder.path("nowhere"));
    let ran = plimsoll(&["policy", "test", "list-price", "--suite", &nowhere]);
    assert_eq!(
        ran.error(),
        format!("--suite {nowhere}: there is no suite.yaml in it")
    );
    let ran = plimsoll(&["policy", "test", "list-price", "--update"]);
    assert!(ran.error().ends_with("the module has no folder"), "{ran:?}");
    assert!(ran.err.contains("\nhint: --suite FOLDER"), "{}", ran.err);
}

#[test]
fn fuel_above_its_baseline_fails_and_times_are_only_told() {
    let folder = Folder::new();
    let suite = list_price(&folder, "{}");
    let bench = [
        "policy",
        "bench",
        "list-price",
        "--suite",
        &suite,
        "--calls",
        "2",
    ];
    let json = [&bench[..], &["-o", "json"]].concat();
    plimsoll(&[&bench[..], &["--update"]].concat()).ok();
    let file = folder.path("fuel.yaml");
    let recorded = std::fs::read_to_string(&file).expect("it was written");
    let shown: Value = serde_json::from_str(&plimsoll(&json).ok().out).expect("it is JSON");
    let question = &shown["questions"][0];
    assert_eq!(
        (&shown["ok"], &question["rows"]),
        (&true.into(), &7_200.into())
    );
    assert_eq!(question["fuel"], question["fuelBaseline"]);
    let micros = |field: &str| {
        question[field]
            .as_str()?
            .strip_suffix("us")?
            .parse::<f64>()
            .ok()
    };
    assert!(
        micros("p50").is_some() && micros("p50") <= micros("p99"),
        "{question}"
    );

    let fuel = question["fuel"].as_u64().expect("a count");
    let within = recorded.replace(&fuel.to_string(), &(fuel * 100 / 104).to_string());
    folder.file("fuel.yaml", &within);
    plimsoll(&bench).ok();
    let ran = plimsoll(&[&bench[..], &["--tolerance", "3"]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    let start = "policy list-price: price 2,400 offerings in 3 pools takes ";
    assert!(ran.error().starts_with(start), "{}", ran.error());
    assert!(
        ran.error().contains("expected at most 3 % more than "),
        "{}",
        ran.error()
    );

    folder.file("fuel.yaml", "fuel: much");
    let ran = plimsoll(&bench);
    assert!(
        ran.error().contains("fuel.yaml holds no baseline: "),
        "{}",
        ran.error()
    );
}

#[test]
fn a_first_policy_of_every_hook_builds_and_passes_its_tests_and_its_suite() {
    for hook in ["consolidate", "budget"] {
        let folder = Folder::new();
        let name = format!("first-{hook}");
        in_folder(&folder.path(""), &["policy", "new", hook, &name]).ok();
        let here = folder.path(&name);
        let tested = std::process::Command::new("cargo")
            .args(["test", "--quiet"])
            .current_dir(&here)
            .env(
                "CARGO_TARGET_DIR",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/policies"),
            )
            .env("CARGO_NET_OFFLINE", "true")
            .output()
            .expect("cargo starts");
        assert!(
            tested.status.success(),
            "{}",
            String::from_utf8_lossy(&tested.stdout)
        );
        let ran = in_folder(&here, &["policy", "test", "--update"]).ok();
        ran.prints(" 2 cases, ");
        in_folder(&here, &["policy", "test"]).ok();
    }
}

#[test]
fn a_folder_of_the_sdk_that_has_gone_is_hinted_at() {
    let folder = first_policy("moved");
    let manifest = folder.path("moved/Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("it is there");
    let start = text.find("path = \"").expect("it names the SDK");
    folder.file(
        "moved/Cargo.toml",
        format!("{}path = \"/nowhere\" }}\n", &text[..start]),
    );
    let ran = in_folder(&folder.path("moved"), &["policy", "build"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let hint = "\nhint: the folder that Cargo.toml takes plimsoll-sdk from is not there";
    assert!(ran.err.contains(hint), "{}", ran.err);
}

#[test]
fn a_policy_that_looks_at_row_numbers_breaks_a_law() {
    let folder = first_policy("by-number");
    std::fs::remove_file(folder.path("by-number/suite.yaml")).expect("it is there");
    folder.file(
        "by-number/src/lib.rs",
        "//! Prices by the number of the row, which means nothing.\n\
         use plimsoll_sdk::ranking::*;\n\
         reasons! { ROW = \"number of the row\" }\n\
         struct ByNumber;\n\
         impl Ranking for ByNumber {\n    \
             type Settings = NoSettings;\n    \
             fn price(&self, offering: &Offering, _pool: &Pool, _settings: &NoSettings) -> Price {\n        \
                 Price::dollars(offering.row() as f64, ROW)\n    \
             }\n\
         }\n\
         export_ranking!(ByNumber);\n",
    );
    let ran = in_folder(&folder.path("by-number"), &["policy", "test", "-o", "json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(ran.error(), "policy by-number: 1 of 9 laws are broken");
    let tested: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let laws = tested["laws"].as_array().expect("laws are a list");
    let broken: Vec<&Value> = laws.iter().filter(|law| law["ok"] == false).collect();
    assert_eq!(broken[0]["law"], "numbers of rows mean nothing");
    assert_eq!(broken[0]["breach"], "row 0: 0 became 179");
}

#[test]
fn a_policy_that_looks_at_the_first_node_of_a_move_breaks_a_law() {
    let folder = Folder::new();
    in_folder(
        &folder.path(""),
        &["policy", "new", "consolidate", "first-node"],
    )
    .ok();
    let code = folder.path("first-node/src/lib.rs");
    let text = std::fs::read_to_string(&code).expect("it is there");
    let first = "mv.nodes().next().map_or(0.0, |node| node.price())";
    folder.file(
        "first-node/src/lib.rs",
        text.replace("mv.saving() -", &format!("{first} -")),
    );
    std::fs::remove_file(folder.path("first-node/suite.yaml")).expect("it is there");
    let ran = in_folder(&folder.path("first-node"), &["policy", "test"]);
    assert_eq!(ran.error(), "policy first-node: 1 of 8 laws are broken");
    let broken = "broken: the order of a move's nodes means nothing  row ";
    ran.prints(broken);
}
