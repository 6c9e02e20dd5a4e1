//! Why a lab did not start, or a condition in it was not met: who, what was expected, and what the program itself said last.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A failure of a lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The programs could not be built; the text is the build's own, Go's absence included.
    #[error("building the lab's programs: {reason}")]
    Build {
        /// The end of what the build said.
        reason: String,
    },
    /// A program could not be started at all.
    #[error("starting {program}")]
    Spawn {
        /// Its path; or `setpriv` of util-linux, which ties its life to ours.
        program: String,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// A program ended by itself.
    #[error("{program} ended with {status}: {log}")]
    Ended {
        /// Name of the program.
        program: String,
        /// Its exit status.
        status: String,
        /// The last lines of its log.
        log: String,
    },
    /// No process of that name was started, or it has ended.
    #[error("no {program} runs in the lab; expected it to be started before")]
    NotRunning {
        /// Name of the program.
        program: String,
    },
    /// The thread that owns the processes is gone.
    #[error("the lab's processes have been stopped already")]
    Stopped,
    /// No block of ports on loopback is free.
    #[error("no {wanted} adjacent ports of 127.0.0.1 between {from} and {to} are free")]
    Ports {
        /// Ports that a lab needs.
        wanted: u16,
        /// Lowest port tried.
        from: u16,
        /// Highest port tried.
        to: u16,
    },
    /// A file of the lab could not be read or written.
    #[error("file {path}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// No token, or no key for service account tokens, could be made.
    #[error("neither a token nor a key could be made; expected the system to give random bytes")]
    Key,
    /// The kubeconfig of the lab was not understood.
    #[error("reading the lab's kubeconfig")]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    /// The API server refused, or could not be reached.
    #[error("asking the lab's API server")]
    Api(#[from] kube::Error),
    /// A manifest that is no CustomResourceDefinition.
    #[error("file {path}: {reason}; expected CustomResourceDefinitions in YAML or JSON")]
    Manifest {
        /// Path of the manifest.
        path: PathBuf,
        /// Where it differs.
        reason: String,
    },
    /// A condition was not met in time.
    #[error("waited {waited:?} for {what}; last seen: {last}")]
    Deadline {
        /// The condition that was waited for.
        what: String,
        /// How long.
        waited: Duration,
        /// The state when time ran out, in words.
        last: String,
    },
}
