//! What can be typed. One list feeds the parser, the help and the error messages; what flags mean is decided elsewhere.

mod policy;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use policy::{
    Bench, Build, Check, Diff, Inspect, New, NewHook, Pack, Policy, PolicyCommand, PolicyExplain,
    SelfTestFrom, Test,
};

/// A node autoscaler for Kubernetes whose decisions belong to its users.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, max_term_width = 100)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide once: which machines to buy for the waiting pods of a snapshot.
    Plan(Plan),
    /// Play a snapshot, recording or trace under one or more policies and compare them.
    Simulate(Simulate),
    /// Say why a pod waits, or why a planned claim is what it is.
    Explain(Explain),
    /// Show what can be bought.
    Catalogue(Catalogue),
    /// Look at snapshot files.
    Snapshot(Snapshot),
    /// Make a recording out of statistics of production work.
    Generate(Generate),
    /// Write, prove, compare and pack policies.
    Policy(Policy),
    /// Ask the modules of recorded decisions again, and say whether the answers are equal to the byte.
    Replay(Replay),
    /// Compile a module for the process that started this one.
    #[command(hide = true)]
    CompileModule,
    /// Print what a shell needs to complete commands and flags.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write manual pages, one per command.
    Man {
        /// The folder that they go into.
        folder: PathBuf,
    },
    /// Serve a cluster: buy nodes for waiting pods, let them in, take away what is empty, drifted or dearer than it need be.
    #[cfg(feature = "live")]
    Run(Run),
}

/// How results are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs; stable.
    Json,
    /// For programs and people.
    Yaml,
}

/// How a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// One list.
    Json,
    /// One document per object.
    Yaml,
}

/// Flags about the way of deciding.
#[derive(Debug, Args)]
pub(crate) struct Deciding {
    /// Pack every pool this way, whatever it says.
    #[arg(long, value_enum)]
    pub(crate) packing: Option<Packing>,
    /// Decide without the guards on cheap packing.
    #[arg(long)]
    pub(crate) no_guards: bool,
    /// Take the first good plan, without searching on for a cheaper fleet.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// How pods are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Packing {
    /// The cheapest feasible fleet.
    Price,
    /// First fit in the incumbent's order.
    Compatible,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Snapshot: what `kubectl get nodes,pods,nodepools,... -A -o json` prints, JSON or YAML, zstd or not.
    pub(crate) snapshot: PathBuf,
    /// Ranking policy: rank=NAME of one that is shipped, rank=FILE.wasm, or rank=FOLDER, which is built first; settings follow as ,KEY=VALUE.
    #[arg(
        long,
        value_name = "rank=NAME|FILE[,KEY=VALUE]",
        default_value = "rank=list-price"
    )]
    pub(crate) policy: String,
    #[command(flatten)]
    pub(crate) deciding: Deciding,
    /// Also hold the plan against the checker, and fail if it finds anything.
    #[arg(long)]
    pub(crate) check: bool,
    /// How to show the plan.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
    /// Tell on stderr how long each step took.
    #[arg(long)]
    pub(crate) timings: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// Snapshot, recording, or the published CSV of a trace.
    pub(crate) input: PathBuf,
    /// A policy: rank=, consolidate= or budget= with the NAME of one that is shipped, FILE.wasm or FOLDER behind it; settings follow as ,KEY=VALUE.
    /// Given once for each hook, budgets as often as wanted; or alone: compatible (the incumbent's order), fixed:TYPE (a node group of one type).
    #[arg(long, value_name = "SPEC", default_value = "rank=list-price")]
    pub(crate) policy: Vec<String>,
    /// What is held against that: policies as above, joined by +, which take the place of those for their hooks; or compatible, or fixed:TYPE.
    #[arg(long, value_name = "SPEC[+SPEC]")]
    pub(crate) compare: Vec<String>,
    #[command(flatten)]
    pub(crate) deciding: Deciding,
    /// Seed of all draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How to show the score cards.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
    /// Write an HTML report.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write down what the modules behind --policy were asked and what they answered; a name that ends in .zst is compressed.
    #[arg(long, value_name = "FILE")]
    pub(crate) records: Option<PathBuf>,
    /// Policies played at the same time; as many as there are processors when not given. Results do not hang on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Tell on stderr how long each run took.
    #[arg(long)]
    pub(crate) timings: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// What `simulate --records` or `run --records` wrote, zstd or not.
    pub(crate) records: PathBuf,
    /// A module that is not shipped: FILE.wasm, or FOLDER, which is built first. Settings are those of the records.
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) policy: Vec<String>,
    /// The input that was simulated: plays it again, and compares plans and decisions about nodes too.
    #[arg(long, value_name = "INPUT")]
    pub(crate) on: Option<PathBuf>,
    /// Decisions made again at the same time; as many as there are processors when not given. The result does not hang on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// How to show the result.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// What to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// A pod, as namespace/name or name.
    Pod,
    /// A claim of the plan, by its number.
    Claim,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// What to explain.
    #[arg(value_enum)]
    pub(crate) subject: Subject,
    /// Its name.
    pub(crate) name: String,
    /// The snapshot it is in.
    pub(crate) snapshot: PathBuf,
    /// Ranking policy: rank=NAME of one that is shipped, rank=FILE.wasm, or rank=FOLDER, which is built first; settings follow as ,KEY=VALUE.
    #[arg(
        long,
        value_name = "rank=NAME|FILE[,KEY=VALUE]",
        default_value = "rank=list-price"
    )]
    pub(crate) policy: String,
    #[command(flatten)]
    pub(crate) deciding: Deciding,
}

#[derive(Debug, Args)]
pub(crate) struct Catalogue {
    /// One type to show in full.
    pub(crate) instance_type: Option<String>,
    /// Region.
    #[arg(long, default_value = "us-east-1")]
    pub(crate) region: String,
    /// Snapshot whose catalogue to show, as its pools' class shapes it; in place of a region's.
    #[arg(long, value_name = "FILE", conflicts_with = "region")]
    pub(crate) from: Option<PathBuf>,
    /// Requirements that types must meet, such as "karpenter.k8s.aws/instance-category In c,m" or "instance-cpu Gt 8".
    #[arg(long = "where", value_name = "KEY OPERATOR VALUES")]
    pub(crate) requirements: Vec<String>,
    /// How to show them.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Snapshot {
    #[command(subcommand)]
    pub(crate) command: SnapshotCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// What is in a file, in a few lines.
    Show {
        /// The file.
        file: PathBuf,
    },
    /// Read a file and fail on what a server would refuse, a controller would ignore, or nobody knows as a field.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Write a file anew: trimmed to what decisions read, in another format, or a trace as a recording.
    Convert {
        /// What kubectl prints, a snapshot, a recording, or the published CSV of a trace.
        file: PathBuf,
        /// Where to write it; - for standard output. A name that ends in .zst is compressed.
        #[arg(short = 'O', long, default_value = "-")]
        to: PathBuf,
        /// JSON or YAML; without it the name decides, and JSON where it does not.
        #[arg(short, long, value_enum)]
        output: Option<TextFormat>,
        /// Write every instance type out, so that the file needs no tables to be read.
        #[arg(long)]
        inline: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// Where to write the recording; - for standard output.
    #[arg(short = 'O', long, default_value = "-")]
    pub(crate) to: PathBuf,
    /// How many times the trace's own load.
    #[arg(long, default_value_t = 100)]
    pub(crate) scale: u32,
    /// Services that run beside the tasks, each a deployment that follows its load.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) services: u32,
    /// Hours of arrivals, a year at most.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(..=8784))]
    pub(crate) hours: u32,
    /// Seed of all draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Tasks with accelerators too.
    #[arg(long)]
    pub(crate) accelerators: bool,
    /// Region whose machines can be bought.
    #[arg(long, default_value = "us-east-1")]
    pub(crate) region: String,
}

/// Whose machines are bought.
#[cfg(feature = "live")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Provider {
    /// Nodes that are only objects, kept alive by KWOK.
    Kwok,
}

#[cfg(feature = "live")]
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Whose machines are bought.
    #[arg(long, value_enum)]
    pub(crate) provider: Provider,
    /// How to reach the API server; what kubectl would use where absent.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long)]
    pub(crate) context: Option<String>,
    /// A policy: rank=, consolidate= or budget= with the NAME of one that is shipped, FILE.wasm or configmap:NAMESPACE/NAME behind it; settings follow as
    /// ,KEY=VALUE. Given once for each hook, budgets as often as wanted; ConfigMaps are followed, the rest is read at the start.
    #[arg(long, value_name = "SPEC", default_value = "rank=list-price")]
    pub(crate) policy: Vec<String>,
    /// Let modules of up to 32 MiB in, such as those in JavaScript, which take many seconds and hundreds of MiB to compile; 1 MiB otherwise.
    #[arg(long)]
    pub(crate) large_modules: bool,
    /// Memory that calls of policies may have together, such as 512Mi; a quarter of what this process may use where absent, or 1Gi where
    /// nothing limits it. Calls that find no room wait a moment, and then count as not answered.
    #[arg(long, value_name = "QUANTITY")]
    pub(crate) policy_memory: Option<String>,
    /// JSON list of instance types; a generic list where absent.
    #[arg(long, value_name = "FILE")]
    pub(crate) instance_types_file_path: Option<PathBuf>,
    /// A batch of pods ends after this long without new ones.
    #[arg(long, default_value = "1s")]
    pub(crate) batch_idle_duration: String,
    /// A batch of pods ends at the latest after this long.
    #[arg(long, default_value = "10s")]
    pub(crate) batch_max_duration: String,
    /// Features that are off unless named, as NAME=true: CapacityBuffer, NodeOverlay, SpotToSpotConsolidation, StaticCapacity; ReservedCapacity=false
    /// shuts the one that is on.
    #[arg(long, value_name = "NAME=BOOL,...", default_value = "")]
    pub(crate) feature_gates: String,
    /// Seed of draws and of the names of claims.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write down every input and every action.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Write down what policies were asked and what they answered.
    #[arg(long, value_name = "FILE")]
    pub(crate) records: Option<PathBuf>,
}
