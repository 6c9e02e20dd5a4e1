//! Where the programs are: `build.sh` beside this crate knows, and builds what the cache has not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::LabError;

/// Paths of the five programs.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) etcd: PathBuf,
    pub(crate) api_server: PathBuf,
    pub(crate) scheduler: PathBuf,
    pub(crate) controller_manager: PathBuf,
    pub(crate) kwok: PathBuf,
}

/// Blocks for some minutes the first time; what the build says goes to our standard error too, so that the wait is explained.
pub(crate) fn find() -> Result<Programs, LabError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.sh");
    let build = |reason: String| LabError::Build { reason };
    let output = Command::new(&script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .output()
        .map_err(|source| build(format!("{}: {source}", script.display())))?;
    let talk = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let lines: Vec<&str> = talk.lines().collect();
        return Err(build(lines[lines.len().saturating_sub(6)..].join("\n")));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let folders: Vec<&Path> = printed.lines().map(Path::new).collect();
    let place = |name: &str| {
        let found = folders
            .iter()
            .map(|folder| folder.join(name))
            .find(|path| path.is_file());
        found.ok_or_else(|| {
            build(format!(
                "no {name} in {}",
                printed.trim().replace('\n', ", ")
            ))
        })
    };
    Ok(Programs {
        etcd: place("etcd")?,
        api_server: place("kube-apiserver")?,
        scheduler: place("kube-scheduler")?,
        controller_manager: place("kube-controller-manager")?,
        kwok: place("kwok")?,
    })
}
