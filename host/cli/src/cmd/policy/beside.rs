//! Files that stand beside a policy and prove it: in a folder, or built in with one that is shipped.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use plimsoll_author::proof::{FUEL, GOLDENS, SUITE};
use plimsoll_policies::Shipped;

use crate::failure::Hinted;
use crate::output::write_file;

/// Where the files of a policy are.
pub(crate) enum Beside {
    /// In a folder.
    Folder(PathBuf),
    /// In this program.
    Shipped(&'static Shipped),
    /// A module came alone.
    Nowhere,
}

/// A file, as messages call it, and its text.
pub(crate) struct Text {
    pub(crate) file: String,
    pub(crate) text: String,
}

impl Beside {
    /// Where the files of that module are: the folder named, else the module's own.
    pub(crate) fn of(module: &str, named: Option<&Path>) -> Result<Self> {
        if let Some(folder) = named {
            if !folder.join(SUITE).is_file() {
                bail!("--suite {}: there is no {SUITE} in it", folder.display());
            }
            return Ok(Self::Folder(folder.to_owned()));
        }
        if let Some(shipped) = plimsoll_policies::shipped(module) {
            return Ok(Self::Shipped(shipped));
        }
        let folder = Path::new(module);
        Ok(if folder.is_dir() {
            Self::Folder(folder.to_owned())
        } else {
            Self::Nowhere
        })
    }

    /// The text of a file; nothing where it is not there.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Text>> {
        let (file, text) = match self {
            Self::Nowhere => return Ok(None),
            Self::Shipped(shipped) => {
                let text = match name {
                    SUITE => shipped.suite,
                    GOLDENS => shipped.goldens,
                    FUEL => shipped.fuel,
                    _ => None,
                };
                (
                    format!("{}/{name}", shipped.package),
                    text.map(str::to_owned),
                )
            }
            Self::Folder(folder) => {
                let path = folder.join(name);
                let file = path.display().to_string();
                let text = match fs::read(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => None,
                    Err(error) => return Err(error).context(file),
                    Ok(bytes) => match String::from_utf8(bytes) {
                        Ok(text) => Some(text),
                        Err(_) => bail!("{file} is no text in UTF-8"),
                    },
                };
                (file, text)
            }
        };
        Ok(text.map(|text| Text { file, text }))
    }

    /// Writes a file anew.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        let Self::Folder(folder) = self else {
            return Err(Hinted {
                text: format!("{name} cannot be written: the module has no folder"),
                hint: "--suite FOLDER names the folder that the files of the policy are in",
            }
            .into());
        };
        write_file(&folder.join(name), text.as_bytes())
    }
}
