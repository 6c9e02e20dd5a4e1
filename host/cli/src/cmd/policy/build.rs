//! `plimsoll policy build`: from a crate to a component, with the compiler's own words on the way.

use anyhow::{Context as _, Result};
use plimsoll_author::pack;

use super::self_test;
use crate::flags::Build;
use crate::module;
use crate::output::{kilobytes, print, write_file};
use crate::policy::engine;

pub(crate) fn run(flags: &Build) -> Result<()> {
    let engine = engine()?;
    let mut component = module::build(&flags.folder)?;
    if let Some(from) = &flags.self_test {
        let folder = flags.folder.display().to_string();
        component = self_test::embed(&engine, &component, &folder, from)
            .with_context(|| format!("policy {folder}"))?;
    }
    let seen = engine.inspect(&component)?;
    let file = match &flags.to {
        Some(file) => file.clone(),
        None => flags.folder.join(format!("{}.wasm", seen.manifest.name)),
    };
    write_file(&file, &component)?;
    if file.as_os_str() == "-" {
        return Ok(());
    }
    let stored = pack::pack(&component, &seen.manifest.name, None).stored;
    print(&format!(
        "{}  {}, {} packed, sha256 {}\n",
        file.display(),
        kilobytes(seen.size),
        kilobytes(stored),
        seen.sha256
    ))
}
