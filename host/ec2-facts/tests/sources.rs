//! The committed tables against the published lists they were made from.
//!
//! Those lists are not part of the repository. Where `PLIMSOLL_DATA` names their folder, the labels of every type are compared and
//! the tables are made anew; elsewhere each test is skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_ec2_facts::instance_types;
use plimsoll_oracles::skip::not_run;

const TABLES: [&str; 3] = [
    "instance-types.tsv",
    "on-demand-prices.tsv",
    "documented-allocatable.tsv",
];

/// The folder of the lists, from the workspace's root where it is relative; `None`, and the test is skipped, where nothing names one.
fn data_folder(test: &str) -> Option<PathBuf> {
    let Some(named) = std::env::var_os("PLIMSOLL_DATA") else {
        not_run(
            test,
            "PLIMSOLL_DATA does not name the folder of the published lists",
        );
        return None;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(named);
    assert!(
        folder.is_dir(),
        "PLIMSOLL_DATA names {}, which is no folder",
        folder.display()
    );
    Some(folder)
}

#[test]
fn labels_equal_the_documented_labels_of_every_type() {
    let Some(folder) = data_folder("labels_equal_the_documented_labels_of_every_type") else {
        return;
    };
    let text =
        std::fs::read_to_string(folder.join("instance-types/documented-labels.json")).unwrap();
    let documented: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(&text).unwrap();
    let names: Vec<_> = instance_types().iter().map(|facts| facts.name).collect();
    assert_eq!(names, documented.keys().collect::<Vec<_>>());
    for facts in instance_types() {
        let labels: BTreeMap<String, String> = facts
            .labels()
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.into_owned()))
            .collect();
        assert_eq!(labels, documented[facts.name], "{}", facts.name);
    }
}

#[test]
fn tables_are_what_the_script_makes_of_the_lists() {
    let test = "tables_are_what_the_script_makes_of_the_lists";
    let Some(folder) = data_folder(test) else {
        return;
    };
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tables-made-anew");
    std::fs::create_dir_all(&output).unwrap();
    let script = home.join("scripts/derive.py");
    let Ok(run) = Command::new("python3")
        .arg(script)
        .args([&folder, &output])
        .output()
    else {
        return not_run(test, "there is no python3");
    };
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    for table in TABLES {
        let committed = std::fs::read(home.join("tables").join(table)).unwrap();
        let made_anew = std::fs::read(output.join(table)).unwrap();
        assert!(
            committed == made_anew,
            "{table} differs from what scripts/derive.py makes; run it and commit the result"
        );
    }
}
