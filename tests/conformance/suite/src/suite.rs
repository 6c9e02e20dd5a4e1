//! The suite as a program: its specs by name, and one of them run.
//!
//! A spec is asked for by a pattern that only its whole name has. Time is limited twice: the suite ends a spec itself and then cleans up;
//! where it does not, its process ends. It ends with ours, too: the kernel is asked to (by `setpriv`).

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::process::Command;
use tokio::time::timeout;

use crate::report::{self, Outcome, State};

const BUILD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/build.sh");
/// The suite's own name, which stands before that of every spec where patterns are looked for.
const TITLE: &str = "Regression";
/// The time that a spec has to end when asked to, and so has each step of cleaning up.
const GRACE: Duration = Duration::from_secs(30);
/// The time that cleaning up may take in all.
const CLEANING: Duration = Duration::from_mins(3);

/// The suite's program.
#[derive(Debug)]
pub(crate) struct Suite {
    program: PathBuf,
}

impl Suite {
    /// Finds it; it is built where the cache has none, which takes minutes.
    pub(crate) fn find() -> Result<Self> {
        let mut build = std::process::Command::new(BUILD);
        let built = build.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let built = built.with_context(|| BUILD.to_owned())?;
        if !built.status.success() {
            bail!(
                "{BUILD} ended with {}; what it said stands above",
                built.status
            );
        }
        let folder = String::from_utf8(built.stdout).context("the path of the suite")?;
        Ok(Self {
            program: Path::new(folder.trim()).join("regression"),
        })
    }

    /// Names of the specs that a regular expression finds, of all without one.
    pub(crate) async fn names(&self, pattern: Option<&str>) -> Result<Vec<String>> {
        let folder = tempfile::tempdir()?;
        let report = folder.path().join("report.json");
        let mut command = self.command(pattern.unwrap_or_default(), &report);
        let listed = command.arg("--ginkgo.dry-run").output().await;
        let listed = listed.with_context(|| self.program.display().to_string())?;
        if !listed.status.success() {
            let said = String::from_utf8_lossy(&listed.stdout);
            bail!("the suite lists no specs:\n{}", said.trim());
        }
        report::names(&std::fs::read_to_string(report)?)
    }

    /// Runs one. Its output goes to `PLACE.suite.log` and the report to `PLACE.json`.
    pub(crate) async fn run(
        &self,
        name: &str,
        limit: Duration,
        kubeconfig: &Path,
        place: &Path,
    ) -> Result<Outcome> {
        let report = place.with_extension("json");
        let output = std::fs::File::create(place.with_extension("suite.log"))?;
        let mut command = self.command(&only(name), &report);
        command
            .args(["--ginkgo.v", "--ginkgo.poll-progress-after=1m"])
            .arg(format!("--ginkgo.timeout={}s", limit.as_secs()))
            .arg(format!("--ginkgo.grace-period={}s", GRACE.as_secs()))
            .env("KUBECONFIG", kubeconfig)
            .stdout(output.try_clone()?)
            .stderr(output);
        let ended = timeout(limit + CLEANING, command.status()).await;
        let Ok(status) = ended else {
            return Ok(Outcome {
                state: State::TimedOut,
                why: "it did not end when asked to".to_owned(),
            });
        };
        let status = status.with_context(|| self.program.display().to_string())?;
        let told = std::fs::read_to_string(&report).map_err(anyhow::Error::from);
        Ok(told
            .and_then(|json| report::outcome(&json))
            .unwrap_or_else(|error| Outcome {
                state: State::Failed,
                why: format!("the suite ended with {status}: {error:#}"),
            }))
    }

    fn command(&self, pattern: &str, report: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--"])
            .arg(&self.program)
            .arg("--ginkgo.no-color")
            .arg(format!("--ginkgo.focus={pattern}"))
            .arg(format!("--ginkgo.json-report={}", report.display()))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// A pattern that finds the spec of this name alone.
fn only(name: &str) -> String {
    let mut pattern = format!("^{TITLE} ");
    for letter in name.chars() {
        if letter.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "$"
}

/// A name as that of a file: letters and digits, with a hyphen for whatever stands between; at most 80.
pub(crate) fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_every_letter_of_a_name_as_it_is() {
        assert_eq!(
            only("Labels (a.b/[*].c)"),
            r"^Regression Labels \(a\.b\/\[\*\]\.c\)$"
        );
    }

    #[test]
    fn names_of_files_have_letters_and_hyphens() {
        assert_eq!(slug("Labels (a.b/[*].c)"), "Labels-a-b-c");
        assert_eq!(slug(&"long ".repeat(40)).len(), 80);
    }
}
