//! Words that only we use, kept out of what people read: help, messages, events, errors and tables.
//!
//! Read are texts in quotes of the host's and the policies' sources, without their tests, and comments that become the help of flags.

use crate::tree::Tree;

/// Words, and the field's words for them.
const WORDS: &[(&str, &str)] = &[
    (concat!("go", "es"), "terminates, is disrupted, continues"),
    (concat!("passed", " over"), "ignored"),
    (concat!("to", "ld"), "logged, reported, named"),
];

/// Comments in these files are help.
const HELP: &str = "host/cli/src/flags";

/// Texts with such a word.
pub fn words(tree: &Tree) -> Vec<String> {
    let mut breaches = Vec::new();
    let sources = tree.sources().filter(|(path, _)| is_read(path));
    for (path, text) in sources {
        for (number, line) in product(text).lines().enumerate() {
            for spoken in spoken(line, path.starts_with(HELP)) {
                let spoken = without_fields(&spoken);
                let found = WORDS.iter().filter(|(word, _)| has_word(&spoken, word));
                breaches.extend(found.map(|(word, instead)| {
                    format!(
                        "{path}:{}: {word:?} in a text for people; expected one of: {instead}",
                        number + 1
                    )
                }));
            }
        }
    }
    breaches
}

fn is_read(path: &str) -> bool {
    let is_product = ["host/", "policies/"]
        .iter()
        .any(|folder| path.starts_with(folder));
    is_product
        && path.contains("/src/")
        && !path.contains("/tests/")
        && !path.ends_with("/tests.rs")
}

/// A source without the tests at its end.
fn product(text: &str) -> &str {
    text.split_once("#[cfg(test)]\nmod tests {")
        .map_or(text, |(product, _)| product)
}

/// Texts in quotes on a line, and a comment that is help. A text that goes on from the line before is read where it ends in a quote or in a
/// backslash.
fn spoken(line: &str, is_help: bool) -> Vec<String> {
    let trimmed = line.trim_start();
    if let Some(comment) = trimmed.strip_prefix("//") {
        let help = comment.strip_prefix("/ ").filter(|_| is_help);
        return help.map(str::to_owned).into_iter().collect();
    }
    let quotes = line.replace("\\\"", "").replace("'\"'", "");
    let parts: Vec<&str> = quotes.split('"').collect();
    let (is_odd, is_continued) = (parts.len().is_multiple_of(2), line.ends_with('\\'));
    // Without a quote, a line that is continued is in the middle of a text; with an odd number of them, it ends one of the line before unless it
    // is continued itself.
    let first = match (parts.len(), is_odd) {
        (1, _) if is_continued => 0,
        (_, true) if !is_continued => 0,
        _ => 1,
    };
    let texts = parts.iter().skip(first).step_by(2);
    texts.map(|text| (*text).to_owned()).collect()
}

/// A text without names of values, which stand in braces.
fn without_fields(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::new();
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            letter if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, line: &str) -> usize {
        words(&Tree::of(&[(path, &format!("//! x\n{line}\n"))])).len()
    }

    #[test]
    fn a_text_for_people_has_none_of_the_words() {
        for (word, _) in WORDS {
            for line in [
                format!("    bail!(\"the node {word} now\");"),
                format!("    f(\"a\", \"{word}\");"),
                format!("        \"what {word} \\"),
                format!("         and {word}\", name);"),
                format!("         what {word}, \\"),
            ] {
                assert_eq!(check("host/core/model/src/a.rs", &line), 1, "{line}");
                assert_eq!(check("host/core/model/tests/a.rs", &line), 0, "{line}");
            }
            let help = format!("    /// What {word}.");
            assert_eq!(check("host/cli/src/flags/run.rs", &help), 1);
            assert_eq!(check("host/core/model/src/a.rs", &help), 0);
        }
    }

    #[test]
    fn names_of_values_longer_words_and_tests_are_none_of_them() {
        for line in [
            concat!("let to", "ld = f(\"{to", "ld}\");"),
            concat!("f(\"under", "go", "es\");"),
            concat!("#[cfg(test)]\nmod tests {\n    f(\"it go", "es\");\n}"),
        ] {
            assert_eq!(check("host/core/model/src/a.rs", line), 0, "{line}");
        }
    }
}
