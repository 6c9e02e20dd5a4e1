//! Builds the shipped policies for WebAssembly and writes the table of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result};

/// The packages of each hook: the table's name, what it says of itself, and the prefix of the packages.
const HOOKS: [(&str, &str, &str, &[&str]); 3] = [
    (
        "RANKING",
        "ranking",
        "rank-",
        &[
            "commitments-first",
            "fewest-nodes",
            "least-nodes",
            "least-waste",
            "list-price",
            "mixed-instances",
            "most-pods",
            "performance-adjusted",
            "price",
            "priority",
            "priority-list",
            "random",
            "spot-diversified",
        ],
    ),
    (
        "CONSOLIDATION",
        "consolidation",
        "consolidate-",
        &["balanced", "gentle", "savings-threshold", "utilisation"],
    ),
    (
        "BUDGET",
        "budget",
        "budget-",
        &["freeze-calendar", "maintenance-window", "rollout-guard"],
    ),
];

fn main() -> Result<()> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let root = here
        .ancestors()
        .nth(2)
        .context("this crate lies two folders below the workspace")?;
    for path in [
        "Cargo.toml",
        "rust-toolchain.toml",
        "sdk/Cargo.toml",
        "sdk/src",
        "sdk/derive",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    let mut table = String::new();
    for (name, hook, prefix, policies) in HOOKS {
        writeln!(
            table,
            "/// The {hook} policies we ship, by name.\npub static {name}: &[Shipped] = &["
        )?;
        for policy in policies {
            let package = format!("{prefix}{policy}");
            let path = module(root, &out, &package)?.display().to_string();
            writeln!(
                table,
                "    Shipped {{ name: {policy:?}, package: {package:?}, bytes: include_bytes!({path:?}), {} }},",
                proof(&root.join("policies").join(&package))
            )?;
        }
        table.push_str("];\n");
    }
    fs::write(out.join("modules.rs"), table)?;
    Ok(())
}

/// The files beside a policy that prove it, as far as they are there.
fn proof(folder: &Path) -> String {
    let field = |name: &str| {
        let file = folder.join(format!("{name}.yaml"));
        if file.is_file() {
            format!(
                "{name}: Some(include_str!({:?}))",
                file.display().to_string()
            )
        } else {
            format!("{name}: None")
        }
    };
    ["suite", "goldens", "fuel"].map(field).join(", ")
}

/// Builds a policy and returns the file of its component.
fn module(root: &Path, out: &Path, package: &str) -> Result<PathBuf> {
    println!(
        "cargo::rerun-if-changed={}",
        root.join("policies").join(package).display()
    );
    let component = plimsoll_encode::build(root, package, &out.join("guests"))?;
    let file = out.join(format!("{package}.wasm"));
    fs::write(&file, component)?;
    Ok(file)
}
