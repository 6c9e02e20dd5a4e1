//! Rooms: which crate may use which, and what quiet rooms never reach.
//!
//! One row per room. Only the edges of a row exist between our crates; tests may use all, and what a crate uses in its own tests
//! or build script is its own matter. A quiet room is one that builds without a runtime, a client of an API server or of a cloud:
//! nothing on its list may be reached from it, through whatever crate.

use crate::graph::{Graph, Kind, Package};

/// A folder with the folders it may use and, for a quiet room, the exceptions from [`LOUD`].
struct Room {
    folder: &'static str,
    uses: &'static [&'static str],
    quiet: Option<&'static [&'static str]>,
}

const fn quiet(
    folder: &'static str,
    uses: &'static [&'static str],
    except: &'static [&'static str],
) -> Room {
    Room {
        folder,
        uses,
        quiet: Some(except),
    }
}

const fn loud(folder: &'static str, uses: &'static [&'static str]) -> Room {
    Room {
        folder,
        uses,
        quiet: None,
    }
}

/// The types of the API without its client.
const API_TYPES: &[&str] = &["kube", "kube-core", "kube-derive"];

/// A name that ends in `/` means every folder in it.
const ROOMS: &[Room] = &[
    quiet("host/columns", &[], &[]),
    quiet("host/core/base", &[], &[]),
    quiet("host/core/pack", &["host/core/base"], &[]),
    quiet("host/core/model", &["host/core/base"], &[]),
    quiet(
        "host/core/hooks",
        &["host/core/base", "host/core/model"],
        &[],
    ),
    quiet(
        "host/core/check",
        &["host/core/base", "host/core/model"],
        &[],
    ),
    quiet(
        "host/core/schedule",
        &[
            "host/core/base",
            "host/core/hooks",
            "host/core/model",
            "host/core/pack",
        ],
        &[],
    ),
    quiet(
        "host/core/disrupt",
        &[
            "host/core/base",
            "host/core/hooks",
            "host/core/model",
            "host/core/schedule",
        ],
        &[],
    ),
    quiet(
        "host/core/cluster",
        &["host/core/base", "host/core/model"],
        &[],
    ),
    quiet(
        "host/core/lifecycle",
        &["host/core/base", "host/core/model"],
        &[],
    ),
    quiet(
        "host/core/engine",
        &[
            "host/core/base",
            "host/core/cluster",
            "host/core/disrupt",
            "host/core/lifecycle",
            "host/core/model",
            "host/core/schedule",
        ],
        &[],
    ),
    quiet("host/encode", &[], &[]),
    quiet("host/policy", &["host/core/"], &["wasmtime"]),
    quiet("host/author", &["host/core/", "host/policy"], &["wasmtime"]),
    quiet("host/api", &["host/core/"], API_TYPES),
    quiet("host/ec2-facts", &["host/core/"], &[]),
    quiet(
        "host/snapshot",
        &["host/core/", "host/api", "host/ec2-facts", "host/sim"],
        API_TYPES,
    ),
    quiet("host/sim", &["host/core/"], &[]),
    quiet("host/report", &["host/core/", "host/sim"], &[]),
    loud("host/kube", &["host/core/", "host/api"]),
    loud("host/kwok", &["host/core/", "host/api"]),
    loud("host/aws", &["host/core/", "host/api", "host/ec2-facts"]),
    loud(
        "host/controller",
        &[
            "host/core/",
            "host/policy",
            "host/api",
            "host/kube",
            "host/kwok",
            "host/aws",
        ],
    ),
    loud("host/cli", &["host/", "policies/artifacts"]),
    quiet("sdk", &["sdk/derive"], &[]),
    quiet("sdk/derive", &[], &[]),
    quiet("policies/", &["sdk"], &[]),
    loud("tests/", &["host/", "sdk", "policies/", "tests/"]),
];

/// Crates that a quiet room never reaches; a `*` at the end stands for any rest.
const LOUD: &[&str] = &[
    "tokio",
    "tokio-*",
    "async-std",
    "smol",
    "hyper",
    "hyper-*",
    "reqwest",
    "tonic",
    "kube",
    "kube-*",
    "aws-config",
    "aws-sdk-*",
    "aws-smithy-*",
    "wasmtime",
];

/// Edges between our crates that no row allows, and crates that stand in no room.
pub fn edges(graph: &Graph) -> Vec<String> {
    let mut breaches = Vec::new();
    for (package, folder) in graph.ours() {
        let Some(room) = room_of(folder) else {
            breaches.push(format!(
                "{folder}: {} stands in no room; give it a row in tests/tidy/src/rooms.rs",
                package.name
            ));
            continue;
        };
        let normal = package
            .uses
            .iter()
            .filter(|(_, kind)| *kind == Kind::Normal);
        let ours = normal.filter_map(|(position, _)| graph.packages[*position].folder.as_deref());
        let refused = ours.filter(|used| !room.uses.iter().any(|allowed| covers(allowed, used)));
        breaches.extend(
            refused.map(|used| format!("{folder}/Cargo.toml: this room may not use {used}")),
        );
    }
    breaches
}

/// Runtimes and clients that a quiet room reaches.
pub fn noise(graph: &Graph) -> Vec<String> {
    let mut breaches = Vec::new();
    for (package, folder) in graph.ours() {
        if let Some(except) = room_of(folder).and_then(|room| room.quiet) {
            breaches.extend(noise_in(graph, package, folder, except));
        }
    }
    breaches
}

/// Crates that only the feature `live` brings and that the command line reaches without it.
/// To be asked about a graph without default features.
pub fn noise_without_live(graph: &Graph) -> Vec<String> {
    let line = graph.ours().filter(|(_, folder)| *folder == "host/cli");
    line.flat_map(|(package, folder)| {
        noise_in(
            graph,
            package,
            folder,
            &["kube", "kube-core", "kube-derive", "wasmtime"],
        )
    })
    .collect()
}

fn noise_in(graph: &Graph, package: &Package, folder: &str, except: &[&str]) -> Vec<String> {
    let reached = graph.reach(package).into_iter();
    let refused = reached
        .filter(|name| LOUD.iter().any(|pattern| matches(pattern, name)) && !except.contains(name));
    refused
        .map(|name| format!("{folder}/Cargo.toml: this room is quiet and may not reach {name}"))
        .collect()
}

fn room_of(folder: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| covers(room.folder, folder))
}

fn covers(allowed: &str, folder: &str) -> bool {
    if allowed.ends_with('/') {
        folder.starts_with(allowed)
    } else {
        folder == allowed
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern
        .strip_suffix('*')
        .map_or(pattern == name, |start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::made_up;

    #[test]
    fn an_edge_that_no_row_allows_is_a_breach() {
        let [model, api, lab] = ["plimsoll-model", "plimsoll-api", "plimsoll-lab"];
        let uses = |name| (name, Kind::Normal);
        let graph = made_up(&[
            (model, "host/core/model", &[uses(api)]),
            (api, "host/api", &[uses(model)]),
            ("rank-x", "policies/rank-x", &[uses(model)]),
            ("plimsoll-sim", "host/sim", &[uses(lab)]),
            (lab, "tests/lab", &[uses(model), uses(api)]),
        ]);
        assert_eq!(
            edges(&graph),
            [
                "host/core/model/Cargo.toml: this room may not use host/api",
                "policies/rank-x/Cargo.toml: this room may not use host/core/model",
                "host/sim/Cargo.toml: this room may not use tests/lab",
            ]
        );
    }

    #[test]
    fn tests_and_build_scripts_of_a_crate_may_use_what_they_like() {
        let uses: &[_] = &[
            ("plimsoll-lab", Kind::Development),
            ("plimsoll-lab", Kind::Build),
        ];
        let graph = made_up(&[
            ("plimsoll-model", "host/core/model", uses),
            ("plimsoll-lab", "tests/lab", &[]),
        ]);
        assert_eq!(edges(&graph), [""; 0]);
    }

    #[test]
    fn a_crate_in_an_unknown_folder_is_a_breach() {
        let breaches = edges(&made_up(&[("plimsoll-cellar", "host/cellar", &[])]));
        assert_eq!(
            breaches,
            [
                "host/cellar: plimsoll-cellar stands in no room; give it a row in tests/tidy/src/rooms.rs"
            ]
        );
    }

    #[test]
    fn a_runtime_reached_through_another_crate_is_a_breach_of_a_quiet_room() {
        let graph = made_up(&[
            ("plimsoll-sim", "host/sim", &[("innocent", Kind::Normal)]),
            (
                "plimsoll-model",
                "host/core/model",
                &[("innocent", Kind::Development)],
            ),
            ("plimsoll-kube", "host/kube", &[("innocent", Kind::Normal)]),
            (
                "innocent",
                "",
                &[("tokio-util", Kind::Normal), ("aws-sdk-ec2", Kind::Build)],
            ),
            ("tokio-util", "", &[]),
            ("aws-sdk-ec2", "", &[]),
        ]);
        assert_eq!(
            noise(&graph),
            [
                "host/sim/Cargo.toml: this room is quiet and may not reach aws-sdk-ec2",
                "host/sim/Cargo.toml: this room is quiet and may not reach tokio-util",
            ]
        );
    }

    #[test]
    fn wasmtime_is_for_the_policy_room_and_derives_are_for_the_api() {
        let uses: &[_] = &[
            ("wasmtime", Kind::Normal),
            ("kube-derive", Kind::Normal),
            ("kube-client", Kind::Normal),
        ];
        let rooms = [
            ("one", "host/policy", uses),
            ("two", "host/api", uses),
            ("three", "policies/three", uses),
        ];
        let outside: [(&str, &str, &[_]); 3] = [
            ("wasmtime", "", &[]),
            ("kube-derive", "", &[]),
            ("kube-client", "", &[]),
        ];
        let breaches = noise(&made_up(&[rooms, outside].concat())).join("\n");
        let refused: Vec<_> = breaches
            .lines()
            .map(|line| line.replace("/Cargo.toml: this room is quiet and may not reach", ""))
            .collect();
        assert_eq!(
            refused,
            [
                "host/policy kube-client",
                "host/policy kube-derive",
                "host/api kube-client",
                "host/api wasmtime",
                "policies/three kube-client",
                "policies/three kube-derive",
                "policies/three wasmtime",
            ]
        );
    }

    #[test]
    fn a_command_line_without_live_that_reaches_a_client_is_a_breach() {
        let graph = made_up(&[
            (
                "plimsoll",
                "host/cli",
                &[("wasmtime", Kind::Normal), ("kube-client", Kind::Normal)],
            ),
            ("wasmtime", "", &[]),
            ("kube-client", "", &[]),
        ]);
        assert_eq!(
            noise_without_live(&graph),
            ["host/cli/Cargo.toml: this room is quiet and may not reach kube-client"]
        );
    }
}
