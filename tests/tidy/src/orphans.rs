//! Every Rust file belongs to a program: it is the root of one, or the file above it declares it as a module, or another takes it in
//! by its path. A file of tests that is not declared would never run.

use crate::tree::{Tree, has_extension, is_generated};

/// Files that cargo takes as roots without being told, by the folder they are in.
const ROOTS: [&str; 4] = ["bin", "tests", "examples", "benches"];

/// Breaches: files that no program contains.
pub fn orphans(tree: &Tree) -> Vec<String> {
    let files = tree
        .files()
        .filter(|(path, text)| has_extension(path, &["rs"]) && !is_generated(text));
    let orphans = files.filter(|(path, _)| {
        !is_root(tree, path) && !is_declared(tree, path) && !is_taken_in(tree, path)
    });
    orphans
        .map(|(path, _)| format!("{path}: no file declares it as a module"))
        .collect()
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn is_root(tree: &Tree, path: &str) -> bool {
    let (folder, file) = split(path);
    let (_, above) = split(folder);
    let is_program = ROOTS.contains(&above) && tree.text(&format!("{folder}/main.rs")).is_none();
    matches!(file, "lib.rs" | "main.rs" | "build.rs") || is_program
}

fn is_declared(tree: &Tree, path: &str) -> bool {
    let (folder, file) = split(path);
    // A `mod.rs` is the file of its folder.
    let (folder, name) = if file == "mod.rs" {
        split(folder)
    } else {
        (folder, file.trim_end_matches(".rs"))
    };
    let above = ["lib.rs", "main.rs", "mod.rs"].map(|file| format!("{folder}/{file}"));
    let beside = format!("{folder}.rs");
    // Modules of a program in `bin`, `tests` and their like stand beside it.
    let programs = tree.files().map(|(path, _)| path).filter(|other| {
        let (of, _) = split(other);
        of == folder && is_root(tree, other)
    });
    let parents = above
        .iter()
        .map(String::as_str)
        .chain([&*beside])
        .chain(programs);
    let declaration = format!("mod {name};");
    let declares = |parent: &str| {
        let text = tree.text(parent).unwrap_or_default();
        text.lines().any(|line| line.trim().ends_with(&declaration))
    };
    parents.into_iter().any(declares)
}

/// `true` if a file says `#[path = "…"]` with the end of this path.
fn is_taken_in(tree: &Tree, path: &str) -> bool {
    let (folder, file) = split(path);
    let (_, above) = split(folder);
    let end = format!("{above}/{file}\"]");
    let says = |line: &str| line.starts_with("#[path") && line.ends_with(&end);
    tree.files().any(|(_, text)| text.lines().any(says))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_and_declared_modules_are_fine() {
        let tree = Tree::of(&[
            ("a/build.rs", ""),
            ("a/src/lib.rs", "pub mod one;\nmod two;\n"),
            ("a/src/one.rs", ""),
            ("a/src/two/mod.rs", "#[cfg(test)]\nmod tests;\n"),
            ("a/src/two/tests.rs", ""),
            ("a/src/bin/tool.rs", ""),
            ("a/tests/alone.rs", "mod common;\n"),
            ("a/tests/common/mod.rs", ""),
            ("b/tests/main.rs", "mod part;\n"),
            (
                "b/tests/part.rs",
                "#[path = \"common/fleet.rs\"]\nmod fleet;\n",
            ),
            ("b/tests/common/fleet.rs", ""),
        ]);
        assert_eq!(orphans(&tree), [""; 0]);
    }

    #[test]
    fn a_file_that_nobody_declares_is_a_breach() {
        let tree = Tree::of(&[
            ("b/tests/main.rs", "mod part;\n"),
            ("b/tests/part.rs", ""),
            ("b/tests/forgotten.rs", ""),
        ]);
        let breach = "b/tests/forgotten.rs: no file declares it as a module";
        assert_eq!(orphans(&tree), [breach]);
    }
}
