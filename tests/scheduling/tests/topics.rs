//! The table of topics speaks of tests that exist, and gives every topic a verdict.

use std::fs;
use std::path::Path;

const VERDICTS: [&str; 5] = ["equal", "procedure", "ours", "later: ", "declined"];

/// Rows of the tables: topic, tests, verdict.
fn rows() -> Vec<[String; 3]> {
    let table = include_str!("../TOPICS.md");
    let cells = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| Topic "));
    let row = |line: &str| {
        let mut cells = line
            .trim_matches('|')
            .splitn(3, " | ")
            .map(|cell| cell.trim().to_owned());
        [(); 3].map(|()| cells.next().unwrap_or_default())
    };
    cells.map(row).collect()
}

/// Source of a file of tests, by its name here or by its path in the repository.
fn source(file: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = if file.contains('/') {
        here.join("../..").join(file)
    } else {
        here.join("tests").join(format!("{file}.rs"))
    };
    fs::read_to_string(&path).unwrap_or_default()
}

/// Names in back quotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_test_that_the_table_names_exists() {
    let mut named = 0;
    for [topic, tests, _] in rows() {
        let mut file = String::new();
        for name in quoted(&tests) {
            let (own, test) = match name.split_once("::") {
                Some((own, test)) => (own, test),
                None if file.is_empty() => (name, "*"),
                None => (file.as_str(), name),
            };
            let text = source(own);
            let found = test == "*" || text.contains(&format!("fn {test}("));
            assert!(found, "{topic}: there is no test {test} in {own}");
            file = own.to_owned();
            named += 1;
        }
    }
    assert!(named > 200, "the table names {named} tests");
}

#[test]
fn every_topic_has_a_verdict_and_a_test_or_a_reason() {
    for [topic, tests, verdict] in rows() {
        let known = VERDICTS.iter().any(|known| verdict.starts_with(known));
        assert!(known, "{topic}: {verdict:?} is no verdict");
        let unserved = verdict.starts_with("later: ") || verdict.starts_with("declined");
        let explained = tests.starts_with("none") && verdict.len() > "declined".len();
        assert!(
            unserved || explained || !quoted(&tests).is_empty(),
            "{topic} has no test"
        );
    }
}
