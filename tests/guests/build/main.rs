//! Builds the misbehaving guests for WebAssembly, and makes those that no compiler writes.

mod bombs;
mod handmade;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result};

#[expect(clippy::print_stdout, reason = "a build script speaks to cargo")]
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
        "wit/0.1",
        "tests/guests/hostile",
        "tests/guests/hostile-budget",
        "tests/guests/hostile-consolidation",
        "tests/guests/build",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    for package in [
        "guest-hostile",
        "guest-hostile-budget",
        "guest-hostile-consolidation",
    ] {
        let component = plimsoll_encode::build(root, package, &out.join("guests"))?;
        fs::write(out.join(format!("{package}.wasm")), component)?;
    }
    fs::write(out.join("handmade.rs"), table(&out)?)?;
    Ok(())
}

/// Writes the handmade modules and returns the source of their table.
fn table(out: &Path) -> Result<String> {
    let mut components = bombs::bombs();
    for (name, hook, core) in handmade::policies() {
        let (world, manifest) = (hook.world(), hook.manifest());
        let component = plimsoll_encode::encode_as(&core, &world, manifest.as_bytes())?;
        components.push((name, component));
    }
    let mut table = String::from("static HANDMADE: &[(&str, &[u8])] = &[\n");
    for (name, component) in components {
        let file = out.join(format!("{name}.wasm"));
        fs::write(&file, component)?;
        let path = file.display().to_string();
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),")?;
    }
    table.push_str("];\n");
    Ok(table)
}
