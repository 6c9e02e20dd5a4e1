//! Builds the shipped policies for WebAssembly and writes the table of them.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context as _, Result};

const RANKING: [&str; 3] = [
    "rank-least-waste",
    "rank-list-price",
    "rank-spot-diversified",
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
    let mut table = String::from(
        "/// The ranking policies we ship, by name.\npub static RANKING: &[Shipped] = &[\n",
    );
    for package in RANKING {
        println!(
            "cargo::rerun-if-changed={}",
            root.join("policies").join(package).display()
        );
        let file = out.join(format!("{package}.wasm"));
        fs::write(
            &file,
            plimsoll_encode::build(root, package, &out.join("guests"))?,
        )?;
        let name = package.strip_prefix("rank-").unwrap_or(package);
        let path = file.display().to_string();
        writeln!(
            table,
            "    Shipped {{ name: {name:?}, package: {package:?}, bytes: include_bytes!({path:?}) }},"
        )?;
    }
    table.push_str("];\n");
    fs::write(out.join("modules.rs"), table)?;
    Ok(())
}
