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
    let folders = built("build.sh")?;
    let placed = NAMES
        .into_iter()
        .map(|name| Ok((name, place(&folders, name)?)));
    placed.collect()
}

/// Builds the programs of a control plane where the cache has none, which takes minutes, so that a lab can start where no network is.
pub fn build() -> Result<(), LabError> {
    find().map(drop)
}

/// Path of Karpenter's controller with its KWOK provider, which listens on loopback alone. Blocks for minutes the first time.
pub fn karpenter() -> Result<PathBuf, LabError> {
    place(&built("karpenter.sh")?, "karpenter")
}

/// Path of Karpenter's AWS controller, unmodified, so that it listens on every address. Blocks for minutes the first time.
pub fn karpenter_on_aws() -> Result<PathBuf, LabError> {
    place(&built("karpenter-aws.sh")?, "karpenter-aws")
}

/// Variables, as `NAME=value`, that Karpenter's controller cannot do without outside a cluster; ours reads the same.
pub fn karpenter_environment(kubeconfig: &Path, [metrics, probes]: [u16; 2]) -> Vec<String> {
    vec![
        format!("KUBECONFIG={}", kubeconfig.display()),
        "SYSTEM_NAMESPACE=kube-system".to_owned(),
        "CLUSTER_NAME=lab".to_owned(),
        "KARPENTER_SERVICE=karpenter".to_owned(),
        format!("METRICS_PORT={metrics}"),
        format!("HEALTH_PROBE_PORT={probes}"),
    ]
}

/// Path of helm. Blocks for minutes the first time.
pub fn helm() -> Result<PathBuf, LabError> {
    place(&built("helm.sh")?, "helm")
}

/// Folders with the programs that a script beside this crate builds.
fn built(script: &str) -> Result<Vec<PathBuf>, LabError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let output = Command::new(&script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .output()
        .map_err(|source| failed(format!("{}: {source}", script.display())))?;
    let talk = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let lines: Vec<&str> = talk.lines().collect();
        return Err(failed(lines[lines.len().saturating_sub(6)..].join("\n")));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    Ok(printed.lines().map(PathBuf::from).collect())
}

fn place(folders: &[PathBuf], name: &str) -> Result<PathBuf, LabError> {
    let found = folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    found.ok_or_else(|| {
        let folders: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
        failed(format!("no {name} in {}", folders.join(", ")))
    })
}

fn failed(reason: String) -> LabError {
    LabError::Build { reason }
}
