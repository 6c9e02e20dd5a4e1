//! The order of the core's modules, and of the parts of its schedule: each uses what stands below it, and no two use one another.
//!
//! Read from the text: every path that begins with `crate` or `super`, in `use` and in line, tests apart. Modules of one layer may use
//! each other as long as no way leads back.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{Tree, opens_tests};

const CORE: &str = "host/core/src/";

/// The modules of the core, the lowest layer first.
const LAYERS: &[&[&str]] = &[
    // Values.
    &[
        "bits",
        "event_reason",
        "fixed_hash",
        "ids",
        "labels",
        "parallel",
        "quantity",
        "resources",
        "structure_hash",
        "time",
        "units",
        "words",
    ],
    &["batch", "cron", "requirement"],
    // Objects as they are, and what is made of them alone.
    &["model", "provider"],
    &["buffer", "catalogue", "pack"],
    // One instant, what to do about it, and what may be asked of the outside.
    &["plan", "snapshot"],
    // What is left to buy from.
    &["supply"],
    &["action", "command"],
    // The questions of the three hooks.
    &["hook"],
    &["allow", "rank", "score"],
    // Decisions, and what is said of them.
    &["check", "schedule", "spare", "waste"],
    &["disrupt", "static_pool"],
    // The life of a claim, the cluster as it is known, and the loop.
    &["lifecycle"],
    &["state"],
    &["engine"],
];

/// The parts of the schedule in the order of a decision: a later one uses earlier ones.
const SCHEDULE: &[&[&str]] = &[
    &["offers"],
    &["prices"],
    &["pods"],
    &["reading"],
    &["topology"],
    &["batch"],
    &["place"],
    &["guards"],
    &["claims", "prepared"],
    &["fleet"],
    &["explain"],
    &["launch"],
    &["decision", "session", "simulation"],
    &["fresh"],
];

/// Breaches: uses that go up, circles, and modules that stand in no layer.
pub fn layers(tree: &Tree) -> Vec<String> {
    let mut breaches = breaches(tree, CORE, &[], LAYERS);
    let inside = format!("{CORE}schedule/");
    breaches.extend(self::breaches(tree, &inside, &["schedule"], SCHEDULE));
    breaches
}

/// Where a use stands: path and line.
type Place = (String, usize);

/// Uses between the modules in a folder, by who uses whom, each with the first place.
type Uses = BTreeMap<(String, String), Place>;

fn breaches(tree: &Tree, folder: &str, above: &[&str], layers: &[&[&str]]) -> Vec<String> {
    let modules = modules(tree, folder);
    let layer = |name: &str| layers.iter().position(|layer| layer.contains(&name));
    let homeless = modules.iter().filter(|name| layer(name).is_none());
    let mut breaches: Vec<String> = homeless
        .map(|name| {
            format!(
                "{folder}{name}: stands in no layer; give it a place in tests/tidy/src/layers.rs"
            )
        })
        .collect();
    let uses = uses(tree, folder, above, &modules);
    for ((user, used), (path, line)) in &uses {
        if let (Some(own), Some(other)) = (layer(user), layer(used))
            && other > own
        {
            breaches.push(format!(
                "{path}:{line}: {user} uses {used}, which stands above it"
            ));
        }
    }
    let front = above.last().map(|name| (*name).to_owned());
    for ((user, used), (path, line)) in &uses {
        if Some(used) == front.as_ref() {
            breaches.push(format!(
                "{path}:{line}: {user} names something of {used} as a whole; name the part that has it"
            ));
        }
    }
    breaches.extend(circles(&modules, &uses));
    breaches
}

/// Names of the modules in a folder.
fn modules(tree: &Tree, folder: &str) -> BTreeSet<String> {
    let inside = tree
        .sources()
        .filter_map(|(path, _)| path.strip_prefix(folder));
    let name = |path: &str| {
        path.split('/')
            .next()
            .map(|first| first.trim_end_matches(".rs").to_owned())
    };
    inside
        .filter_map(name)
        .filter(|name| name != "lib" && name != "mod")
        .collect()
}

fn uses(tree: &Tree, folder: &str, above: &[&str], modules: &BTreeSet<String>) -> Uses {
    let mut uses = Uses::new();
    let files = tree.sources().filter(|(path, _)| path.starts_with(folder));
    for (path, text) in files.filter(|(path, _)| !is_of_tests(path)) {
        let module = module_of(&path[CORE.len()..]);
        let Some(user) = module
            .get(above.len())
            .filter(|name| modules.contains(*name))
        else {
            continue;
        };
        for (line, target) in paths(text, &module) {
            let inside = target.len() > above.len()
                && target.iter().zip(above).all(|(own, other)| own == other);
            if !inside {
                continue;
            }
            let used = &target[above.len()];
            let used = match above.last() {
                Some(front) if !modules.contains(used) => (*front).to_owned(),
                _ => used.clone(),
            };
            if used != *user {
                let place = (path.to_owned(), line);
                uses.entry((user.clone(), used)).or_insert(place);
            }
        }
    }
    uses
}

fn is_of_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// The module of a file, from its path in the sources.
fn module_of(path: &str) -> Vec<String> {
    let mut names: Vec<String> = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if names
        .last()
        .is_some_and(|name| name == "mod" || name == "lib")
    {
        names.pop();
    }
    names
}

/// Paths of the crate that a file names, from its root, with the line on which each begins.
fn paths(text: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let code: Vec<&str> = text
        .lines()
        .take_while(|line| !opens_tests(line))
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            let mut leaves = Vec::new();
            expand(&code[at..], &mut Vec::new(), &mut leaves);
            let from_root = leaves
                .into_iter()
                .filter_map(|leaf| from_root(&leaf, module));
            found.extend(from_root.map(|path| (line, path)));
        }
    }
    found
}

/// A path as it is written, from the root of the crate; `None` where it leads out of it.
fn from_root(path: &[String], module: &[String]) -> Option<Vec<String>> {
    if path.first()? == "crate" {
        return Some(path[1..].to_vec());
    }
    let ups = path.iter().take_while(|name| *name == "super").count();
    let parent = module.len().checked_sub(ups)?;
    Some([&module[..parent], &path[ups..]].concat())
}

/// The paths of a tree such as `a::{b::C, d}`; what is read of the text.
fn expand(text: &str, before: &mut Vec<String>, leaves: &mut Vec<Vec<String>>) -> usize {
    let mut read = 0;
    let depth = before.len();
    loop {
        read += text[read..].len() - text[read..].trim_start().len();
        if text[read..].starts_with('{') {
            read += 1;
            while !text[read..].trim_start().starts_with('}') {
                let own = expand(&text[read..], before, leaves);
                if own == 0 {
                    break;
                }
                read += own;
                let rest = text[read..].trim_start();
                read = text.len() - rest.len() + usize::from(rest.starts_with(','));
            }
            let rest = text[read..].trim_start();
            read = text.len() - rest.len() + usize::from(rest.starts_with('}'));
            break;
        }
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '*';
        let length = text[read..].find(|c| !word(c)).unwrap_or(text.len() - read);
        before.push(text[read..read + length].to_owned());
        read += length;
        if let Some(rest) = text[read..].strip_prefix("::") {
            if rest.starts_with('<') {
                leaves.push(before.clone());
                break;
            }
            read += 2;
            continue;
        }
        leaves.push(before.clone());
        if let Some(alias) = text[read..].strip_prefix(" as ") {
            let name = alias.find(|c| !word(c)).unwrap_or(alias.len());
            read += " as ".len() + name;
        }
        break;
    }
    before.truncate(depth);
    read
}

/// One sentence per circle, with the modules on it in the order in which they use one another.
fn circles(modules: &BTreeSet<String>, uses: &Uses) -> Vec<String> {
    let used_by = |user: &str| -> Vec<&str> {
        let own = uses.keys().filter(|(own, _)| own == user);
        own.map(|(_, used)| used.as_str()).collect()
    };
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut breaches = Vec::new();
    for start in modules {
        if told.contains(start.as_str()) {
            continue;
        }
        // The shortest way back, by breadth.
        let mut from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut open = std::collections::VecDeque::from([start.as_str()]);
        while let Some(user) = open.pop_front() {
            for used in used_by(user) {
                if !from.contains_key(used) {
                    from.insert(used, user);
                    open.push_back(used);
                }
            }
        }
        if !from.contains_key(start.as_str()) {
            continue;
        }
        let mut way = vec![start.as_str()];
        let mut at = from[start.as_str()];
        while at != start {
            way.push(at);
            at = from[at];
        }
        told.extend(&way);
        way.push(start);
        way.reverse();
        breaches.push(format!("a circle: {}", way.join(" uses ")));
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> = files
            .iter()
            .map(|(path, text)| (format!("{CORE}{path}"), *text))
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        layers(&Tree::of(&files))
    }

    #[test]
    fn a_use_of_what_stands_above_is_a_breach_however_it_is_written() {
        let upwards = [
            "use crate::engine::Engine;",
            "use crate::{bits::Bits, engine::{self, Engine as E}};",
            "use super::super::engine::Engine;",
            "fn f() {\n    crate::engine::run::<u8>()\n}",
        ];
        for text in upwards {
            let breaches = tree(&[
                ("model/pod.rs", text),
                ("engine/mod.rs", ""),
                ("bits.rs", ""),
            ]);
            let line = if text.starts_with("fn") { 2 } else { 1 };
            let told =
                format!("{CORE}model/pod.rs:{line}: model uses engine, which stands above it");
            assert_eq!(breaches, [told], "{text}");
        }
    }

    #[test]
    fn what_is_below_and_what_tests_use_is_no_breach() {
        let below =
            "//! See [`crate::engine`].\nuse super::Node;\nuse crate::{bits, ids::{PoolName}};\n";
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::engine::Engine;\n}\n";
        let breaches = tree(&[
            ("model/pod.rs", &format!("{below}{tests}")),
            ("model/tests.rs", "use crate::engine::Engine;"),
            ("bits.rs", ""),
            ("ids.rs", ""),
            ("engine/mod.rs", "use crate::model::Pod;"),
        ]);
        assert_eq!(breaches, [""; 0]);
    }

    #[test]
    fn modules_of_one_layer_that_use_each_other_are_a_circle() {
        let breaches = tree(&[
            ("rank/mod.rs", "use crate::score::A;"),
            ("score/mod.rs", "use crate::allow::B;"),
            ("allow/mod.rs", "use crate::rank::C;"),
        ]);
        assert_eq!(
            breaches,
            ["a circle: allow uses rank uses score uses allow"]
        );
    }

    #[test]
    fn parts_of_the_schedule_have_an_order_too() {
        let breaches = tree(&[
            ("schedule/mod.rs", "pub use offers::Stock;"),
            (
                "schedule/offers/mod.rs",
                "use crate::schedule::fleet::draft;\n",
            ),
            (
                "schedule/fleet/mod.rs",
                "use super::offers::Stock;\nuse super::Stock;\n",
            ),
        ]);
        let inside = format!("{CORE}schedule/");
        let told = [
            format!("{inside}offers/mod.rs:1: offers uses fleet, which stands above it"),
            format!(
                "{inside}fleet/mod.rs:2: fleet names something of schedule as a whole; name the part that has it"
            ),
            "a circle: fleet uses offers uses fleet".to_owned(),
        ];
        assert_eq!(breaches, told);
    }

    #[test]
    fn a_module_without_a_layer_is_a_breach() {
        let told = format!(
            "{CORE}cellar: stands in no layer; give it a place in tests/tidy/src/layers.rs"
        );
        assert_eq!(tree(&[("cellar/mod.rs", "")]), [told]);
    }
}
