//! A first policy: a crate that builds, has tests, and does something that can be seen in a simulation.
//!
//! The texts are files under `template/`, which a test of the program builds as they are but for the names.

use std::path::{Path, PathBuf};

use plimsoll_policy::Hook;
use thiserror::Error;

/// Names in the templates that stand for the policy's own.
const NAME: &str = "new-policy";
const TYPE: &str = "NewPolicy";
const SDK: &str = "SDK_FOLDER";
const DESCRIPTION: &str = "NEW_DESCRIPTION";

/// Files of a policy whatever its hook, and what is in them.
const COMMON: [(&str, &str); 3] = [
    ("Cargo.toml", include_str!("../template/manifest.toml")),
    (
        "rust-toolchain.toml",
        include_str!("../../../rust-toolchain.toml"),
    ),
    (".gitignore", "/target\n*.wasm\n"),
];

/// Commands for a policy: the end of its page.
const COMMANDS: &str = include_str!("../template/commands.md");

/// The files of a first policy of one hook.
struct Template {
    description: &'static str,
    page: &'static str,
    code: &'static str,
    suite: &'static str,
}

const fn template(hook: Hook) -> Template {
    match hook {
        Hook::Rank => Template {
            description: "Ranking policy: list price, and a charge for interruptions seen lately",
            page: include_str!("../template/rank/README.md"),
            code: include_str!("../template/rank/lib.rs"),
            suite: include_str!("../template/rank/suite.yaml"),
        },
        Hook::Consolidate => Template {
            description: "Consolidation policy: what a move saves, and a charge for evictions",
            page: include_str!("../template/consolidate/README.md"),
            code: include_str!("../template/consolidate/lib.rs"),
            suite: include_str!("../template/consolidate/suite.yaml"),
        },
        Hook::Budget => Template {
            description: "Budget policy: no node is disrupted while pods wait",
            page: include_str!("../template/budget/README.md"),
            code: include_str!("../template/budget/lib.rs"),
            suite: include_str!("../template/budget/suite.yaml"),
        },
    }
}

/// Why there is no first policy.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TemplateError {
    /// A name that no crate can have.
    #[error(
        "\"{name}\" is no name of a policy; expected lower-case letters, digits and single hyphens, a letter first, at most 63"
    )]
    Name {
        /// The name as it was given.
        name: String,
    },
}

/// Files of a first policy of that hook and name, as paths in its folder and contents.
pub fn files(hook: Hook, name: &str, sdk: &Path) -> Result<Vec<(PathBuf, String)>, TemplateError> {
    check_name(name)?;
    let template = template(hook);
    let sdk = sdk.display().to_string();
    let fill = |text: &str| {
        text.replace(NAME, name)
            .replace(TYPE, &type_name(name))
            .replace(DESCRIPTION, template.description)
            .replace(SDK, &sdk)
    };
    let page = [template.page, COMMANDS].concat();
    let own = [
        ("README.md", page.as_str()),
        ("suite.yaml", template.suite),
        ("src/lib.rs", template.code),
    ];
    let all = COMMON.into_iter().chain(own);
    Ok(all
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
        for (hook, export) in [
            (Hook::Rank, "export_ranking!(PaidFirst"),
            (Hook::Consolidate, "export_consolidation!(PaidFirst"),
            (Hook::Budget, "export_budget!(PaidFirst"),
        ] {
            let files = files(hook, "paid-first", Path::new("/sdk")).unwrap();
            for (path, text) in &files {
                for left in [NAME, TYPE, SDK, DESCRIPTION] {
                    assert!(!text.contains(left), "{}: {left}", path.display());
                }
            }
            let named = |name: &str| files.iter().find(|(path, _)| path == Path::new(name));
            let text = |name: &str| &named(name).unwrap().1;
            assert!(text("Cargo.toml").contains("path = \"/sdk\""));
            assert!(text("src/lib.rs").contains(export));
            assert!(text("suite.yaml").starts_with("# Promises of paid-first"));
        }
    }

    #[test]
    fn names_that_no_crate_can_have_are_refused() {
        let long = "a".repeat(64);
        for name in ["", "1st", "Paid", "a--b", "-a", "a-", "a_b", "../a", &long] {
            let refused = files(Hook::Rank, name, Path::new("/sdk")).unwrap_err();
            assert_eq!(
                refused,
                TemplateError::Name {
                    name: name.to_owned()
                }
            );
        }
    }
}
