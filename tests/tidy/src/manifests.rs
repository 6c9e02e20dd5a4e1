//! Manifests: a licence, a description, the shared version, no publication, the shared lints, and outside
//! crates without their default features.
//!
//! Unsafe code is forbidden in every crate but two: the SDK and the policy engine deny it, with named exceptions.

use toml::{Table, Value};

use crate::tree::Tree;

/// Keys of `[package]` that a crate takes from the workspace.
const SHARED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];

/// Crates with unsafe code in named places: their lints are the shared ones but for `unsafe_code`, which they deny, not forbid.
const UNSAFE_IN_PLACES: &[&str] = &["host/policy/Cargo.toml", "sdk/Cargo.toml"];

/// Breaches in the manifests of the tree.
pub fn manifests(tree: &Tree) -> Vec<String> {
    let root = table(tree.text("Cargo.toml").unwrap_or_default());
    let lints = at(&root, &["workspace", "lints"]).cloned();
    let mut breaches = Vec::new();
    for (path, text) in tree
        .files()
        .filter(|(path, _)| *path == "Cargo.toml" || path.ends_with("/Cargo.toml"))
    {
        let manifest = table(text);
        if let Some(Value::Table(package)) = manifest.get("package") {
            breaches.extend(package_keys(path, package));
            breaches.extend(lint_tables(path, &manifest, lints.as_ref()));
        }
        breaches.extend(default_features(path, &manifest));
    }
    breaches
}

fn package_keys(path: &str, package: &Table) -> Vec<String> {
    let own = SHARED
        .iter()
        .filter(|key| at(package, &[key, "workspace"]) != Some(&Value::Boolean(true)));
    let mut breaches: Vec<_> = own
        .map(|key| format!("{path}: {key} is not taken from the workspace"))
        .collect();
    let description = package
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if description.is_empty() || description.ends_with('.') {
        breaches.push(format!(
            "{path}: description is {description:?}; one clause without a full stop is expected"
        ));
    }
    breaches
}

fn lint_tables(path: &str, manifest: &Table, shared: Option<&Value>) -> Vec<String> {
    let lints = manifest.get("lints");
    if at(manifest, &["lints", "workspace"]) == Some(&Value::Boolean(true)) {
        return Vec::new();
    }
    if UNSAFE_IN_PLACES.contains(&path) {
        let mut expected = shared.cloned();
        if let Some(unsafe_code) = expected
            .as_mut()
            .and_then(|lints| lints.get_mut("rust")?.get_mut("unsafe_code"))
        {
            *unsafe_code = Value::String("deny".to_owned());
        }
        if lints == expected.as_ref() {
            return Vec::new();
        }
        return vec![format!(
            "{path}: its lints are not the workspace's with unsafe_code = \"deny\""
        )];
    }
    vec![format!("{path}: lints are not taken from the workspace")]
}

fn default_features(path: &str, manifest: &Table) -> Vec<String> {
    let places: [&[&str]; 4] = [
        &["workspace", "dependencies"],
        &["dependencies"],
        &["dev-dependencies"],
        &["build-dependencies"],
    ];
    let tables = places
        .iter()
        .filter_map(|keys| at(manifest, keys)?.as_table());
    let refused = tables.flatten().filter(|(_, dependency)| {
        let key = |key| dependency.get(key);
        let ours_or_shared = key("path").is_some() || key("workspace").is_some();
        !ours_or_shared && key("default-features") != Some(&Value::Boolean(false))
    });
    refused
        .map(|(name, _)| {
            format!("{path}: {name} is used with its default features; name those that are needed")
        })
        .collect()
}

/// A manifest that cannot be read is an empty one: cargo refuses it long before this rule.
fn table(text: &str) -> Table {
    toml::from_str(text).unwrap_or_default()
}

fn at<'a>(table: &'a Table, keys: &[&str]) -> Option<&'a Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter()
        .try_fold(table.get(*first)?, |value, key| value.get(*key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str =
        "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nmissing_docs = \"warn\"\n";
    const PACKAGE: &str = "[package]\nname = \"x\"\ndescription = \"Adds\"\nversion.workspace = true\nedition.workspace = true\n\
        rust-version.workspace = true\nlicense.workspace = true\npublish.workspace = true\n";
    const LINTS: &str = "[lints]\nworkspace = true\n";

    fn check(path: &str, manifest: &str) -> Vec<String> {
        manifests(&Tree::of(&[("Cargo.toml", ROOT), (path, manifest)]))
    }

    #[test]
    fn a_manifest_of_the_house_is_fine() {
        assert_eq!(check("a/Cargo.toml", &format!("{PACKAGE}{LINTS}")), [""; 0]);
    }

    #[test]
    fn each_key_that_is_missing_or_its_own_is_a_breach() {
        for key in SHARED {
            let line = format!("\n{key}.workspace = true\n");
            let expected = format!("a/Cargo.toml: {key} is not taken from the workspace");
            assert_eq!(
                check(
                    "a/Cargo.toml",
                    &format!("{PACKAGE}{LINTS}").replace(&line, "\n")
                ),
                [expected]
            );
        }
        let own = PACKAGE.replace("license.workspace = true", "license = \"MIT\"");
        assert_eq!(
            check("a/Cargo.toml", &format!("{own}{LINTS}")),
            ["a/Cargo.toml: license is not taken from the workspace"]
        );
    }

    #[test]
    fn a_description_is_one_clause() {
        for (description, shown) in [("", "\"\""), ("description = \"Adds.\"\n", "\"Adds.\"")] {
            let manifest =
                format!("{PACKAGE}{LINTS}").replace("description = \"Adds\"\n", description);
            let expected = format!(
                "a/Cargo.toml: description is {shown}; one clause without a full stop is expected"
            );
            assert_eq!(check("a/Cargo.toml", &manifest), [expected]);
        }
    }

    #[test]
    fn own_lints_are_for_crates_with_unsafe_places_and_differ_in_that_alone() {
        let own = |level: &str, docs: &str| {
            format!("{PACKAGE}[lints.rust]\nunsafe_code = \"{level}\"\nmissing_docs = \"{docs}\"\n")
        };
        assert_eq!(check("sdk/Cargo.toml", &own("deny", "warn")), [""; 0]);
        for lax in [
            own("allow", "warn"),
            own("deny", "allow"),
            PACKAGE.to_owned(),
        ] {
            assert_eq!(
                check("sdk/Cargo.toml", &lax),
                ["sdk/Cargo.toml: its lints are not the workspace's with unsafe_code = \"deny\""]
            );
        }
        assert_eq!(
            check("a/Cargo.toml", &own("deny", "warn")),
            ["a/Cargo.toml: lints are not taken from the workspace"]
        );
    }

    #[test]
    fn default_features_of_outside_crates_are_a_breach() {
        let uses = "[dependencies]\na = \"1\"\nb = { version = \"1\", default-features = false }\nc = { path = \"../c\" }\n\
            d.workspace = true\n[dev-dependencies]\ne = { version = \"1\" }\n";
        let refused: Vec<_> = check("a/Cargo.toml", &format!("{PACKAGE}{LINTS}{uses}"));
        let named: Vec<_> = refused
            .iter()
            .map(|breach| breach.split(' ').nth(1).unwrap())
            .collect();
        assert_eq!(named, ["a", "e"]);
    }
}
