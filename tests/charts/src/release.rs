//! A release: a chart, its name and namespace, and values, as helm's command line is given them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plimsoll_lab::{LabError, helm};
use serde_json::{Value, json};
use thiserror::Error;

/// Why a chart was not rendered or installed.
#[derive(Debug, Error)]
pub enum ChartError {
    /// There is no helm, and none could be built.
    #[error(transparent)]
    Helm(#[from] LabError),
    /// Helm could not be run, or its values not be written.
    #[error("helm cannot be run")]
    Run(#[from] io::Error),
    /// Helm refused, in its words.
    #[error("{0}")]
    Refused(String),
    /// Helm printed something that is no YAML.
    #[error("helm printed what cannot be read: {0}")]
    Unread(String),
}

/// Folder of a chart of ours, by its name.
pub fn folder(chart: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("charts").join(chart)
}

/// A chart with values, under a name and in a namespace.
#[derive(Clone, Debug)]
pub struct Release {
    /// Name of the chart, which is that of its folder.
    pub chart: &'static str,
    /// Name of the release.
    pub name: &'static str,
    /// Namespace of the release.
    pub namespace: &'static str,
    /// Values beside the chart's own.
    pub values: Value,
    /// Group versions and kinds that it is rendered for, beside those of Kubernetes.
    pub api_versions: Vec<&'static str>,
}

impl Release {
    /// A release named after its chart, in kube-system, for an API server that has none but Kubernetes' own kinds.
    pub fn new(chart: &'static str, values: Value) -> Self {
        Self {
            chart,
            name: chart,
            namespace: "kube-system",
            values,
            api_versions: Vec::new(),
        }
    }

    /// The objects, as `helm template` prints them.
    pub fn render(&self) -> Result<Vec<Value>, ChartError> {
        let versions = self.api_versions.iter();
        let flags: Vec<String> = versions.map(|it| format!("--api-versions={it}")).collect();
        let text = self.run("template", &flags)?;
        let objects: Vec<Value> = serde_saphyr::from_multiple(&text)
            .map_err(|error| ChartError::Unread(error.to_string()))?;
        let objects = objects.into_iter().filter(|object| !object.is_null());
        Ok(objects.collect())
    }

    /// The words that a user gets after an installation, when there is no API server to ask for its kinds.
    pub fn notes(&self) -> Result<String, ChartError> {
        let flags = ["--dry-run=client", "--output=json"].map(ToOwned::to_owned);
        let text = self.run("install", &flags)?;
        let told: Value = serde_json::from_str(&text)
            .map_err(|error| ChartError::Unread(format!("{error}: {text}")))?;
        let notes = told["info"]["notes"].as_str();
        Ok(notes.unwrap_or_default().trim().to_owned())
    }

    /// Installs it, or brings what is installed up to it, at the API server of a kubeconfig; what helm says of it. With `wait` helm returns
    /// when all of it is ready.
    pub fn install(&self, kubeconfig: &Path, wait: bool) -> Result<String, ChartError> {
        let mut flags = vec![
            "--install".to_owned(),
            "--create-namespace".to_owned(),
            format!("--kubeconfig={}", kubeconfig.display()),
        ];
        if wait {
            flags.extend(["--wait".to_owned(), "--timeout=3m".to_owned()]);
        }
        self.run("upgrade", &flags)
    }

    /// Runs helm in a folder of its own, so that nothing of the user's settings counts.
    fn run(&self, command: &str, flags: &[String]) -> Result<String, ChartError> {
        let home = tempfile::tempdir()?;
        let mut helm = Command::new(helm()?)
            .arg(command)
            .args([self.name, &folder(self.chart).display().to_string()])
            .args(["--namespace", self.namespace, "--values=-"])
            .args(flags)
            .env_clear()
            .env("HOME", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let values = match &self.values {
            Value::Null => json!({}),
            values => values.clone(),
        };
        if let Some(mut input) = helm.stdin.take() {
            input.write_all(values.to_string().as_bytes())?;
        }
        let ended = helm.wait_with_output()?;
        if ended.status.success() {
            return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
        }
        let words = String::from_utf8_lossy(&ended.stderr);
        Err(ChartError::Refused(words.trim().to_owned()))
    }
}
