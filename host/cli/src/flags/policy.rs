//! Flags of `plimsoll policy`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Deciding, Format};

#[derive(Debug, Args)]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Create a policy: a Rust crate that builds, with tests and a suite of cases.
    New(New),
    /// Build a policy's crate into a WebAssembly component.
    Build(Build),
    /// Show a module's manifest: hook, settings, reasons, limits. Does not run it.
    Inspect(Inspect),
    /// Check whether a controller would accept a module, step by step, and how much of its limits a whole region takes.
    Check(Check),
    /// Test a policy: its suite of cases, its recorded answers, and the laws that hold for every policy.
    Test(Test),
    /// Measure a policy's fuel on standard questions and its use of a controller's limits; fails where it exceeds the recorded baseline.
    Bench(Bench),
    /// Simulate an input under policy A, ask policy B the same questions, and list the decisions that differ with their cost.
    Diff(Diff),
    /// Explain a module's answer in a recorded decision.
    Explain(PolicyExplain),
    /// Package a module as ConfigMaps, for `kubectl apply --server-side`.
    Pack(Pack),
}

/// The decision that a policy takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewHook {
    /// The price and order of offerings for new nodes.
    Rank,
    /// The worth of each consolidation.
    Consolidate,
    /// The number of nodes that may be disrupted now.
    Budget,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The hook of the policy.
    #[arg(value_enum)]
    pub(crate) hook: NewHook,
    /// The policy's name, also the name of its folder: lower-case letters, digits and hyphens.
    pub(crate) name: String,
    /// Folder of the crate plimsoll-sdk; by default that of the checkout that this program was built from.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) sdk: Option<PathBuf>,
}

/// The source of a module's self-test.
#[derive(Debug, Clone)]
pub(crate) enum SelfTestFrom {
    /// The suite beside it.
    Suite,
    /// A file of records.
    Records(PathBuf),
}

impl From<OsString> for SelfTestFrom {
    /// Nothing behind the flag means the suite.
    fn from(value: OsString) -> Self {
        if value.is_empty() {
            Self::Suite
        } else {
            Self::Records(value.into())
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Build {
    /// Folder of the policy's crate.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Embed a self-test: the cases of the suite in its folder with their answers, or decisions of a file that `simulate --records` wrote.
    #[arg(long, value_name = "RECORDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) self_test: Option<SelfTestFrom>,
    /// File to write; by default NAME.wasm in the folder.
    #[arg(short = 'O', long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Name of a shipped policy, a file (.wasm, .wasm.zst, or ConfigMaps as YAML), or a crate's folder (built first).
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Name of a shipped policy, a file (.wasm, .wasm.zst, or ConfigMaps as YAML), or a crate's folder (built first).
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Settings of the policy.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Refuse the module unless its component has this SHA-256.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) sha256: Option<String>,
    /// Check for a controller that runs with --large-modules: up to 32 MiB instead of 1 MiB.
    #[arg(long)]
    pub(crate) large_modules: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Name of a shipped policy, a file (.wasm, .wasm.zst, or ConfigMaps as YAML), or a crate's folder (built first).
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Settings for the laws, over those at the top of the suite; cases have their own.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Folder of suite.yaml and goldens.yaml; by default the policy's own.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) suite: Option<PathBuf>,
    /// Record the present answers in goldens.yaml.
    #[arg(long)]
    pub(crate) update: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Name of a shipped policy, a file (.wasm, .wasm.zst, or ConfigMaps as YAML), or a crate's folder (built first).
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Settings of the policy, over those at the top of the suite.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Folder of suite.yaml and fuel.yaml; by default the policy's own.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) suite: Option<PathBuf>,
    /// Percent by which fuel may exceed the baseline.
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(..=1000))]
    pub(crate) tolerance: u32,
    /// Timed calls per question; times are shown and never fail the command.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) calls: u32,
    /// Record the present fuel as the baseline in fuel.yaml.
    #[arg(long)]
    pub(crate) update: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The policy that decides: name of a shipped policy, a .wasm file, or a crate's folder (built first); settings follow as ,KEY=VALUE.
    #[arg(value_name = "A[,KEY=VALUE]")]
    pub(crate) active: String,
    /// The policy that is asked the same questions and decides nothing; of the same hook.
    #[arg(value_name = "B[,KEY=VALUE]")]
    pub(crate) shadow: String,
    /// Snapshot, recording, or the CSV of a published trace; - for standard input.
    #[arg(long, value_name = "INPUT")]
    pub(crate) on: PathBuf,
    /// A policy of another hook, or a further budget, that decides beside A; as in `plimsoll simulate`.
    #[arg(long, value_name = "SPEC")]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) deciding: Deciding,
    /// Seed of the simulation's random numbers.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Rows of differing decisions in the table, the most expensive first; JSON and YAML have all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyExplain {
    /// Records written by `simulate --records` or `run --records`, plain or compressed with zstd.
    pub(crate) records: PathBuf,
    /// Number of the decision to explain; without it all decisions are listed.
    #[arg(long, value_name = "N")]
    pub(crate) decision: Option<u64>,
    /// Rows of the question to explain, from 0; by default the ten that the module prefers.
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    pub(crate) row: Vec<u32>,
    /// Explain the rows whose description contains this text, such as an instance type, a zone or a node.
    #[arg(long, value_name = "TEXT", conflicts_with = "row")]
    pub(crate) find: Option<String>,
    /// A module that is not shipped with plimsoll: a .wasm file, or a crate's folder (built first). Settings are taken from the records.
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) policy: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Pack {
    /// Name of a shipped policy, a file, or a crate's folder (built first).
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Manifest (JSON) for a module without one: a core module or a component of another toolchain.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Embed a self-test: the cases of the suite in its folder with their answers, or decisions of a file that `simulate --records` wrote.
    #[arg(long, value_name = "RECORDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) self_test: Option<SelfTestFrom>,
    /// Namespace of the ConfigMaps.
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
    /// Write the ConfigMaps as YAML to this file; - for standard output.
    #[arg(short = 'O', long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Output format; JSON and YAML are the ConfigMaps themselves.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}
