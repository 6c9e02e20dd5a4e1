//! Sources of a module's bytes: one that is shipped, a file, ConfigMaps, or the folder of a crate, which is built first.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use plimsoll_author::pack;
use plimsoll_encode::{BuildError, Built, Colour};
use plimsoll_policy::Engine;

use crate::failure::{Environment, Hinted};

/// A module, and the digest that is promised of it.
pub(crate) struct Source {
    pub(crate) bytes: Cow<'static, [u8]>,
    pub(crate) sha256: Option<String>,
}

impl Source {
    /// Refuses a component of another digest.
    pub(crate) fn verify(&self, engine: &Engine) -> Result<()> {
        if let Some(expected) = &self.sha256 {
            engine.verify(&self.bytes, expected)?;
        }
        Ok(())
    }
}

/// The module by the name of one that is shipped, a file or a folder, with the digest promised.
pub(crate) fn source(name: &str) -> Result<Source> {
    let plain = |bytes: Cow<'static, [u8]>| Source {
        bytes,
        sha256: None,
    };
    if let Some(shipped) = plimsoll_policies::shipped(name) {
        return Ok(plain(Cow::Borrowed(shipped.bytes)));
    }
    let path = Path::new(name);
    if path.is_dir() {
        return Ok(plain(Cow::Owned(build(path)?)));
    }
    if !path.exists() {
        let shipped = plimsoll_policies::all().map(|shipped| shipped.name);
        bail!(
            "is neither a file, a folder nor one of those shipped: {}",
            shipped.collect::<Vec<_>>().join(", ")
        );
    }
    let read = std::fs::read(path).with_context(|| path.display().to_string())?;
    let is_text = ["yaml", "yml", "json"].iter().any(|known| {
        path.extension()
            .is_some_and(|extension| extension == *known)
    });
    if !is_text {
        return Ok(plain(Cow::Owned(read)));
    }
    let text = String::from_utf8(read).with_context(|| path.display().to_string())?;
    let (bytes, sha256) = pack::unpack(&text)?;
    Ok(Source {
        bytes: Cow::Owned(bytes),
        sha256,
    })
}

/// Builds the policy in a folder. What the compiler says goes to standard error as it is.
pub(crate) fn build(folder: &Path) -> Result<Vec<u8>> {
    let mut errors = io::stderr();
    let colour = if errors.is_terminal() {
        eprintln!("building {}", folder.display());
        Colour::Always
    } else {
        Colour::Never
    };
    let mut pass_on = |messages: &str| {
        // Where the compiler's words cannot be written there is nothing left to do.
        let _ = errors.write_all(messages.as_bytes());
    };
    match plimsoll_encode::build_folder(folder, &target_dir(folder)?, colour) {
        Ok(Built {
            component,
            messages,
        }) => {
            pass_on(&messages);
            Ok(component)
        }
        Err(error @ BuildError::Compiler { .. }) => {
            let hint = error.hint();
            let BuildError::Compiler { package, messages } = error else {
                return Err(error.into());
            };
            pass_on(&messages);
            let text = format!("policy {package} does not build; the compiler says why");
            Err(match hint {
                Some(hint) => Hinted { text, hint }.into(),
                None => anyhow::Error::msg(text),
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// Where cargo works: where it is told to, else in the crate's own folder.
fn target_dir(folder: &Path) -> Result<PathBuf> {
    let told = std::env::var_os("CARGO_TARGET_DIR").filter(|told| !told.is_empty());
    let target = told.map_or_else(|| folder.join("target"), PathBuf::from);
    std::path::absolute(&target)
        .map_err(|error| Environment(format!("{}: {error}", target.display())).into())
}
