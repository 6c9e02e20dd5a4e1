//! The fields that `-o json` prints are those that the README lists.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::user::{Folder, fed, plimsoll, pod, snapshot};

const README: &str = include_str!("../../README.md");

/// Fields listed under a heading.
fn listed(heading: &str) -> BTreeSet<String> {
    let section = README
        .split("\n### ")
        .find(|section| section.starts_with(heading));
    let rows = section.expect("the section is there").lines();
    rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next())
        .map(str::to_owned)
        .collect()
}

/// Paths of a value, as far as the list goes into it.
fn printed(value: &Value, path: &str, listed: &BTreeSet<String>, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            let is_listed = |name: &String| {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                listed.contains(&path)
            };
            if !path.is_empty() && !fields.keys().any(is_listed) {
                return;
            }
            for (name, value) in fields {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                into.insert(path.clone());
                printed(value, &path, listed, into);
            }
        }
        Value::Array(items) => {
            for item in items {
                printed(item, &format!("{path}[]"), listed, into);
            }
        }
        _ => {}
    }
}

/// Holds what was printed against the list under a heading.
pub(crate) fn check(heading: &str, text: &str) {
    let value: Value = serde_json::from_str(text).expect("it is JSON");
    let listed = listed(heading);
    let mut found = BTreeSet::new();
    printed(&value, "", &listed, &mut found);
    assert_eq!(found, listed, "{heading}");
}

#[test]
fn a_plan_has_the_fields_that_are_documented() {
    let objects = pod("web", "1", "1Gi", "") + &pod("huge", "99", "1Gi", "");
    let ran = fed(&["plan", "-", "-o", "json"], snapshot(&objects).as_bytes()).ok();
    check("plan", &ran.out);
}

#[test]
fn a_simulation_has_the_fields_that_are_documented() {
    let folder = Folder::new();
    let file = folder.file("cluster.yaml", snapshot(&pod("web", "1", "1Gi", "")));
    let ran = plimsoll(&["simulate", &file, "-o", "json"]).ok();
    check("simulate", &ran.out);
}

#[test]
fn what_is_told_of_a_module_has_the_fields_that_are_documented() {
    let ran = plimsoll(&["policy", "inspect", "spot-diversified", "-o", "json"]).ok();
    check("policy inspect", &ran.out);
    let ran = plimsoll(&[
        "policy",
        "check",
        "spot-diversified",
        "lost_hours=25",
        "-o",
        "json",
    ]);
    check("policy check", &ran.out);
    let folder = Folder::new();
    folder.file(
        "suite.yaml",
        "cases:\n- name: c\n  input: { offerings: { a: { price: 1 } } }\n",
    );
    folder.file("goldens.yaml", "c: { general/a: free }\n");
    let suite = folder.path("").display().to_string();
    let ran = plimsoll(&[
        "policy",
        "test",
        "list-price",
        "--suite",
        &suite,
        "-o",
        "json",
    ]);
    check("policy test", &ran.out);
    let ran = plimsoll(&[
        "policy",
        "bench",
        "list-price",
        "--calls",
        "1",
        "-o",
        "json",
    ])
    .ok();
    check("policy bench", &ran.out);
    let ran = plimsoll(&["policy", "pack", "spot-diversified", "-o", "json"]).ok();
    check("policy pack", &ran.out);
}
