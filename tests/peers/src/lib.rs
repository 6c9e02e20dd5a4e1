//! Karpenter's scheduler as a peer: it solves the problem files that we solve, in a process of its own, and says what its fleet costs.
//!
//! The program is written in Go and built by `build.sh` from pinned modules into a cache outside the checkout; this
//! crate builds it when it is missing, runs it, and reads its figures. It decides nothing and is no part of the product.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

/// Why the peer could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// A program could not be started at all.
    #[error("starting {program}")]
    Start {
        /// The program that was to be run.
        program: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// A program ended with a failure; it has said why.
    #[error("{program} failed: {reason}")]
    Failed {
        /// The program that was run.
        program: PathBuf,
        /// The end of its standard error.
        reason: String,
    },
    /// A line is no hash with its template.
    #[error("{program} answered {line:?}, expected a hash and a template")]
    Hash {
        /// The program that was run.
        program: PathBuf,
        /// The line that it printed.
        line: String,
    },
    /// The figures are not in the form that this crate reads.
    #[error("{program} answered {line:?}, expected one JSON object of figures")]
    Figures {
        /// The program that was run.
        program: PathBuf,
        /// The line that it printed.
        line: String,
        /// Where the form differs.
        #[source]
        source: serde_json::Error,
    },
}

/// Treatment of preferred terms in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preferences {
    /// They are required first and given up one by one.
    Respect,
    /// They are not looked at.
    Ignore,
}

/// The benchmark of Karpenter to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// A fifth each: generic, zonal spread, host spread, zonal affinity, host anti-affinity.
    Diverse,
    /// One size; each pod prefers a zone, to be alone in a zone and to be alone on a node.
    Preferences,
}

/// Figures of one solved problem.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Name and version of the solver.
    pub solver: String,
    /// Pods that asked for a node.
    pub pods: usize,
    /// Pods that got a place, on new or existing nodes.
    pub scheduled: usize,
    /// Pods that got none.
    pub unscheduled: usize,
    /// New nodes.
    pub nodes: usize,
    /// Dollars per hour of the new nodes, each the cheapest that its claim would launch.
    pub cost_per_hour: f64,
    /// Wall seconds from the construction of topology and scheduler to the end of its solve.
    pub seconds: f64,
    /// Processor seconds of the same span, summed over cores.
    pub processor_seconds: f64,
    /// High water mark of the process's resident memory, reading the file included.
    pub peak_bytes: u64,
    /// Bytes allocated in the timed span.
    pub allocated_bytes: u64,
    /// New nodes and their pods; empty unless placements were asked for.
    #[serde(default)]
    pub claims: Vec<Placement>,
    /// Existing nodes that got pods; empty unless placements were asked for.
    #[serde(default)]
    pub existing: Vec<Placement>,
}

/// A node and the pods that a round put on it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct Placement {
    /// Name of an existing node; empty for a new one.
    pub node: String,
    /// The pool that a new node belongs to.
    pub pool: String,
    /// Instance type of a new node.
    pub instance_type: String,
    /// Zone of a new node.
    pub zone: String,
    /// Its capacity type.
    pub capacity_type: String,
    /// Its price in dollars per hour.
    pub price: f64,
    /// `namespace/name` of the pods, sorted.
    pub pods: Vec<String>,
}

/// A pool's template and its hash, by which claims are told to have drifted from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedTemplate {
    /// The hash, in decimal digits.
    pub hash: String,
    /// `spec.template` of a NodePool, as JSON.
    pub template: String,
}

/// The built program.
#[derive(Debug, Clone)]
pub struct Peer {
    program: PathBuf,
}

impl Peer {
    /// Finds the program in the cache, or builds it, which takes minutes and needs a Go toolchain.
    pub fn build() -> Result<Self, PeerError> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.sh");
        let folder = run(&mut Command::new(&script))?;
        Ok(Self {
            program: Path::new(String::from_utf8_lossy(&folder).trim()).join("plimsoll-peers"),
        })
    }

    /// Solves one problem file.
    pub fn solve(
        &self,
        problem: &Path,
        preferences: Preferences,
        placements: bool,
    ) -> Result<Figures, PeerError> {
        let mut command = Command::new(&self.program);
        command.arg("solve").args([
            "-preferences",
            match preferences {
                Preferences::Respect => "respect",
                Preferences::Ignore => "ignore",
            },
        ]);
        if placements {
            command.arg("-placements");
        }
        let line = run(command.arg(problem))?;
        serde_json::from_slice(&line).map_err(|source| PeerError::Figures {
            program: self.program.clone(),
            line: String::from_utf8_lossy(&line).into_owned(),
            source,
        })
    }

    /// Karpenter's own benchmark as a problem file: `pods` pods, `instance_types` of its fake types, drawn from `seed`.
    pub fn benchmark(
        &self,
        mix: Mix,
        pods: usize,
        instance_types: usize,
        seed: u32,
    ) -> Result<Vec<u8>, PeerError> {
        let mix = match mix {
            Mix::Diverse => "diverse",
            Mix::Preferences => "preferences",
        };
        run(Command::new(&self.program)
            .args(["generate", "-mix", mix])
            .args(["-pods", &pods.to_string()])
            .args(["-types", &instance_types.to_string()])
            .args(["-seed", &seed.to_string()]))
    }

    /// So many templates drawn from `seed`, with their hashes.
    pub fn hashed_templates(
        &self,
        drawn: usize,
        seed: u32,
    ) -> Result<Vec<HashedTemplate>, PeerError> {
        let mut command = Command::new(&self.program);
        command.arg("hashes").args(["-drawn", &drawn.to_string()]);
        let lines = run(command.args(["-seed", &seed.to_string()]))?;
        let one = |line: &str| {
            let (hash, template) = line.split_once(' ').ok_or_else(|| PeerError::Hash {
                program: self.program.clone(),
                line: line.to_owned(),
            })?;
            Ok(HashedTemplate {
                hash: hash.to_owned(),
                template: template.to_owned(),
            })
        };
        String::from_utf8_lossy(&lines).lines().map(one).collect()
    }
}

/// Runs a program to its end and returns what it printed; its talk becomes the reason of a failure.
fn run(command: &mut Command) -> Result<Vec<u8>, PeerError> {
    let program = PathBuf::from(command.get_program());
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| PeerError::Start {
            program: program.clone(),
            source,
        })?;
    if status.success() {
        return Ok(stdout);
    }
    let talk = String::from_utf8_lossy(&stderr);
    let lines: Vec<&str> = talk.lines().collect();
    let reason = lines[lines.len().saturating_sub(5)..].join("; ");
    Err(PeerError::Failed {
        program,
        reason: if reason.is_empty() {
            status.to_string()
        } else {
            reason
        },
    })
}
