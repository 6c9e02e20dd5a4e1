//! Work left undone by its own words: ignored tests, holes in the code, notes to oneself, lints switched off for a whole crate.
//!
//! The marks are put together from halves so that this file passes its own rule.

use crate::tree::{Tree, has_extension};

const MARKS: &[(&str, &str)] = &[
    (
        concat!("#[", "ignore"),
        "an ignored test proves nothing; assert today's answer and say so",
    ),
    (concat!("todo", "!("), "a hole in the code"),
    (concat!("unimplemented", "!("), "a hole in the code"),
    (
        concat!("TO", "DO"),
        "a note to oneself; do it or leave it out",
    ),
    (
        concat!("FIX", "ME"),
        "a note to oneself; do it or leave it out",
    ),
    (
        concat!("#![", "allow"),
        "a lint switched off for a whole crate; use `expect` with a reason where it is needed",
    ),
];

/// Lines of code with such a mark.
pub fn marks(tree: &Tree) -> Vec<String> {
    let mut breaches = Vec::new();
    let code = tree
        .files()
        .filter(|(path, _)| has_extension(path, &["rs", "go", "py", "sh"]));
    for (path, text) in code.filter(|(_, text)| !crate::tree::is_generated(text)) {
        for (number, line) in text.lines().enumerate() {
            let found = MARKS.iter().filter(|(mark, _)| line.contains(mark));
            breaches
                .extend(found.map(|(mark, why)| format!("{path}:{}: {mark}: {why}", number + 1)));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_a_breach_where_it_stands() {
        for (mark, why) in MARKS {
            let text = format!("//! x\nfn f() {{\n    {mark}\n}}\n");
            let breaches = marks(&Tree::of(&[
                ("a.rs", &text),
                ("a.md", &text),
                ("b.rs", "//! x\nfn f() {}\n"),
            ]));
            assert_eq!(breaches, [format!("a.rs:3: {mark}: {why}")]);
        }
    }
}
