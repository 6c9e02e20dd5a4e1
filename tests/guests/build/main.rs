//! Builds the misbehaving guest for WebAssembly.

use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context as _, Result};

fn main() -> Result<()> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let root = here
        .ancestors()
        .nth(2)
        .context("this crate lies two folders below the workspace")?;
    for path in [
        "sdk/Cargo.toml",
        "sdk/src",
        "sdk/derive",
        "tests/guests/hostile",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    fs::write(
        out.join("hostile.wasm"),
        plimsoll_encode::build(root, "guest-hostile", &out.join("guests"))?,
    )?;
    Ok(())
}
