//! The scheduler's program as this crate asks it: one process, one question and one answer a line.
//!
//! The program is written in Go (`tests/oracles/scheduler`) and built from pinned modules into a cache outside the checkout, once for
//! each minor of Kubernetes. It is the scheduler itself with its default configuration; this file only carries questions to it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

/// Kinds that the scheduler is handed; others are none of its business.
pub(crate) const SCHEDULED: [&str; 14] = [
    "Pod",
    "Node",
    "Namespace",
    "Service",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "CSINode",
    "CSIDriver",
    "CSIStorageCapacity",
    "VolumeAttachment",
];

/// A minor of Kubernetes whose scheduler can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minor {
    /// The lab's.
    V1_36,
    /// The one after it.
    V1_37,
}

impl Minor {
    /// The minor as the build script takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_36 => "1.36",
            Self::V1_37 => "1.37",
        }
    }
}

/// Why the scheduler could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum SchedulerError {
    /// The program could not be built; the script has said why.
    #[error("building the scheduler of {minor}: {reason}")]
    Build {
        /// The minor that was wanted.
        minor: &'static str,
        /// The end of the script's standard error.
        reason: String,
    },
    /// The program could not be started, or its pipes broke.
    #[error("talking to the scheduler")]
    Talk(#[from] std::io::Error),
    /// An answer in a form that this crate does not read.
    #[error("the scheduler answered {line:?}")]
    Form {
        /// The line.
        line: String,
        /// Where its form differs.
        #[source]
        source: serde_json::Error,
    },
    /// The scheduler did not answer the question.
    #[error("the scheduler cannot tell: {0}")]
    Refused(String),
}

/// A pod, a node, and why the node does not take it: empty where it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// `namespace/name`.
    pub pod: String,
    /// The node's name; empty where the scheduler found none.
    pub node: String,
    /// The scheduler's own words.
    pub reasons: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    error: String,
    version: String,
    placements: Vec<Verdict>,
    daemons: Vec<Verdict>,
}

/// A node that might be bought, and the objects that come with it.
#[derive(Clone, Debug)]
pub struct Fresh {
    /// The Node.
    pub node: Value,
    /// Its CSINode.
    pub with: Vec<Value>,
}

/// A running scheduler.
#[derive(Debug)]
pub struct Scheduler {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Scheduler {
    /// Finds the program in the cache, or builds it, which takes minutes and needs a Go toolchain; then starts it.
    pub fn start(minor: Minor) -> Result<Self, SchedulerError> {
        let program = built(minor)?;
        let mut process = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let lost = || std::io::Error::other("the scheduler has no pipes");
        let questions = process.stdin.take().ok_or_else(lost)?;
        let answers = process.stdout.take().ok_or_else(lost)?;
        Ok(Self {
            process,
            questions,
            answers: BufReader::new(answers),
        })
    }

    /// The version of Kubernetes that it was built from.
    pub fn version(&mut self) -> Result<String, SchedulerError> {
        Ok(self.ask(&json!({"ask": "version"}))?.version)
    }

    /// Hands over a cluster; what was there before is forgotten.
    pub fn load(&mut self, objects: &[Value]) -> Result<(), SchedulerError> {
        self.ask(&json!({"ask": "load", "objects": objects}))?;
        Ok(())
    }

    /// Goes back to the cluster as it was loaded.
    pub fn reset(&mut self) -> Result<(), SchedulerError> {
        self.ask(&json!({"ask": "reset"}))?;
        Ok(())
    }

    /// Starts the daemons' pods of these nodes; the answer has those that their node refuses.
    pub fn start_daemons(&mut self, nodes: &[String]) -> Result<Vec<Verdict>, SchedulerError> {
        Ok(self.ask(&json!({"ask": "daemons", "pods": nodes}))?.daemons)
    }

    /// Binds pods to nodes in this order, whatever the scheduler says of it.
    pub fn place(&mut self, pairs: &[(String, String)]) -> Result<Vec<Verdict>, SchedulerError> {
        let pairs: Vec<Value> = pairs
            .iter()
            .map(|(pod, node)| json!({"pod": pod, "node": node}))
            .collect();
        self.placements(&json!({"ask": "place", "placements": pairs}))
    }

    /// Every pod on each of the nodes, one node at a time as if it alone were bought.
    pub fn fresh(
        &mut self,
        pods: &[String],
        nodes: &[Fresh],
    ) -> Result<Vec<Verdict>, SchedulerError> {
        let nodes: Vec<Value> = nodes
            .iter()
            .map(|fresh| json!({"node": fresh.node, "with": fresh.with}))
            .collect();
        self.placements(&json!({"ask": "fresh", "pods": pods, "nodes": nodes}))
    }

    /// Every pod on every node that is there.
    pub fn fits(&mut self, pods: &[String]) -> Result<Vec<Verdict>, SchedulerError> {
        self.placements(&json!({"ask": "fits", "pods": pods}))
    }

    /// The scheduler's own choice for each pod of a queue in this order, once; one that it cannot place is answered without a node.
    pub fn bind(
        &mut self,
        order: &[String],
        nominations: &[(String, String)],
    ) -> Result<Vec<Verdict>, SchedulerError> {
        let nominations: serde_json::Map<String, Value> = nominations
            .iter()
            .map(|(pod, node)| (pod.clone(), Value::String(node.clone())))
            .collect();
        self.placements(&json!({"ask": "bind", "order": order, "nominations": nominations}))
    }

    fn placements(&mut self, question: &Value) -> Result<Vec<Verdict>, SchedulerError> {
        Ok(self.ask(question)?.placements)
    }

    fn ask(&mut self, question: &Value) -> Result<Answer, SchedulerError> {
        writeln!(self.questions, "{question}")?;
        self.questions.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Answer = match serde_json::from_str(&line) {
            Ok(answer) => answer,
            Err(source) => return Err(SchedulerError::Form { line, source }),
        };
        if answer.error.is_empty() {
            Ok(answer)
        } else {
            Err(SchedulerError::Refused(answer.error))
        }
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        // It may have ended by itself; either way no process is left behind.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Path of the program for a minor.
fn built(minor: Minor) -> Result<PathBuf, SchedulerError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../oracles/scheduler/build.sh");
    let output = Command::new(script)
        .arg(minor.name())
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = told.lines().collect();
        return Err(SchedulerError::Build {
            minor: minor.name(),
            reason: lines[lines.len().saturating_sub(3)..].join("; "),
        });
    }
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(Path::new(&folder).join("plimsoll-scheduler"))
}
