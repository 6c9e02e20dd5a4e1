//! Goldens: the answers of a policy to the cases of its suite as they were recorded, compared exactly.
//!
//! A suite says what matters; goldens notice everything else. The file holds each row in words that lose nothing, so that the
//! difference of two versions can be read where versions are kept. Cases and rows stand in the order of their names.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::suite::Tried;
use crate::yaml;

/// Rows by case.
type Rows = BTreeMap<String, BTreeMap<String, String>>;

/// Answers as recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Goldens(Rows);

/// A file that holds no goldens.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file} holds no goldens: {problem}; --update writes it anew")]
pub struct GoldenError {
    /// The file.
    pub file: String,
    /// The fault in words, with its line.
    pub problem: String,
}

/// A row that is not as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The case.
    pub case: String,
    /// The row.
    pub row: String,
    /// The recorded answer; `None` where the row is new.
    pub recorded: Option<String>,
    /// The policy's answer; `None` where the row is gone.
    pub found: Option<String>,
}

impl Goldens {
    /// Goldens of the answers that cases were just given.
    pub fn of(tried: &[Tried]) -> Self {
        let answered = tried.iter().filter(|tried| !tried.rows.is_empty());
        Self(
            answered
                .map(|tried| (tried.case.clone(), tried.rows.clone()))
                .collect(),
        )
    }

    /// Reads a file that [`yaml`](Self::yaml) wrote.
    pub fn read(file: &str, text: &str) -> Result<Self, GoldenError> {
        let rows = yaml::read(text).map_err(|problem| GoldenError {
            file: file.to_owned(),
            problem,
        });
        rows.map(Self)
    }

    /// The file, for the policy of that name.
    pub fn yaml(&self, policy: &str) -> Result<String, serde_saphyr::ser::Error> {
        let rows = serde_saphyr::to_string(&self.0)?;
        Ok(format!(
            "# Answers of {policy} to the cases of suite.yaml; `plimsoll policy test --update` writes it anew.\n{rows}"
        ))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Every row that `found` has otherwise.
    pub fn differences(&self, found: &Self) -> Vec<Difference> {
        let cases: BTreeSet<&String> = self.0.keys().chain(found.0.keys()).collect();
        let none = BTreeMap::new();
        let mut differences = Vec::new();
        for case in cases {
            let recorded = self.0.get(case).unwrap_or(&none);
            let found = found.0.get(case).unwrap_or(&none);
            let rows: BTreeSet<&String> = recorded.keys().chain(found.keys()).collect();
            let changed = rows
                .into_iter()
                .filter(|row| recorded.get(*row) != found.get(*row));
            differences.extend(changed.map(|row| Difference {
                case: case.clone(),
                row: row.clone(),
                recorded: recorded.get(row).cloned(),
                found: found.get(row).cloned(),
            }));
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goldens(rows: &[(&str, &str, &str)]) -> Goldens {
        let mut goldens = Goldens::default();
        for (case, row, told) in rows {
            let rows = goldens.0.entry((*case).to_owned()).or_default();
            rows.insert((*row).to_owned(), (*told).to_owned());
        }
        goldens
    }

    #[test]
    fn what_is_written_is_read_again() {
        let written = goldens(&[
            ("a \"case\": of sorts", "general/m5", "0.1, list price"),
            (
                "a \"case\": of sorts",
                "general/yes",
                "1 at 0, # paid; then veto, - no",
            ),
            ("true", "0.5", "~"),
        ]);
        let text = written.yaml("rank-test").unwrap();
        assert_eq!(Goldens::read("goldens.yaml", &text), Ok(written));
        let refused = Goldens::read("goldens.yaml", "- 1\n")
            .unwrap_err()
            .to_string();
        assert!(
            refused.starts_with("goldens.yaml holds no goldens: "),
            "{refused}"
        );
    }

    #[test]
    fn rows_that_changed_came_and_went_are_told() {
        let was = goldens(&[("a", "x", "1"), ("a", "y", "2"), ("b", "z", "3")]);
        let is = goldens(&[("a", "x", "1"), ("a", "y", "4"), ("c", "z", "3")]);
        let told: Vec<_> = was
            .differences(&is)
            .into_iter()
            .map(|row| (row.case, row.row, row.recorded, row.found))
            .collect();
        let text = |text: &str| text.to_owned();
        assert_eq!(
            told,
            [
                (text("a"), text("y"), Some(text("2")), Some(text("4"))),
                (text("b"), text("z"), Some(text("3")), None),
                (text("c"), text("z"), None, Some(text("3"))),
            ]
        );
        assert!(was.differences(&was).is_empty());
    }
}
