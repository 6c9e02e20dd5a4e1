//! Doc comments are nouns with a meaning: none begins as a question, since the rest of it then only restates the name.

use crate::tree::Tree;

/// Folders whose doc comments are read.
const FOLDERS: &[&str] = &["host/", "sdk/src/", "tests/"];

/// Folders whose files' headers are read.
const HEADED: &[&str] = &["host/", "sdk/", "policies/", "tests/"];

/// First words of such sentences.
const OPENINGS: &[&str] = &["What", "Which", "Whether"];

/// Lines of doc comments on public items and fields that begin with such a word. A crate's own (`pub(crate)`) count as public;
/// variants and methods of traits, which are as public as what holds them, are not read.
pub fn openings(tree: &Tree) -> Vec<String> {
    let mut breaches = Vec::new();
    let sources = tree.sources();
    for (path, text) in
        sources.filter(|(path, _)| FOLDERS.iter().any(|folder| path.starts_with(folder)))
    {
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        for (at, line) in lines.iter().enumerate() {
            if let Some(word) = opening(line)
                && is_public(&lines[at..])
            {
                breaches.push(format!(
                    "{path}:{}: a doc comment begins with {word:?}; expected a noun, or \"`true` if\"",
                    at + 1
                ));
            }
        }
    }
    breaches
}

/// Files whose header begins with such a word.
pub fn headers(tree: &Tree) -> Vec<String> {
    let sources = tree.sources();
    let headed = sources.filter(|(path, _)| HEADED.iter().any(|folder| path.starts_with(folder)));
    headed
        .filter_map(|(path, text)| {
            let word = question(text.strip_prefix("//! ")?)?;
            Some(format!(
                "{path}:1: the header begins with {word:?}; expected a noun"
            ))
        })
        .collect()
}

/// The opening of a line of a doc comment; `None` of any other line.
fn opening(line: &str) -> Option<&'static str> {
    question(line.strip_prefix("/// ")?)
}

/// The word that makes a question of a text; `None` if it does not begin with one.
fn question(said: &str) -> Option<&'static str> {
    let first = said.split(|letter: char| !letter.is_alphanumeric()).next();
    let mut openings = OPENINGS.iter().copied();
    openings.find(|word| first == Some(word))
}

/// `true` if the first line behind comments and attributes of one line makes something public.
fn is_public(lines: &[&str]) -> bool {
    let mut code = lines
        .iter()
        .filter(|line| !line.starts_with("///") && !line.starts_with("#["));
    code.next()
        .is_some_and(|line| line.starts_with("pub ") || line.starts_with("pub("))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> usize {
        openings(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn a_public_item_or_field_that_is_explained_by_a_question_is_a_breach() {
        let text = concat!(
            "/// What it is.\n#[derive(Debug)]\npub struct Pool {\n    /// Its name. Which is a label.\n    pub name: String,\n",
            "    /// Nodes.\n    /// Whether there are any is open.\n    pub(crate) nodes: u32,\n}\n"
        );
        assert_eq!(
            openings(&Tree::of(&[("host/core/model/src/a.rs", text)])),
            [
                "host/core/model/src/a.rs:1: a doc comment begins with \"What\"; expected a noun, or \"`true` if\"",
                "host/core/model/src/a.rs:7: a doc comment begins with \"Whether\"; expected a noun, or \"`true` if\"",
            ]
        );
    }

    #[test]
    fn nouns_longer_words_private_items_and_other_folders_are_none() {
        for line in [
            "/// Price per hour.",
            "/// `true` if it fits.",
            "/// Whatever is left.",
            "// What for.",
            "//! What for.",
        ] {
            let text = format!("{line}\npub fn price() {{}}\n");
            assert_eq!(check("host/core/model/src/a.rs", &text), 0, "{line}");
        }
        let private = "/// What it is.\nfn price() {}\npub fn other() {}\n";
        assert_eq!(check("host/core/model/src/a.rs", private), 0);
        let public = "/// What it is.\npub fn price() {}\n";
        assert_eq!(check("host/core/model/src/a.rs", public), 1);
        assert_eq!(check("policies/rank-a/src/lib.rs", public), 0);
    }

    #[test]
    fn a_header_that_begins_as_a_question_is_a_breach() {
        let tree = Tree::of(&[
            ("policies/rank-a/src/lib.rs", "//! Which types go first.\n"),
            (
                "policies/rank-a/src/order.rs",
                "//! Order of types.\n//! What for.\n",
            ),
            ("host/core/model/src/a.rs", "//! Whatever is left.\n"),
        ]);
        assert_eq!(
            headers(&tree),
            ["policies/rank-a/src/lib.rs:1: the header begins with \"Which\"; expected a noun"]
        );
    }
}
