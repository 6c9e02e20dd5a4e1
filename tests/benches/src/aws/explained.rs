//! Differences that are meant: a table of `tests/cloud/DIFFERENCES.md`, with the rows that each line explains, in which scripts, and why.

use anyhow::{Context, Result, bail, ensure};

use super::compare::Difference;

/// The page.
const PAGE: &str = include_str!("../../../cloud/DIFFERENCES.md");
/// The word for every script.
const ALL: &str = "all";

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Keys of differences; a `*` stands for any text.
    pub pattern: String,
    /// Names of scripts; none for all of them.
    pub scripts: Vec<String>,
}

/// The table. Fails where a line is of another form, or names a script that there is not.
pub fn explanations(scripts: &[&str]) -> Result<Vec<Explanation>> {
    read(PAGE, scripts)
}

fn read(page: &str, scripts: &[&str]) -> Result<Vec<Explanation>> {
    let lines = page.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| explanation(line, scripts)).collect()
}

fn explanation(line: &str, known: &[&str]) -> Result<Explanation> {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [pattern, scripts, why] = cells[..] else {
        bail!("\"{line}\" has {} cells; expected three", cells.len());
    };
    ensure!(!why.is_empty(), "\"{line}\" does not say why");
    let inner = pattern
        .strip_prefix('`')
        .and_then(|it| it.strip_suffix('`'));
    let pattern = inner.with_context(|| format!("{pattern} is not set in `code`"))?;
    let names = scripts.split(", ").filter(|name| *name != ALL);
    let scripts: Vec<String> = names.map(str::to_owned).collect();
    if let Some(name) = scripts.iter().find(|name| !known.contains(&name.as_str())) {
        bail!(
            "`{pattern}` is explained for \"{name}\", which is no script; expected {ALL} or some of {}",
            known.join(", ")
        );
    }
    Ok(Explanation {
        pattern: pattern.to_owned(),
        scripts,
    })
}

impl Explanation {
    /// `true` if it is about a difference in a script.
    pub fn covers(&self, script: &str, difference: &Difference) -> bool {
        let is_for = self.scripts.is_empty() || self.scripts.iter().any(|name| name == script);
        is_for && matches(&self.pattern, &difference.key)
    }
}

/// `true` if a text is as a pattern says, in which a `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begin, rest)) => text.strip_prefix(begin).is_some_and(|text| {
            let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.any(|at| matches(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_line_explains_the_rows_and_scripts_that_it_names() {
        let page = "text\n| row | scripts | why |\n|---|---|---|\n| `Node a*z` | plain, zone | so |\n| `Node b` | all | so |\n";
        let table = read(page, &["plain", "zone", "role"]).expect("a table");
        let explains = |script: &str, key: &str| {
            let difference = Difference {
                key: key.to_owned(),
                theirs: BTreeSet::new(),
                ours: BTreeSet::new(),
            };
            table.iter().position(|own| own.covers(script, &difference))
        };
        assert_eq!(explains("zone", "Node a.b.z"), Some(0));
        assert_eq!(explains("role", "Node a.b.z"), None);
        assert_eq!(explains("zone", "Node a.b"), None);
        assert_eq!(explains("role", "Node b"), Some(1));
        assert_eq!(explains("role", "Node bb"), None);
    }

    #[test]
    fn lines_of_another_form_are_refused() {
        for line in [
            "| `a` | all |",
            "| `a` | nowhere | so |",
            "| `a | all | so |",
        ] {
            assert!(read(line, &["plain"]).is_err(), "{line}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, is_match) in [
            ("a*", "a", true),
            ("*", "", true),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbx", false),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, text), is_match, "{pattern} {text}");
        }
    }
}
