//! What can be typed after `plimsoll policy`.

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
    /// Write a first policy: a crate that builds, with tests and a suite.
    New(New),
    /// Compile a policy's crate and make a component of it.
    Build(Build),
    /// Show what a module says of itself, without running it.
    Inspect(Inspect),
    /// Take a module through every step of acceptance, and tell where and why one refuses it.
    Check(Check),
    /// Prove a policy: the cases of its suite, its recorded answers, and the laws that all keep.
    Test(Test),
    /// Measure what standard questions cost a policy, and fail where fuel rose above its baseline.
    Bench(Bench),
    /// Play an input under one policy, ask another beside it, and tell where they differ and what that costs.
    Diff(Diff),
    /// Say why a module answered as it did in a recorded decision.
    Explain(PolicyExplain),
    /// Make ConfigMaps of a module: -O writes them, -o yaml prints them.
    Pack(Pack),
}

/// Which decision a policy takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewHook {
    /// Which machines to buy.
    Rank,
    /// Which moves of nodes are worth it.
    Consolidate,
    /// How many nodes may go now.
    Budget,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The decision that it takes part in.
    #[arg(value_enum)]
    pub(crate) hook: NewHook,
    /// Its name, which becomes the folder's: lower-case letters, digits and hyphens.
    pub(crate) name: String,
    /// Folder of the crate plimsoll-sdk; that of the checkout this program was built from where absent.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) sdk: Option<PathBuf>,
}

/// What the self-test of a module is made of.
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
    /// Give the module a self-test: the cases of the suite beside it with its answers, or decisions that `simulate --records` wrote.
    #[arg(long, value_name = "RECORDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) self_test: Option<SelfTestFrom>,
    /// Where to write the component; NAME.wasm in the folder where absent.
    #[arg(short = 'O', long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// NAME of one that is shipped, a FILE (.wasm, .wasm.zst, or ConfigMaps as YAML), or a FOLDER, which is built first.
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// How to show it.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// NAME of one that is shipped, a FILE (.wasm, .wasm.zst, or ConfigMaps as YAML), or a FOLDER, which is built first.
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Settings.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// SHA-256 that the component must have.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) sha256: Option<String>,
    /// Check as a controller does that lets modules of up to 32 MiB in, such as those in JavaScript; 1 MiB otherwise.
    #[arg(long)]
    pub(crate) large_modules: bool,
    /// How to show the steps.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// NAME of one that is shipped, a FILE (.wasm, .wasm.zst, or ConfigMaps as YAML), or a FOLDER, which is built first.
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Settings that the laws are tried under, over those that the suite begins with; cases have their own.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Folder with suite.yaml and goldens.yaml; the policy's own where absent.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) suite: Option<PathBuf>,
    /// Record what the policy answers now as its goldens.
    #[arg(long)]
    pub(crate) update: bool,
    /// How to show what came of it.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// NAME of one that is shipped, a FILE (.wasm, .wasm.zst, or ConfigMaps as YAML), or a FOLDER, which is built first.
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Settings, over those that the suite begins with.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Folder with suite.yaml and fuel.yaml; the policy's own where absent.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) suite: Option<PathBuf>,
    /// Percent of the baseline that fuel may rise.
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(..=1000))]
    pub(crate) tolerance: u32,
    /// Calls that are timed for each question; times are told and never judged.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) calls: u32,
    /// Record the fuel that it takes now as its baseline.
    #[arg(long)]
    pub(crate) update: bool,
    /// How to show what was measured.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Who decides: NAME of one that is shipped, FILE.wasm or FOLDER; settings follow as ,KEY=VALUE.
    #[arg(value_name = "A[,KEY=VALUE]")]
    pub(crate) active: String,
    /// Who is asked beside it, of the same hook.
    #[arg(value_name = "B[,KEY=VALUE]")]
    pub(crate) shadow: String,
    /// Snapshot, recording, or the published CSV of a trace.
    #[arg(long, value_name = "INPUT")]
    pub(crate) on: PathBuf,
    /// A policy of another hook, or another budget, that decides with A: rank=, consolidate= or budget=, as in simulate.
    #[arg(long, value_name = "SPEC")]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) deciding: Deciding,
    /// Seed of all draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Differing decisions that the table shows, the dearest first; json and yaml have all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// How to show the differences.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyExplain {
    /// What `simulate --records` or `run --records` wrote, zstd or not.
    pub(crate) records: PathBuf,
    /// The decision, by its number in the records; without it, what decisions there are.
    #[arg(long, value_name = "N")]
    pub(crate) decision: Option<u64>,
    /// Rows of its question, by their numbers; without any, the ten that come first in the module's own order.
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    pub(crate) row: Vec<u32>,
    /// Rows whose words hold this text, such as m5.large, a zone or a node.
    #[arg(long, value_name = "TEXT", conflicts_with = "row")]
    pub(crate) find: Option<String>,
    /// A module that is not shipped: FILE.wasm, or FOLDER, which is built first. Settings are those of the records.
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) policy: Vec<String>,
    /// How to show the reasons.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Pack {
    /// NAME of one that is shipped, a FILE, or a FOLDER, which is built first.
    #[arg(default_value = ".")]
    pub(crate) module: String,
    /// Manifest (JSON) of a module that has none in it: a core module or a component of another toolchain.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Give the module a self-test: the cases of the suite beside it with its answers, or decisions that `simulate --records` wrote.
    #[arg(long, value_name = "RECORDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) self_test: Option<SelfTestFrom>,
    /// Namespace of the ConfigMaps.
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
    /// Where to write the ConfigMaps as YAML; - for standard output.
    #[arg(short = 'O', long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// How to show what was packed; yaml prints the ConfigMaps.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}
