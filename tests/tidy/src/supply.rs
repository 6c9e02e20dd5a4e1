//! Supply of outside crates: from where, under which licence, and in how many versions.
//!
//! The lists are those of `deny.toml`, so that `cargo deny check bans licenses sources` and these rules cannot disagree; the rules
//! need no tool and no network. On top of cargo-deny: an exception without a reason, or that nothing needs any more, is a breach.

use std::collections::BTreeMap;

use cargo_metadata::semver::VersionReq;
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use crate::graph::{Graph, Package};

/// Cargo's name for the public registry.
const REGISTRY: &str = concat!("registry+https://github.com/rust-lang/crates", ".io-index");

/// The lists of `deny.toml` that these rules read.
#[derive(Debug, Deserialize)]
pub struct Lists {
    graph: Platforms,
    licenses: Licences,
    bans: Bans,
}

#[derive(Debug, Deserialize)]
struct Platforms {
    targets: [String; 1],
}

#[derive(Debug, Deserialize)]
struct Licences {
    allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    #[serde(default)]
    skip: Vec<Entry>,
    #[serde(default)]
    deny: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(rename = "crate")]
    package: String,
    #[serde(default)]
    reason: String,
    /// Packages that may use a banned one all the same; none where it is not there at all.
    #[serde(default)]
    wrappers: Vec<String>,
}

impl Lists {
    /// Reads the text of `deny.toml`.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The platform that is looked at.
    pub fn target(&self) -> &str {
        &self.graph.targets[0]
    }
}

impl Entry {
    /// `name` or `name@version requirement`.
    fn names(&self, package: &Package) -> bool {
        let (name, version) = self.package.split_once('@').unwrap_or((&self.package, "*"));
        let fits =
            VersionReq::parse(version).is_ok_and(|version| version.matches(&package.version));
        name == package.name && fits
    }
}

/// Packages whose licence is missing, unreadable or not allowed.
pub fn licences(graph: &Graph, lists: &Lists) -> Vec<String> {
    let allowed = |expression: &str| {
        let Ok(expression) = Expression::parse_mode(expression, ParseMode::LAX) else {
            return false;
        };
        expression.evaluate(|wanted| lists.licenses.allow.contains(&wanted.to_string()))
    };
    let refused = graph
        .packages
        .iter()
        .filter(|package| !package.licence.as_deref().is_some_and(allowed));
    refused
        .map(|package| {
            let licence = package.licence.as_deref().unwrap_or("(none)");
            format!(
                "{} {}: licence {licence} is not in the allow list of deny.toml",
                package.name, package.version
            )
        })
        .collect()
}

/// Packages that are neither ours nor from the public registry.
pub fn sources(graph: &Graph) -> Vec<String> {
    let from_elsewhere = |package: &&Package| {
        package.folder.is_none() && package.source.as_deref() != Some(REGISTRY)
    };
    let elsewhere = graph.packages.iter().filter(from_elsewhere);
    elsewhere
        .map(|package| {
            let source = package
                .source
                .as_deref()
                .unwrap_or("a path outside the workspace");
            format!(
                "{} {}: comes from {source}; outside crates come from the public registry",
                package.name, package.version
            )
        })
        .collect()
}

/// Packages in more than one version, packages that are banned, and exceptions that say nothing or do nothing.
pub fn bans(graph: &Graph, lists: &Lists) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&Package>> = BTreeMap::new();
    for package in &graph.packages {
        versions.entry(&package.name).or_default().push(package);
    }
    let skipped = |package: &Package| lists.bans.skip.iter().any(|entry| entry.names(package));
    let mut breaches = Vec::new();
    for (name, packages) in &versions {
        let kept: Vec<_> = packages
            .iter()
            .filter(|package| !skipped(package))
            .map(|package| package.version.to_string())
            .collect();
        if kept.len() > 1 {
            breaches.push(format!("{name}: versions {} side by side; unite them, or skip one in deny.toml with a reason", kept.join(" and ")));
        }
    }
    for entry in &lists.bans.deny {
        breaches.extend(banned_by(graph, entry));
    }
    for entry in &lists.bans.skip {
        let needed = graph
            .packages
            .iter()
            .any(|package| entry.names(package) && versions[package.name.as_str()].len() > 1);
        if !needed {
            breaches.push(format!(
                "deny.toml: skip of {}: there are no two versions of it any more",
                entry.package
            ));
        }
    }
    let silent = lists
        .bans
        .skip
        .iter()
        .chain(&lists.bans.deny)
        .filter(|entry| entry.reason.trim().is_empty());
    breaches.extend(
        silent.map(|entry| format!("deny.toml: the entry for {} has no reason", entry.package)),
    );
    breaches
}

/// A banned package: that it is there, or, where wrappers are named, each other package that uses it.
fn banned_by(graph: &Graph, entry: &Entry) -> Vec<String> {
    let mut breaches = Vec::new();
    for (at, package) in graph.packages.iter().enumerate() {
        if !entry.names(package) {
            continue;
        }
        let breach = format!("{}: banned by deny.toml: {}", package.name, entry.reason);
        if entry.wrappers.is_empty() {
            breaches.push(breach);
            continue;
        }
        let uses = |other: &&Package| other.uses.iter().any(|(used, _)| *used == at);
        let users = graph.packages.iter().filter(uses);
        let others = users.filter(|user| !entry.wrappers.contains(&user.name));
        breaches.extend(others.map(|user| format!("{breach}; {} uses it", user.name)));
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Kind, made_up};
    use cargo_metadata::semver::Version;

    fn lists(bans: &str) -> Lists {
        let head = "[graph]\ntargets = [\"x\"]\n[licenses]\nallow = [\"MIT\", \"Apache-2.0 WITH LLVM-exception\"]\n[bans]\n";
        Lists::parse(&format!("{head}{bans}")).unwrap()
    }

    /// Breaches of bans in a graph of these packages, by their names and versions.
    fn banned(packages: &[(&str, &str)], list: &str) -> Vec<String> {
        let package = |(name, version): &(&str, &str)| outside(name, version, None);
        let packages = packages.iter().map(package).collect();
        bans(&Graph { packages }, &lists(list))
    }

    fn outside(name: &str, version: &str, licence: Option<&str>) -> Package {
        let mut package = made_up(&[(name, "", &[])]).packages.remove(0);
        package.version = Version::parse(version).unwrap();
        package.licence = licence.map(str::to_owned);
        package.source = Some(REGISTRY.to_owned());
        package
    }

    #[test]
    fn a_licence_holds_if_one_alternative_is_allowed() {
        let licences_of = |licence| {
            let graph = Graph {
                packages: vec![outside("x", "1.0.0", licence)],
            };
            licences(&graph, &lists("")).len()
        };
        for fine in [
            "MIT",
            "GPL-3.0-only OR MIT",
            "MIT/GPL-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(licences_of(Some(fine)), 0, "{fine}");
        }
        for refused in [
            None,
            Some("GPL-3.0-only"),
            Some("MIT AND GPL-3.0-only"),
            Some("Apache-2.0"),
            Some("no licence of this name"),
        ] {
            assert_eq!(licences_of(refused), 1, "{refused:?}");
        }
    }

    #[test]
    fn a_package_from_elsewhere_is_a_breach() {
        let mut graph = made_up(&[("ours", "host/ours", &[]), ("by-path", "", &[])]);
        graph.packages.push(outside("fine", "1.0.0", None));
        graph.packages.push(Package {
            source: Some("git+https://example.org/x".to_owned()),
            ..outside("forked", "1.0.0", None)
        });
        assert_eq!(
            sources(&graph),
            [
                "by-path 1.0.0: comes from a path outside the workspace; outside crates come from the public registry",
                "forked 1.0.0: comes from git+https://example.org/x; outside crates come from the public registry",
            ]
        );
    }

    #[test]
    fn two_versions_are_a_breach_unless_one_is_skipped_with_a_reason() {
        let both = [("x", "1.2.0"), ("x", "2.0.0")];
        let refused = "x: versions 1.2.0 and 2.0.0 side by side; unite them, or skip one in deny.toml with a reason";
        assert_eq!(banned(&both, ""), [refused]);
        let skip = "skip = [{ crate = \"x@1\", reason = \"until y moves\" }]";
        assert_eq!(banned(&both, skip), [""; 0]);
        assert_eq!(
            banned(&both, "skip = [{ crate = \"x@1\" }]"),
            ["deny.toml: the entry for x@1 has no reason"]
        );
    }

    #[test]
    fn a_skip_that_nothing_needs_is_a_breach() {
        let skip = "skip = [{ crate = \"x@1\", reason = \"until y moves\" }]";
        assert_eq!(
            banned(&[("x", "1.2.0")], skip),
            ["deny.toml: skip of x@1: there are no two versions of it any more"]
        );
    }

    #[test]
    fn a_banned_package_is_a_breach() {
        let deny = "deny = [{ crate = \"openssl-sys\", reason = \"one TLS stack\" }]";
        assert_eq!(
            banned(&[("openssl-sys", "0.9.1")], deny),
            ["openssl-sys: banned by deny.toml: one TLS stack"]
        );
    }

    #[test]
    fn a_banned_package_may_be_used_by_its_wrappers_alone() {
        let deny =
            "deny = [{ crate = \"time\", wrappers = [\"sdk\"], reason = \"one time library\" }]";
        let uses = |user| made_up(&[(user, "", &[("time", Kind::Normal)]), ("time", "", &[])]);
        assert_eq!(bans(&uses("sdk"), &lists(deny)), [""; 0]);
        assert_eq!(
            bans(&uses("other"), &lists(deny)),
            ["time: banned by deny.toml: one time library; other uses it"]
        );
    }
}
