//! A first policy: a crate that builds, has tests, and does something that can be seen in a simulation.
//!
//! The texts are files under `template/`, which a test of the program builds as they are but for the names.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Names in the templates that stand for the policy's own.
const NAME: &str = "new-policy";
const TYPE: &str = "NewPolicy";
const SDK: &str = "SDK_FOLDER";

/// Files of a ranking policy, and what is in them.
const RANK: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("../template/rank/manifest.toml")),
    (
        "rust-toolchain.toml",
        include_str!("../../../rust-toolchain.toml"),
    ),
    (".gitignore", "/target\n*.wasm\n"),
    ("README.md", include_str!("../template/rank/README.md")),
    ("src/lib.rs", include_str!("../template/rank/lib.rs")),
];

/// Why there is no first policy.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TemplateError {
    /// A name that no crate can have.
    #[error(
        "\"{name}\" is no name of a policy; expected lower-case letters, digits and single hyphens, a letter first, at most 63"
    )]
    Name {
        /// What was given.
        name: String,
    },
}

/// Files of a first ranking policy of that name, as paths in its folder and contents.
pub fn files(name: &str, sdk: &Path) -> Result<Vec<(PathBuf, String)>, TemplateError> {
    check_name(name)?;
    let sdk = sdk.display().to_string();
    let fill = |text: &str| {
        text.replace(NAME, name)
            .replace(TYPE, &type_name(name))
            .replace(SDK, &sdk)
    };
    Ok(RANK
        .iter()
        .map(|(path, text)| (PathBuf::from(path), fill(text)))
        .collect())
}

fn check_name(name: &str) -> Result<(), TemplateError> {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let fits = name.len() <= 63
        && name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name
            .split('-')
            .all(|word| !word.is_empty() && word.chars().all(is_letter));
    if fits {
        return Ok(());
    }
    Err(TemplateError::Name {
        name: name.to_owned(),
    })
}

/// `paid-first` as the name of a type: `PaidFirst`.
fn type_name(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    name.split('-').map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_every_file_and_nothing_of_the_template_is_left() {
        let files = files("paid-first", Path::new("/sdk")).unwrap();
        for (path, text) in &files {
            for left in [NAME, TYPE, SDK] {
                assert!(!text.contains(left), "{}: {left}", path.display());
            }
        }
        let text = |name: &str| {
            &files
                .iter()
                .find(|(path, _)| path == Path::new(name))
                .unwrap()
                .1
        };
        assert!(text("Cargo.toml").contains("path = \"/sdk\""));
        assert!(text("src/lib.rs").contains("export_ranking!(PaidFirst"));
    }

    #[test]
    fn names_that_no_crate_can_have_are_refused() {
        let long = "a".repeat(64);
        for name in ["", "1st", "Paid", "a--b", "-a", "a-", "a_b", "../a", &long] {
            let refused = files(name, Path::new("/sdk")).unwrap_err();
            assert_eq!(
                refused,
                TemplateError::Name {
                    name: name.to_owned()
                }
            );
        }
    }
}
