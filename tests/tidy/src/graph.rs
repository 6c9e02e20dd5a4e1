//! The resolved dependencies of the workspace: which package uses which, and how.
//!
//! Made from `cargo metadata` for one platform, with the default features of every member. Features are united over the
//! workspace, as a build of all of it unites them; a rule that holds here holds for each crate alone.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use cargo_metadata::{
    CargoOpt, DependencyKind, Metadata, MetadataCommand, Node, PackageId, semver::Version,
};

/// How one package uses another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At run time.
    Normal,
    /// In its build script.
    Build,
    /// In its tests, examples and benches.
    Development,
}

/// One package of the graph.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name in the registry.
    pub name: String,
    /// Version that the lock file names.
    pub version: Version,
    /// Its folder from the workspace's root; none for packages that are not ours.
    pub folder: Option<String>,
    /// Its licence, as an SPDX expression.
    pub licence: Option<String>,
    /// Where its source is from; none for a path on this machine.
    pub source: Option<String>,
    /// Packages it uses, as positions in the graph.
    pub uses: Vec<(usize, Kind)>,
}

/// All packages; the order is that of their names and versions.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The packages.
    pub packages: Vec<Package>,
}

/// Features of the members that are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// Those that are on by default.
    Default,
    /// None.
    None,
}

impl Graph {
    /// The graph of the workspace at `root`, for one target triple.
    pub fn of_workspace(
        root: &Path,
        target: &str,
        features: Features,
    ) -> Result<Self, cargo_metadata::Error> {
        let mut command = MetadataCommand::new();
        command
            .manifest_path(root.join("Cargo.toml"))
            .other_options(["--filter-platform".to_owned(), target.to_owned()]);
        if features == Features::None {
            command.features(CargoOpt::NoDefaultFeatures);
        }
        Ok(Self::from_metadata(&command.exec()?))
    }

    /// The packages of this workspace.
    pub fn ours(&self) -> impl Iterator<Item = (&Package, &str)> {
        self.packages
            .iter()
            .filter_map(|package| Some((package, package.folder.as_deref()?)))
    }

    /// Everything that ends up in a build of `package`, itself included: its normal and build dependencies, and theirs.
    pub fn reach<'a>(&'a self, package: &'a Package) -> BTreeSet<&'a str> {
        let mut seen = vec![false; self.packages.len()];
        let mut names = BTreeSet::from([package.name.as_str()]);
        let mut open = vec![package];
        while let Some(package) = open.pop() {
            for (position, _) in package
                .uses
                .iter()
                .filter(|(_, kind)| *kind != Kind::Development)
            {
                if !std::mem::replace(&mut seen[*position], true) {
                    let used = &self.packages[*position];
                    names.insert(&used.name);
                    open.push(used);
                }
            }
        }
        names
    }

    fn from_metadata(metadata: &Metadata) -> Self {
        let mut packages: Vec<_> = metadata.packages.iter().collect();
        packages
            .sort_by(|one, other| (&*one.name, &one.version).cmp(&(&*other.name, &other.version)));
        let positions: HashMap<&PackageId, usize> = packages
            .iter()
            .enumerate()
            .map(|(position, package)| (&package.id, position))
            .collect();
        let nodes: HashMap<&PackageId, &Node> = metadata
            .resolve
            .iter()
            .flat_map(|resolve| &resolve.nodes)
            .map(|node| (&node.id, node))
            .collect();
        let folder = |package: &cargo_metadata::Package| {
            let folder = package
                .manifest_path
                .parent()?
                .strip_prefix(&metadata.workspace_root)
                .ok()?;
            metadata
                .workspace_members
                .contains(&package.id)
                .then(|| folder.to_string())
        };
        let convert = |package: &&cargo_metadata::Package| Package {
            name: package.name.to_string(),
            version: package.version.clone(),
            folder: folder(package),
            licence: package.license.clone(),
            source: package.source.as_ref().map(|source| source.repr.clone()),
            uses: nodes
                .get(&package.id)
                .map_or_else(Vec::new, |node| uses(node, &positions)),
        };
        Self {
            packages: packages.iter().map(convert).collect(),
        }
    }
}

fn uses(node: &Node, positions: &HashMap<&PackageId, usize>) -> Vec<(usize, Kind)> {
    let kind = |kind: DependencyKind| match kind {
        DependencyKind::Build => Kind::Build,
        DependencyKind::Development => Kind::Development,
        _ => Kind::Normal,
    };
    node.deps
        .iter()
        .flat_map(|used| {
            used.dep_kinds
                .iter()
                .map(move |how| (&used.pkg, kind(how.kind)))
        })
        .filter_map(|(id, kind)| Some((*positions.get(id)?, kind)))
        .collect()
}

/// A package of a graph made up for a test: name, folder or "", what it uses.
#[cfg(test)]
pub(crate) type MadeUp<'a> = (&'a str, &'a str, &'a [(&'a str, Kind)]);

/// A graph made up for a test; every name that is used must stand in it.
#[cfg(test)]
pub(crate) fn made_up(packages: &[MadeUp<'_>]) -> Graph {
    let position = |name: &str| {
        packages
            .iter()
            .position(|(other, ..)| *other == name)
            .unwrap()
    };
    let package = |(name, folder, uses): &MadeUp<'_>| Package {
        name: (*name).to_owned(),
        version: Version::new(1, 0, 0),
        folder: (!folder.is_empty()).then(|| (*folder).to_owned()),
        licence: Some("Apache-2.0".to_owned()),
        source: None,
        uses: uses
            .iter()
            .map(|(name, kind)| (position(name), *kind))
            .collect(),
    };
    Graph {
        packages: packages.iter().map(package).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_of_a_workspace_has_folders_kinds_and_reach() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\", \"c\", \"d\"]\n",
        );
        let crates = [
            (
                "a",
                "[dependencies]\nb = { path = \"../b\" }\n[dev-dependencies]\nd = { path = \"../d\" }\n",
            ),
            ("b", "[build-dependencies]\nc = { path = \"../c\" }\n"),
            ("c", ""),
            ("d", ""),
        ];
        for (name, rest) in crates {
            write(
                &format!("{name}/Cargo.toml"),
                &format!(
                    "[package]\nname = \"{name}\"\nedition = \"2024\"\nlicense = \"MIT\"\n{rest}"
                ),
            );
            write(&format!("{name}/src/lib.rs"), "");
        }
        let graph = Graph::of_workspace(root.path(), "x86_64-unknown-linux-gnu", Features::Default)
            .unwrap();
        let [a, b, ..] = &graph.packages[..] else {
            panic!("four packages")
        };
        assert_eq!(
            (a.folder.as_deref(), a.licence.as_deref(), a.source.as_ref()),
            (Some("a"), Some("MIT"), None)
        );
        assert_eq!(
            (&a.uses, &b.uses),
            (
                &vec![(1, Kind::Normal), (3, Kind::Development)],
                &vec![(2, Kind::Build)]
            )
        );
        assert_eq!(graph.reach(a), BTreeSet::from(["a", "b", "c"]));
    }
}
