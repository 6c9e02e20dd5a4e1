//! One name for one type: no type of the core is called as another of it.

use std::collections::BTreeMap;

use crate::tree::{Tree, opens_tests};

/// Names that more than one struct, enum, trait or alias of the core has, public or private; tests apart.
pub fn types(tree: &Tree) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let core = tree.core();
    for (path, text) in
        core.filter(|(path, _)| !path.ends_with("/tests.rs") && !path.contains("/tests/"))
    {
        let own = text
            .lines()
            .enumerate()
            .take_while(|(_, line)| !opens_tests(line));
        for (at, line) in own {
            if let Some(name) = defined(line) {
                places
                    .entry(name)
                    .or_default()
                    .push(format!("{path}:{}", at + 1));
            }
        }
    }
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    twice
        .map(|(name, places)| format!("{}: {name} is the name of several types", places.join(", ")))
        .collect()
}

/// The type that a line defines. Aliases count at the margin alone: further in they belong to a trait.
fn defined(line: &str) -> Option<&str> {
    let margin = !line.starts_with(' ');
    let rest = line.trim_start();
    let rest = match rest.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => rest,
    };
    let (kind, rest) = rest.trim_start().split_once(' ')?;
    let defines =
        matches!(kind, "struct" | "enum" | "trait" | "union") || (kind == "type" && margin);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    defines.then(|| &rest[..end.unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_below_tests_in_a_file_of_their_own_are_read() {
        let tree = Tree::of(&[
            (
                "host/core/model/src/a/mod.rs",
                "#[cfg(test)]\nmod tests;\n\npub struct Slot;\n",
            ),
            (
                "host/core/model/src/b.rs",
                "pub struct Slot;\n#[cfg(test)]\nmod tests {\n    struct Own;\n    struct Own;\n}\n",
            ),
        ]);
        let expected = "host/core/model/src/a/mod.rs:4, host/core/model/src/b.rs:1: Slot is the name of several types";
        assert_eq!(types(&tree), [expected]);
    }

    #[test]
    fn two_types_of_one_name_are_a_breach() {
        let tree = Tree::of(&[
            (
                "host/core/model/src/a.rs",
                "pub struct Slot {\n    of: u8,\n}\npub(crate) enum Kind<T> {}\n",
            ),
            (
                "host/core/model/src/b/c.rs",
                "/// A slot.\ntype Slot = (u8, u8);\nstruct Other;\n",
            ),
            ("host/core/model/src/d.rs", "trait Kind {}"),
        ]);
        assert_eq!(
            types(&tree),
            [
                "host/core/model/src/a.rs:4, host/core/model/src/d.rs:1: Kind is the name of several types",
                "host/core/model/src/a.rs:1, host/core/model/src/b/c.rs:2: Slot is the name of several types",
            ]
        );
    }

    #[test]
    fn associated_types_tests_and_other_crates_are_apart() {
        let tree = Tree::of(&[
            (
                "host/core/model/src/a.rs",
                "struct Slot;\nimpl Deref for A {\n    type Target = Slot;\n}\n#[cfg(test)]\nmod tests {\n    struct Slot;\n}\n",
            ),
            (
                "host/core/model/src/b.rs",
                "impl Deref for B {\n    type Target = u8;\n}\n",
            ),
            ("host/core/model/src/b/tests.rs", "struct Slot;"),
            ("host/sim/src/a.rs", "struct Slot;"),
        ]);
        assert_eq!(types(&tree), [""; 0]);
    }
}
