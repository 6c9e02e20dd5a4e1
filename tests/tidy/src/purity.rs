//! The core touches nothing but its arguments: no clock, files, environment, network, free threads, async, or maps without an order.
//!
//! Read from the text, tests of the core included. The core's `clippy.toml` refuses many of the same things with types resolved;
//! this rule sees whole modules of the standard library, which clippy's lists of single functions cannot name.

use crate::tree::Tree;

/// Modules of the standard library, each with what to take instead.
const MODULES: &[(&str, &str)] = &[
    ("env", "take a setting"),
    ("fs", "take the value"),
    ("io", "take the value"),
    ("net", "return an action"),
    ("process", "return an action"),
    ("time", "take `now`"),
];

/// Words that have no place in the core.
const WORDS: &[(&str, &str)] = &[
    (
        "HashMap",
        "its order is random; use BTreeMap or a sorted Vec",
    ),
    (
        "HashSet",
        "its order is random; use BTreeSet or a sorted Vec",
    ),
    ("RandomState", "it is random; use the core's fixed hash"),
    ("async", "async ends at the adapters"),
    (
        "thread::spawn",
        "free threads make order visible; use scoped ones",
    ),
];

/// Places in the core that reach outside.
pub fn reaches(tree: &Tree) -> Vec<String> {
    let core = tree.core();
    core.flat_map(|(path, text)| reaches_in(path, text))
        .collect()
}

fn reaches_in(path: &str, text: &str) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut in_braces = false;
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        in_braces |= code.trim_start().starts_with("use std::{");
        for (module, instead) in MODULES {
            if has_word(code, &format!("std::{module}")) || (in_braces && has_word(code, module)) {
                breaches.push(format!(
                    "{path}:{}: std::{module} in the core; {instead}",
                    number + 1
                ));
            }
        }
        for (word, why) in WORDS.iter().filter(|(word, _)| has_word(code, word)) {
            breaches.push(format!("{path}:{}: {word} in the core; {why}", number + 1));
        }
        in_braces &= !code.contains(';');
    }
    breaches
}

/// `true` if `word` stands in `code`, not as part of a longer name.
fn has_word(code: &str, word: &str) -> bool {
    let part_of_name = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    code.match_indices(word).any(|(start, _)| {
        let (before, after) = (&code[..start], &code[start + word.len()..]);
        !part_of_name(before.chars().next_back()) && !part_of_name(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<String> {
        let breaches = reaches(&Tree::of(&[
            ("host/core/model/src/a.rs", text),
            ("host/policy/src/a.rs", text),
        ]));
        let short = |breach: &String| {
            breach
                .strip_prefix("host/core/model/src/a.rs:")
                .unwrap()
                .split(';')
                .next()
                .unwrap()
                .to_owned()
        };
        breaches.iter().map(short).collect()
    }

    #[test]
    fn what_reaches_outside_is_a_breach_in_the_core_alone() {
        assert_eq!(
            check("//! x\nuse std::time::Instant;"),
            ["2: std::time in the core"]
        );
        assert_eq!(
            check("fn f() { std::fs::read(p); }"),
            ["1: std::fs in the core"]
        );
        assert_eq!(
            check("let x = std::env::var(n);"),
            ["1: std::env in the core"]
        );
        assert_eq!(
            check("use std::collections::HashMap;"),
            ["1: HashMap in the core"]
        );
        assert_eq!(check("pub async fn f() {}"), ["1: async in the core"]);
    }

    #[test]
    fn modules_named_inside_braces_are_seen() {
        assert_eq!(
            check("use std::{fmt, time::Instant};"),
            ["1: std::time in the core"]
        );
        assert_eq!(
            check("use std::{\n    fmt,\n    io,\n};\nlet io = 1;"),
            ["3: std::io in the core"]
        );
    }

    #[test]
    fn comments_and_longer_names_are_no_breach() {
        assert_eq!(
            check(
                "// like a HashMap, without std::time\nuse crate::time::Timestamp;\nstruct IndexHashMapLike;"
            ),
            [""; 0]
        );
    }
}
