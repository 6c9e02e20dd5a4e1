//! Two runs held side by side: where their rows are not the same.

use std::collections::{BTreeMap, BTreeSet};

use super::normal::{OF, Rows};

/// A row that is not the same in both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Subject and path, by which it is explained.
    pub key: String,
    /// Values that only Karpenter's run has.
    pub theirs: BTreeSet<String>,
    /// Values that only ours has.
    pub ours: BTreeSet<String>,
}

/// Where two runs differ, in the order of their keys. A type that only one of them bought is no difference.
pub fn differences(theirs: &Rows, ours: &Rows) -> Vec<Difference> {
    let (none, nothing) = (BTreeMap::new(), BTreeSet::new());
    let subjects: BTreeSet<&String> = theirs.0.keys().chain(ours.0.keys()).collect();
    let mut found = Vec::new();
    for subject in subjects {
        let (one, other) = (theirs.0.get(subject), ours.0.get(subject));
        if subject.contains(OF) && (one.is_none() || other.is_none()) {
            continue;
        }
        let (one, other) = (one.unwrap_or(&none), other.unwrap_or(&none));
        let paths: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        for path in paths {
            let (one, other) = (
                one.get(path).unwrap_or(&nothing),
                other.get(path).unwrap_or(&nothing),
            );
            if one != other {
                found.push(Difference {
                    key: format!("{subject} {path}"),
                    theirs: one - other,
                    ours: other - one,
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(all: &[(&str, &str, &str)]) -> Rows {
        let mut rows = Rows::default();
        for (subject, path, value) in all {
            rows.put(subject, path, (*value).to_owned());
        }
        rows
    }

    #[test]
    fn only_what_differs_is_told_and_only_of_types_that_both_bought() {
        let theirs = rows(&[
            ("Node", "same", "1"),
            ("Node", "labels", "a"),
            ("Node", "labels", "b"),
            ("Node of m5.large", "cpu", "2"),
            ("Node of c5.large", "cpu", "2"),
        ]);
        let ours = rows(&[
            ("Node", "same", "1"),
            ("Node", "labels", "a"),
            ("Node", "labels", "c"),
            ("Node", "more", "x"),
            ("Node of m5.large", "cpu", "3"),
            ("Node of r5.large", "cpu", "2"),
        ]);
        let difference = |key: &str, theirs: &[&str], ours: &[&str]| {
            let texts = |all: &[&str]| all.iter().map(ToString::to_string).collect();
            Difference {
                key: key.to_owned(),
                theirs: texts(theirs),
                ours: texts(ours),
            }
        };
        let expected = [
            difference("Node labels", &["b"], &["c"]),
            difference("Node more", &[], &["x"]),
            difference("Node of m5.large cpu", &["2"], &["3"]),
        ];
        assert_eq!(differences(&theirs, &ours), expected);
    }
}
