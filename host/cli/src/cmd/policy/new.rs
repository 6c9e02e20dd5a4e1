//! `plimsoll policy new`: a first policy in a folder of its own.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use plimsoll_author::{sdk, template};
use plimsoll_policy::Hook;

use crate::failure::{Environment, Hinted};
use crate::flags::{New, NewHook};
use crate::output::{print, write_file};

/// Advice where there is no SDK.
const WHERE: &str = "--sdk FOLDER names it: the folder sdk in a checkout of Plimsoll";

pub(crate) fn run(flags: &New) -> Result<()> {
    let New { hook, name, .. } = flags;
    let sdk = sdk::find(flags.sdk.as_deref()).map_err(|error| Hinted {
        text: error.to_string(),
        hint: WHERE,
    })?;
    let hook = match hook {
        NewHook::Rank => Hook::Rank,
        NewHook::Consolidate => Hook::Consolidate,
        NewHook::Budget => Hook::Budget,
    };
    let files = template::files(hook, name, &sdk.folder)?;
    let folder = Path::new(name);
    if folder.exists() {
        bail!("{name} is there already; expected a name that nothing has");
    }
    for (path, text) in &files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| {
            Environment(format!("{} cannot be made: {error}", parent.display()))
        })?;
        write_file(&path, text.as_bytes())?;
    }
    if let Some(lock) = &sdk.lock {
        // The versions that the SDK was tested with; cargo leaves out what a policy does not use.
        let to = folder.join("Cargo.lock");
        fs::copy(lock, &to)
            .map_err(|error| Environment(format!("{} cannot be written: {error}", to.display())))?;
    }
    print(&format!(
        "{name}  a {} policy: src/lib.rs is the code, suite.yaml what it promises\n\
         sdk   {} ({})\n\
         next  cd {name} && cargo test && plimsoll policy test\n",
        hook.adjective(),
        sdk.folder.display(),
        sdk.origin
    ))
}
