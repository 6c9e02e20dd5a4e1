//! Paths of the programs: `build.sh` beside this crate knows them, and builds what the cache has not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::LabError;

/// The programs of a control plane, and what keeps its nodes alive.
const NAMES: [&str; 5] = [
    "etcd",
    "kube-apiserver",
    "kube-scheduler",
    "kube-controller-manager",
    "kwok",
];

/// Path of each program, by its name.
pub(crate) type Programs = BTreeMap<&'static str, PathBuf>;

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
    let placed = NAMES.into_iter().map(|name| Ok((name, place(name)?)));
    placed.collect()
}
