//! The table of acceptance rows names tests that exist.
//!
//! A test is named as a path and a function, each between backticks, one after the other.

use crate::Tree;

/// The table.
const TABLE: &str = "tests/ACCEPTANCE.md";

/// Tests that the table names and that do not exist; rows that say "proved" and name none; the table itself, if it is missing.
pub fn named_tests(tree: &Tree) -> Vec<String> {
    let Some((_, table)) = tree.files().find(|(path, _)| *path == TABLE) else {
        return vec![format!("{TABLE}: the table is missing")];
    };
    let mut breaches = Vec::new();
    for (at, row) in table
        .lines()
        .enumerate()
        .filter(|(_, row)| row.starts_with("| "))
    {
        let named = tests_of(row);
        let place = format!("{TABLE}:{}", at + 1);
        if named.is_empty() && row.contains("| proved") {
            breaches.push(format!("{place}: the row is proved by no test"));
        }
        for (path, name) in named {
            let exists = tree
                .files()
                .any(|(known, text)| known == path && text.contains(&format!("fn {name}(")));
            if !exists {
                breaches.push(format!("{place}: there is no test {name} in {path}"));
            }
        }
    }
    breaches
}

/// Paths and functions that a row names.
fn tests_of(row: &str) -> Vec<(&str, &str)> {
    let quoted: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
    let is_source = |text: &str| text.contains('/') && text.rsplit('.').next() == Some("rs");
    quoted
        .windows(2)
        .filter(|pair| is_source(pair[0]) && !is_source(pair[1]))
        .map(|pair| (pair[0], pair[1]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(row: &str) -> Vec<String> {
        let table = format!("| row | shown | test | state |\n|---|---|---|---|\n{row}\n");
        named_tests(&Tree::of(&[
            (TABLE, &table),
            ("tests/a.rs", "//! x\n#[test]\nfn it_holds() {}\n"),
        ]))
    }

    #[test]
    fn a_test_that_is_there_is_no_breach() {
        assert_eq!(
            told("| K1 | x | `tests/a.rs` `it_holds` | proved |"),
            [""; 0]
        );
        assert_eq!(
            told("| K1 | x | | open: `plimsoll plan` prints it |"),
            [""; 0]
        );
    }

    #[test]
    fn a_table_that_is_missing_is_told() {
        let breaches = named_tests(&Tree::of(&[("tests/a.rs", "//! x\n")]));
        assert_eq!(breaches, ["tests/ACCEPTANCE.md: the table is missing"]);
    }

    #[test]
    fn a_test_that_nobody_wrote_is_told_with_its_row() {
        assert_eq!(
            told("| K1 | x | `tests/a.rs` `it_holds`, `tests/a.rs` `it_flies` | proved |"),
            ["tests/ACCEPTANCE.md:3: there is no test it_flies in tests/a.rs"]
        );
        assert_eq!(
            told("| K1 | x | | proved |"),
            ["tests/ACCEPTANCE.md:3: the row is proved by no test"]
        );
    }
}
