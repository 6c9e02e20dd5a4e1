//! Words that have no place in what we publish: talk about how the work was done, places that only its author can reach, and words that
//! gave way to the field's.
//!
//! The words are put together from halves so that this file passes its own rule. Lock files, which tools write, are not read.

use crate::tree::{Tree, has_extension};

const PROCESS: &str = "it is about how the work was done";
const PLACE: &str = "only its author can reach it";
const HOST: &str = "name the package and leave the host to the client";

/// Words in lower case; each is found in any case, and not as part of a longer word.
const WORDS: &[(&str, &str)] = &[
    (concat!("sit", "ting"), PROCESS),
    (concat!("sit", "tings"), PROCESS),
    (concat!("issues", " show"), PROCESS),
    (concat!("project", " machine"), PROCESS),
    (concat!("acceptance", ".md"), PLACE),
    (concat!("taste", ".md"), PLACE),
    (concat!("policy-interface", ".md"), PLACE),
    (concat!("../", "shared"), PLACE),
    (concat!("/wo", "rk/"), PLACE),
    (concat!("/ro", "ot/"), PLACE),
    (concat!("/ho", "me/"), PLACE),
    (concat!("crates", ".io"), HOST),
    (concat!("npmjs", ".org"), HOST),
    (concat!("pypi", ".org"), HOST),
    (concat!("pythonhosted", ".org"), HOST),
    (concat!("proxy.", "golang.org"), HOST),
    (concat!("sum.", "golang.org"), HOST),
    (concat!("maven", ".org"), HOST),
    (concat!("deb.", "debian.org"), HOST),
];

/// The script of continuous integration says where its data may stand.
const EXCEPTIONS: &[(&str, &str)] = &[(".ci/run", concat!("../", "shared"))];

/// Words that gave way to the field's, and those; each is found in any case, and inside of names too.
const RETIRED: &[(&str, &str)] = &[
    (concat!("incum", "bent"), "Karpenter"),
    (concat!("hang", " on"), "depend on"),
    (concat!("hangs", " on"), "depends on"),
];

/// Pages that keep such words: the history, and the table of words.
const KEPT: &[&str] = &["CHANGELOG.md", "CONTRIBUTING.md"];

/// A page of ours whose name differs from another's in case only.
const OURS: &str = "tests/ACCEPTANCE.md";

/// Lines with such a word, or with the number of an issue.
pub fn talk(tree: &Tree) -> Vec<String> {
    let mut breaches = Vec::new();
    for (path, text) in tree
        .files()
        .filter(|(path, _)| !has_extension(path, &["lock", "sum"]))
    {
        for (number, line) in text.lines().enumerate() {
            let line = line.replace(OURS, "").to_lowercase();
            let words = WORDS
                .iter()
                .filter(|(word, _)| has_word(&line, word) && !EXCEPTIONS.contains(&(path, word)));
            breaches
                .extend(words.map(|(word, why)| format!("{path}:{}: {word:?}: {why}", number + 1)));
            if names_issue(&line) {
                breaches.push(format!(
                    "{path}:{}: the number of an issue: {PROCESS}",
                    number + 1
                ));
            }
        }
    }
    breaches
}

/// Lines of sources and pages with a word that gave way to the field's.
pub fn retired(tree: &Tree) -> Vec<String> {
    let mut breaches = Vec::new();
    for (path, text) in tree
        .files()
        .filter(|(path, _)| has_extension(path, &["md", "py", "rs"]) && !KEPT.contains(path))
    {
        for (number, line) in text.lines().enumerate() {
            let line = line.replace('_', " ").to_lowercase();
            let words = RETIRED.iter().filter(|(word, _)| line.contains(word));
            breaches.extend(words.map(|(word, instead)| {
                format!("{path}:{}: {word:?}; expected {instead:?}", number + 1)
            }));
        }
    }
    breaches
}

/// `true` if the word stands in the line; at an end of the word that is a letter or `/`, a letter, digit, `.`, `-` or `_` beside it
/// makes it part of something longer.
fn has_word(line: &str, word: &str) -> bool {
    let longer = |letter: char| letter.is_alphanumeric() || "._-}".contains(letter);
    line.match_indices(word).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        let starts_inside =
            !word.starts_with('.') && before.ends_with(|letter| longer(letter) && letter != '.');
        let ends_inside =
            word.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        !starts_inside && !ends_inside
    })
}

/// The word, in singular or plural, then a number, with or without `#`.
fn names_issue(line: &str) -> bool {
    line.match_indices(concat!("iss", "ue"))
        .any(|(start, word)| {
            let rest = &line[start + word.len()..];
            let rest = rest.strip_prefix('s').unwrap_or(rest);
            let number = rest
                .strip_prefix(' ')
                .map(|rest| rest.strip_prefix('#').unwrap_or(rest));
            number.is_some_and(|number| number.starts_with(|letter: char| letter.is_ascii_digit()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> usize {
        talk(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn every_word_is_a_breach_in_any_case_and_any_text() {
        for (word, why) in WORDS {
            let text = format!("first\nsee {} now\n", word.to_uppercase());
            let breaches = talk(&Tree::of(&[("a.md", &text)]));
            assert_eq!(breaches, [format!("a.md:2: {word:?}: {why}")]);
        }
    }

    #[test]
    fn a_word_that_gave_way_is_a_breach_in_sources_and_pages_alone() {
        for (word, instead) in RETIRED {
            let text = format!(
                "first\nfn as_{}s() {{}}\n",
                word.replace(' ', "_").to_uppercase()
            );
            let tree = Tree::of(&[("a.rs", &text), ("a.yaml", &text), ("CHANGELOG.md", &text)]);
            assert_eq!(
                retired(&tree),
                [format!("a.rs:2: {word:?}; expected {instead:?}")]
            );
        }
    }

    #[test]
    fn a_word_inside_a_longer_one_is_no_breach() {
        let fine = [
            concat!("baby", "sit", "ting"),
            concat!("tests", "/wo", "rk/x"),
            concat!("$dir", "/ho", "me/x"),
            concat!("${dir}", "/ro", "ot/x"),
        ];
        for text in fine {
            assert_eq!(check("a.rs", text), 0, "{text}");
        }
        assert_eq!(
            check("a.rs", concat!("https://index.", "crates", ".io/x")),
            1
        );
    }

    #[test]
    fn the_number_of_an_issue_is_a_breach() {
        let word = concat!("iss", "ue");
        for (text, breaches) in [
            ("{} 3", 1),
            ("{}s #12", 1),
            ("{} tracking", 0),
            ("an {} of 3", 0),
            ("the {}", 0),
        ] {
            assert_eq!(check("a.md", &text.replace("{}", word)), breaches, "{text}");
        }
    }

    #[test]
    fn lock_files_and_the_named_exception_are_left_alone() {
        assert_eq!(check("Cargo.lock", concat!("crates", ".io")), 0);
        assert_eq!(check(".ci/run", concat!("../", "shared/data")), 0);
        assert_eq!(check("Makefile", concat!("../", "shared/data")), 1);
    }
}
