//! Flags and arguments. One list feeds the parser, the help and the error messages; their meaning is decided elsewhere.

#[cfg(feature = "aws")]
mod aws;
#[cfg(feature = "live")]
mod logging;
mod policy;
#[cfg(feature = "live")]
mod process;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

#[cfg(feature = "aws")]
pub(crate) use aws::{Aws, interval, share};
#[cfg(feature = "live")]
pub(crate) use logging::Logging;
pub(crate) use policy::{
    Bench, Build, Check, Diff, Inspect, New, NewHook, Pack, Policy, PolicyCommand, PolicyExplain,
    SelfTestFrom, Test,
};
#[cfg(feature = "live")]
pub(crate) use process::{LeaderElection, Process};

/// A node autoscaler for Kubernetes that serves Karpenter's API and takes its policies from WebAssembly modules.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, max_term_width = 100)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan nodes for the pending pods of a snapshot.
    Plan(Plan),
    /// Simulate a snapshot, recording or trace under one or more policies, and compare cost and disruption.
    Simulate(Simulate),
    /// Explain a pod (why it is pending, or where it is planned), a node or NodeClaim (what it is, what it runs, whether it is disrupted now and why
    /// not), a NodeClaim of the plan (why it has its instance types), or a NodePool (what it may buy, has bought, and lets be disrupted).
    Explain(Explain),
    /// List instance types with capacity, labels and prices.
    Catalogue(Catalogue),
    #[cfg_attr(
        feature = "live",
        doc = "Record the cluster as a snapshot file; count the objects in a file, validate it, and convert it."
    )]
    #[cfg_attr(
        not(feature = "live"),
        doc = "Count the objects in a snapshot file, validate it, and convert it."
    )]
    Snapshot(Snapshot),
    /// Generate a recording from the statistics of a published production trace.
    Generate(Generate),
    /// Create, test, compare and package policies.
    Policy(Policy),
    /// Replay recorded policy decisions and verify that every answer is the same, byte for byte.
    Replay(Replay),
    /// Compile a module for the process that started this one.
    #[command(hide = true)]
    CompileModule,
    /// Print the JSON Schema of a command's JSON and YAML output; without a command, list those that have one. `schema crds` prints the CustomResourceDefinitions.
    Schema {
        /// The command, such as `plan` or `policy test`; or `crds`, `crds aws` or `crds kwok`.
        command: Vec<String>,
    },
    /// Print a shell completion script.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual, one page per command.
    Man {
        /// The folder to write to; created if absent.
        folder: PathBuf,
    },
    /// Run the controller: launch nodes for pending pods, and disrupt nodes that are expired, empty, drifted or underutilized.
    #[cfg(feature = "live")]
    Run(Box<Run>),
}

/// The form of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text in columns, for people.
    #[default]
    Table,
    /// One JSON document; `plimsoll schema` prints its schema.
    Json,
    /// The same document as YAML.
    Yaml,
}

/// How a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// One v1 List.
    Json,
    /// One document per object.
    Yaml,
}

/// Flags about packing.
#[derive(Debug, Args)]
pub(crate) struct Deciding {
    /// Packing strategy of every NodePool; overrides their annotations and the file's settings.
    #[arg(long, value_enum)]
    pub(crate) packing: Option<Packing>,
    /// Lift the guards: large, burstable, previous-generation and bare-metal instance types, spot capacity that no NodePool asks for, and replicas on one node are allowed.
    #[arg(long)]
    pub(crate) no_guards: bool,
    /// Skip the search for a cheaper fleet and take the first plan: faster, and slightly more expensive.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// How pods are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Packing {
    /// The cheapest fleet that holds the pods.
    Price,
    /// First fit in Karpenter's order.
    Compatible,
}

/// Flags of commands that make one plan.
#[derive(Debug, Args)]
pub(crate) struct Planning {
    /// Ranking policy: rank= and the name of a shipped policy, a .wasm file, or a crate's folder (built first); settings follow as ,KEY=VALUE.
    #[arg(
        long,
        value_name = "rank=NAME|FILE|FOLDER[,KEY=VALUE]",
        default_value = "rank=list-price"
    )]
    pub(crate) policy: String,
    #[command(flatten)]
    pub(crate) deciding: Deciding,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Snapshot file: the output of `kubectl get nodes,pods,nodepools,... -A -o json`, as JSON or YAML, plain or compressed with zstd; - for standard input.
    pub(crate) snapshot: PathBuf,
    #[command(flatten)]
    pub(crate) planning: Planning,
    /// Verify the plan with an independent checker; exit code 1 if it finds a violation.
    #[arg(long)]
    pub(crate) check: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
    /// Print the time of each step and the peak memory to standard error.
    #[arg(long)]
    pub(crate) timings: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// Snapshot, recording, or the CSV of a published trace; - for standard input.
    pub(crate) input: PathBuf,
    /// Policy of the first column: rank=, consolidate= or budget= and the name of a shipped policy, a .wasm file, or a crate's folder (built first);
    /// settings follow as ,KEY=VALUE. Repeat the flag for other hooks and for further budgets. Two strategies stand alone: compatible (Karpenter's
    /// packing) and fixed:TYPE (a node group of one instance type).
    #[arg(long, value_name = "SPEC", default_value = "rank=list-price")]
    pub(crate) policy: Vec<String>,
    /// Policies of a further column, joined by +; hooks that are not named keep the policy of the first column. Or compatible, or fixed:TYPE.
    #[arg(long, value_name = "SPEC[+SPEC]")]
    pub(crate) compare: Vec<String>,
    /// A further column: the policy of the first with a rule changed, to see what the rule costs: guards=off or one guard (replicas-per-node=off),
    /// budgets=100%, consolidateAfter=0s, consolidationPolicy=WhenEmptyOrUnderutilized, pdbs=off, do-not-disrupt=off, least-saving=off, lost-work=off.
    /// Several joined by + change together; repeat the flag for further columns.
    #[arg(long, value_name = "RULE=VALUE[+RULE=VALUE]")]
    pub(crate) what_if: Vec<String>,
    #[command(flatten)]
    pub(crate) deciding: Deciding,
    /// Seed of the simulation's random numbers.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
    /// Write an HTML report with charts to this file.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write the report's chart of costs to this file, as a picture.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) picture: Option<PathBuf>,
    /// Record every question to the modules of --policy with its answer, for `plimsoll replay`; a file named .zst is compressed.
    #[arg(long, value_name = "FILE")]
    pub(crate) records: Option<PathBuf>,
    /// Simulations that run in parallel; one per processor by default. The results are the same for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Print the time of each simulation to standard error.
    #[arg(long)]
    pub(crate) timings: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Records written by `simulate --records` or `run --records`, plain or compressed with zstd.
    pub(crate) records: PathBuf,
    /// A module that is not shipped with plimsoll: a .wasm file, or a crate's folder (built first). Settings are taken from the records.
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) policy: Vec<String>,
    /// The input of the recorded simulation; simulates it again and compares plans and disruption decisions too.
    #[arg(long, value_name = "INPUT")]
    pub(crate) on: Option<PathBuf>,
    /// Decisions replayed in parallel; one per processor by default. The result is the same for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// The kind of object to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// A pod, by namespace/name, or by name where that is unique.
    Pod,
    /// A node, by its name: what it is and carries, and whether it is disrupted now, or why not.
    Node,
    /// A NodeClaim of the cluster by its name, or one of the plan by its name or its number in the plan, from 0.
    #[value(name = "nodeclaim")]
    Claim,
    /// A NodePool, by its name: what it may buy, has bought, and lets be disrupted.
    #[value(name = "nodepool")]
    Pool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The kind of object.
    #[arg(value_enum)]
    pub(crate) subject: Subject,
    /// The name of the object.
    pub(crate) name: String,
    /// The snapshot file; the cluster itself without one.
    #[cfg(feature = "live")]
    pub(crate) snapshot: Option<PathBuf>,
    /// The snapshot file.
    #[cfg(not(feature = "live"))]
    pub(crate) snapshot: PathBuf,
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub(crate) access: Access,
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub(crate) sold: Sold,
    /// Policy: rank=, consolidate= or budget= and the name of a shipped policy, a .wasm file, or a crate's folder (built first); settings
    /// follow as ,KEY=VALUE. Repeat the flag for other hooks and for further budgets. By default rank=list-price; of a cluster, the Policy
    /// objects that serve there.
    #[arg(long, value_name = "SPEC")]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) deciding: Deciding,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Catalogue {
    /// Show this instance type in full.
    pub(crate) instance_type: Option<String>,
    /// EC2 region whose instance types and list prices are shown.
    #[arg(long, default_value = "us-east-1")]
    pub(crate) region: String,
    /// Show the catalogue of a snapshot file instead, with the capacity that the EC2NodeClass of its NodePools leaves to pods.
    #[arg(long, value_name = "FILE", conflicts_with = "region")]
    pub(crate) from: Option<PathBuf>,
    /// The EC2NodeClass meant, where NodePools of the file have different ones.
    #[arg(long, value_name = "NAME", requires = "from")]
    pub(crate) class: Option<String>,
    /// Only offerings that meet this requirement, such as "karpenter.k8s.aws/instance-category In c,m" or "instance-cpu Gt 8"; repeat to add more.
    #[arg(long = "where", value_name = "KEY OPERATOR VALUES")]
    pub(crate) requirements: Vec<String>,
    /// Output format.
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
    /// Count the objects in a file.
    Show {
        /// The file.
        file: PathBuf,
        /// Output format.
        #[arg(short, long, value_enum, default_value_t)]
        output: Format,
    },
    /// Record the cluster: what decisions read of its objects, for `plan`, `explain` and `simulate`. Needs the right to list them, and changes nothing in the cluster.
    #[cfg(feature = "live")]
    Record {
        #[command(flatten)]
        access: Access,
        #[command(flatten)]
        sold: Sold,
        /// Keep names of workloads, pods, namespaces, volumes and nodes, and annotations that no decision reads. Labels are kept in any case, since
        /// decisions depend on them; images, commands and environment are never recorded.
        #[arg(long)]
        names: bool,
        /// File to write; - for standard output. A file named .zst is compressed, one named .yaml is YAML.
        #[arg(short = 'O', long, default_value = "cluster.snapshot.zst")]
        to: PathBuf,
    },
    /// Validate a file: fails on objects that an API server would refuse, settings that a controller would ignore, and unknown fields.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Convert between JSON and YAML, drop fields that no decision reads, or turn a trace into a recording.
    Convert {
        /// The output of kubectl, a snapshot, a recording, or the CSV of a published trace.
        file: PathBuf,
        /// File to write; - for standard output. A file named .zst is compressed.
        #[arg(short = 'O', long, default_value = "-")]
        to: PathBuf,
        /// Output format; by default that of the file's name, else JSON.
        #[arg(short, long, value_enum)]
        output: Option<TextFormat>,
        /// Write every instance type into the file instead of the name of the region.
        #[arg(long)]
        inline: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// File to write; - for standard output.
    #[arg(short = 'O', long, default_value = "-")]
    pub(crate) to: PathBuf,
    /// Load, as a multiple of the trace's.
    #[arg(long, default_value_t = 100)]
    pub(crate) scale: u32,
    /// Number of services beside the tasks: Deployments whose replicas follow a load.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) services: u32,
    /// Hours of pod arrivals, at most a year.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(..=8784))]
    pub(crate) hours: u32,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Include tasks that request accelerators.
    #[arg(long)]
    pub(crate) accelerators: bool,
    /// EC2 region of the catalogue.
    #[arg(long, default_value = "us-east-1")]
    pub(crate) region: String,
}

/// The cluster that is spoken to.
#[cfg(feature = "live")]
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Access {
    /// Kubeconfig file; by default the one that kubectl would use.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long)]
    pub(crate) context: Option<String>,
}

/// Instance types that a cluster's pools may buy.
#[cfg(feature = "live")]
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Sold {
    /// EC2 region whose instance types the NodePools of an EC2NodeClass may buy; by default the region of the nodes' labels, else AWS_REGION, else
    /// AWS_DEFAULT_REGION.
    #[arg(long)]
    pub(crate) region: Option<String>,
    /// JSON file with the instance types that the NodePools of a KWOKNodeClass may buy; by default a generic list. Environment:
    /// INSTANCE_TYPES_FILE_PATH.
    #[arg(long, value_name = "FILE")]
    pub(crate) instance_types_file_path: Option<PathBuf>,
}

/// The cloud provider.
#[cfg(feature = "live")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Provider {
    /// Instances of EC2.
    #[cfg(feature = "aws")]
    Aws,
    /// Fake nodes, kept Ready by KWOK.
    Kwok,
}

#[cfg(feature = "live")]
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The cloud provider.
    #[arg(long, value_enum)]
    pub(crate) provider: Provider,
    #[command(flatten)]
    pub(crate) access: Access,
    /// Not taken here: policies of a cluster are Policy objects.
    #[arg(long, value_name = "SPEC", hide = true)]
    pub(crate) policy: Vec<String>,
    /// Accept policy modules of up to 32 MiB instead of 1 MiB, such as those written in JavaScript; compiling one takes many seconds and hundreds of MiB.
    #[arg(long)]
    pub(crate) large_modules: bool,
    /// Memory limit of all policy calls together, such as 512Mi; by default a quarter of the process's memory limit, or 1Gi without one. A call that
    /// cannot get memory within a moment counts as failed.
    #[arg(long, value_name = "QUANTITY")]
    pub(crate) policy_memory: Option<String>,
    /// JSON file with the provider's instance types; by default a generic list. Environment: INSTANCE_TYPES_FILE_PATH.
    #[arg(long, value_name = "FILE")]
    pub(crate) instance_types_file_path: Option<PathBuf>,
    /// JSON file with faults of instances, for tests and demonstrations: stock by type and zone, launches that fail, slow and lost answers,
    /// slow boots, instances that end by themselves.
    #[arg(long, value_name = "FILE")]
    pub(crate) fault_plan: Option<PathBuf>,
    #[cfg(feature = "aws")]
    #[command(flatten)]
    pub(crate) aws: Aws,
    #[command(flatten)]
    pub(crate) decisions: Decisions,
    #[command(flatten)]
    pub(crate) leader_election: LeaderElection,
    #[command(flatten)]
    pub(crate) process: Process,
    #[command(flatten)]
    pub(crate) logging: Logging,
    /// Seed of random numbers.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Record every input and action of the controller to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Record every question to a policy with its answer to this file, for `plimsoll replay`.
    #[arg(long, value_name = "FILE")]
    pub(crate) records: Option<PathBuf>,
}

/// Settings of decisions, under Karpenter's names.
#[cfg(feature = "live")]
#[derive(Debug, Default, Args)]
pub(crate) struct Decisions {
    /// A batch of pending pods closes after this long without a new one, 1s by default. Environment: BATCH_IDLE_DURATION.
    #[arg(long, value_name = "DURATION")]
    pub(crate) batch_idle_duration: Option<String>,
    /// A batch of pending pods closes after this long at the latest, 10s by default. Environment: BATCH_MAX_DURATION.
    #[arg(long, value_name = "DURATION")]
    pub(crate) batch_max_duration: Option<String>,
    /// Feature gates: CapacityBuffer, NodeOverlay, NodeRepair, SpotToSpotConsolidation and StaticCapacity are off by default,
    /// ReservedCapacity is on. Environment: FEATURE_GATES.
    #[arg(long, value_name = "NAME=BOOL,...")]
    pub(crate) feature_gates: Option<String>,
    /// Respect or Ignore preferences of pods; Respect by default. Environment: PREFERENCE_POLICY.
    #[arg(long, value_name = "POLICY")]
    pub(crate) preference_policy: Option<String>,
    /// Strict or BestEffort minValues of requirements; Strict by default. Environment: MIN_VALUES_POLICY.
    #[arg(long, value_name = "POLICY")]
    pub(crate) min_values_policy: Option<String>,
    /// Default spread of the cluster's scheduler, as YAML or JSON: podTopologySpread.defaultConstraints. Environment: SCHEDULER_CONFIG.
    #[arg(long, value_name = "YAML")]
    pub(crate) scheduler_config: Option<String>,
    /// Repair nodes as Karpenter's legacy controller does, at once and past budgets, which is all that is served: false stops the start
    /// while the gate NodeRepair is open. Environment: LEGACY_NODE_REPAIR.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) legacy_node_repair: Option<bool>,
    /// Plan pods with device claims as if they had none; only true is served. Environment: IGNORE_DRA_REQUESTS.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) ignore_dra_requests: Option<bool>,
}
