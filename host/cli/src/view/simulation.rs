//! A comparison of simulations as a document.

use std::collections::BTreeMap;

use plimsoll_base::time::Span;
use plimsoll_sim::{FaultWords, Fidelity, FreshPrice, NodeHours, ScoreCard, StepCost};
use plimsoll_snapshot::section::Duration;
use schemars::JsonSchema;
use serde::Serialize;

use super::disruption::Disruption;
use super::losses::LossShares;
use super::usage::Usage;
use super::{Document, Dollars, Instant, Name, Percent, duration, instant, percent, thousandths};

/// Output of `plimsoll simulate`: one input under several policies.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Simulation {
    /// SHA-256 of the input's bytes.
    pub(crate) input_sha256: String,
    /// Seed of the random numbers.
    pub(crate) seed: u64,
    /// True if any spot price comes from a model, since the input quotes none.
    pub(crate) spot_prices_are_modelled: bool,
    /// One run per column, in the order of the flags.
    pub(crate) runs: Vec<Run>,
}

impl Document for Simulation {}

/// The run of one strategy.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    /// Its policies, joined by ` + `.
    policy: String,
    /// Start of the simulated time.
    start: Instant,
    /// Length of the simulated time.
    duration: Duration,
    /// Cost of the instances.
    cost: Cost,
    /// Numbers of nodes.
    nodes: Nodes,
    /// Numbers of pods.
    pods: Pods,
    /// Time from creation to binding, over the pods that were bound.
    pending: Pending,
    /// Numbers of planned pods by where and when they were bound.
    plan_fidelity: PlanFidelity,
    /// Disruption commands carried out and refused, with their savings.
    disruption: Disruption,
    /// Shares of the pods that one loss would have taken, at samples of the run.
    losses: LossShares,
    /// Pods that stayed unschedulable: the first hundred, by namespace and name.
    unschedulable_pods: Vec<Unschedulable>,
    /// Node-hours by instance type and capacity type.
    node_hours: Vec<TypeHours>,
    /// Failures of policy modules.
    policy_faults: Faults,
    /// Requests beside use; absent where the input states no use.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    /// Averages over consecutive intervals.
    series: Averages,
}

/// Dollars over the whole run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cost {
    /// All instances, in dollars.
    dollars: Dollars,
    /// The mean per hour.
    dollars_per_hour: Dollars,
    /// For instances from their launch until pods could run on them.
    starting_dollars: Dollars,
    /// For nodes that ran nothing but DaemonSet pods, or were terminating.
    idle_dollars: Dollars,
    /// The linear-programming lower bound at list prices; absent where it was not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    lp_bound_dollars: Option<Dollars>,
    /// The cost from the lower bound up, step by step, negative where a step saved; they add up to `dollars`. Absent where the bound
    /// was not computed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<CostStep>,
    /// Prices of a fresh plan: the fleet that would be bought from nothing for the pods that ran, at samples of the run. Absent where the bound was
    /// not computed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fresh_plans: Vec<FreshPlan>,
}

/// The price of a fresh plan at an instant.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FreshPlan {
    /// The instant.
    time: Instant,
    /// Dollars per hour of a fleet bought from nothing within the guards.
    price_per_hour: Dollars,
}

/// A part of the cost.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CostStep {
    /// The step in words, such as `fresh plan without guards` or `nodes kept: consolidateAfter`.
    step: String,
    /// Dollars.
    dollars: Dollars,
}

/// Numbers of nodes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Nodes {
    /// On average over time.
    mean: f64,
    /// At most.
    max: u32,
    /// Launches of instances.
    launches: u32,
    /// Launches that failed, for want of capacity or otherwise.
    failed_launches: u32,
    /// Instances that the cloud reclaimed.
    interruptions: u32,
    /// Requests of pods as a share of the nodes' allocatable cpu, averaged over time.
    requested_cpu_percent: Percent,
    /// The same of memory.
    requested_memory_percent: Percent,
}

/// Numbers of pods.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Pods {
    /// Created, replacements of evicted pods included; DaemonSet pods are not counted.
    created: u32,
    /// Completed by themselves.
    completed: u32,
    /// Evicted.
    evicted: u32,
    /// Unschedulable at the end.
    unschedulable: u32,
    /// Time from the end of an evicted pod until its replacement was bound, summed over pods.
    disrupted_for: Duration,
}

/// Percentiles of a time.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Pending {
    /// Half of the pods were bound within this time.
    p50: Duration,
    /// Nine in ten.
    p90: Duration,
    /// Ninety-nine in a hundred.
    p99: Duration,
    /// All.
    max: Duration,
    /// Percentiles 0 to 100; empty where no pod was bound.
    percentiles: Vec<Duration>,
}

/// Planned pods by why they needed a place.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PlanFidelity {
    /// Pods that were pending until a node was launched for them.
    pending_pods: Bindings,
    /// Pods that replaced evicted ones.
    evicted_pods: Bindings,
}

/// Bindings of planned pods. Pods of one owner and template count as one another.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Bindings {
    /// All of them.
    bound: u32,
    /// To a node that they were planned for.
    as_planned: u32,
    /// To another node, before a node that they were planned for was ready.
    sooner: u32,
    /// To another node, although a node that they were planned for was ready.
    elsewhere: u32,
}

/// A pod that stayed unschedulable.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Unschedulable {
    /// The pod.
    pod: Name,
    /// The reason that the last plan gave.
    message: String,
}

/// Node-hours of one instance type and capacity type.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TypeHours {
    /// The instance type.
    instance_type: String,
    /// `on-demand`, `spot` or `reserved`.
    capacity_type: String,
    /// Hours.
    hours: f64,
    /// Their cost.
    dollars: Dollars,
}

/// Failures of policy modules.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Faults {
    /// All of them.
    count: u64,
    /// The first ten different ones, with their numbers.
    messages: Vec<Fault>,
}

/// A failure of a policy module.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Fault {
    /// The failure, and the fallback in its place.
    message: String,
    /// How often.
    count: u64,
}

/// Averages over consecutive intervals of one length.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Averages {
    /// Start of the first interval.
    start: Instant,
    /// Length of each interval.
    interval: Duration,
    /// Dollars per hour.
    dollars_per_hour: Vec<Dollars>,
    /// The linear-programming lower bound, in dollars per hour; absent where it was not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    lp_bound_dollars_per_hour: Option<Vec<Dollars>>,
    /// Pending pods.
    pending_pods: Vec<f64>,
    /// Share of the allocatable cpu that was requested.
    requested_cpu_percent: Vec<Percent>,
    /// The same of memory.
    requested_memory_percent: Vec<Percent>,
    /// Nodes by instance type.
    nodes: BTreeMap<String, Vec<f64>>,
}

impl Run {
    /// The run of a strategy with this score card.
    pub(crate) fn of(policy: &str, card: &ScoreCard) -> Self {
        Self {
            policy: policy.to_owned(),
            start: instant(card.start),
            duration: duration(card.lasted),
            cost: Cost::of(card),
            nodes: Nodes::of(card),
            pods: Pods::of(card),
            pending: Pending::of(card),
            plan_fidelity: PlanFidelity {
                pending_pods: Bindings::of(card.pending_pods),
                evicted_pods: Bindings::of(card.evicted_pods),
            },
            disruption: Disruption::of(card),
            losses: LossShares::of(card.losses),
            unschedulable_pods: card.unplaced.iter().map(Unschedulable::of).collect(),
            node_hours: card.node_hours.iter().map(TypeHours::of).collect(),
            policy_faults: Faults {
                count: card.faults,
                messages: card.fault_words.iter().map(Fault::of).collect(),
            },
            usage: card.usage.as_ref().map(Usage::of),
            series: Averages::of(card),
        }
    }
}

impl Cost {
    fn of(card: &ScoreCard) -> Self {
        Self {
            dollars: Dollars::from_nanos(card.cost),
            dollars_per_hour: Dollars::from_nanos(card.cost_per_hour()),
            starting_dollars: Dollars::from_nanos(card.cost_starting),
            idle_dollars: Dollars::from_nanos(card.cost_idle),
            lp_bound_dollars: card.bound.map(Dollars::from_nanos),
            steps: card.ladder.iter().map(CostStep::of).collect(),
            fresh_plans: card.fresh.iter().map(FreshPlan::of).collect(),
        }
    }
}

impl CostStep {
    fn of(entry: &StepCost) -> Self {
        Self {
            step: entry.step.to_string(),
            dollars: Dollars::from_nanos(entry.cost),
        }
    }
}

impl FreshPlan {
    fn of(fresh: &FreshPrice) -> Self {
        Self {
            time: instant(fresh.at),
            price_per_hour: Dollars::from_nanos(fresh.price),
        }
    }
}

impl Nodes {
    fn of(card: &ScoreCard) -> Self {
        Self {
            mean: thousandths(card.nodes_mean),
            max: card.nodes_max,
            launches: card.launches,
            failed_launches: card.launch_failures,
            interruptions: card.interruptions,
            requested_cpu_percent: percent(card.cpu_used),
            requested_memory_percent: percent(card.memory_used),
        }
    }
}

impl Pods {
    fn of(card: &ScoreCard) -> Self {
        Self {
            created: card.pods,
            completed: card.completed,
            evicted: card.evictions,
            unschedulable: card.unplaced_count,
            disrupted_for: duration(card.disrupted),
        }
    }
}

impl Pending {
    fn of(card: &ScoreCard) -> Self {
        let waiting = &card.waiting;
        let all = |spans: &[Span]| spans.iter().copied().map(duration).collect();
        Self {
            p50: duration(waiting.p50),
            p90: duration(waiting.p90),
            p99: duration(waiting.p99),
            max: duration(waiting.max),
            percentiles: all(&waiting.hundredths),
        }
    }
}

impl Bindings {
    fn of(fidelity: Fidelity) -> Self {
        Self {
            bound: fidelity.bound,
            as_planned: fidelity.as_planned,
            sooner: fidelity.sooner,
            elsewhere: fidelity.elsewhere(),
        }
    }
}

impl Unschedulable {
    fn of(unplaced: &plimsoll_sim::Unplaced) -> Self {
        let (namespace, name) = unplaced.pod.split_once('/').unwrap_or(("", &unplaced.pod));
        Self {
            pod: Name {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
            message: unplaced.reason.clone(),
        }
    }
}

impl TypeHours {
    fn of(row: &NodeHours) -> Self {
        Self {
            instance_type: row.instance_type.to_string(),
            capacity_type: row.capacity_type.to_string(),
            hours: thousandths(row.thousandths),
            dollars: Dollars::from_nanos(row.cost),
        }
    }
}

impl Fault {
    fn of(fault: &FaultWords) -> Self {
        Self {
            message: fault.words.clone(),
            count: fault.times,
        }
    }
}

impl Averages {
    fn of(card: &ScoreCard) -> Self {
        let series = &card.series;
        let dollars = |rates: &[i64]| rates.iter().copied().map(Dollars::from_nanos).collect();
        let percents = |shares: &[i64]| shares.iter().copied().map(percent).collect();
        let numbers = |counts: &[i64]| counts.iter().copied().map(thousandths).collect();
        let nodes = series.means.nodes.iter();
        Self {
            start: instant(series.start),
            interval: duration(series.width),
            dollars_per_hour: dollars(&series.means.cost),
            lp_bound_dollars_per_hour: card.bound.map(|_| dollars(&series.means.bound)),
            pending_pods: numbers(&series.means.pending),
            requested_cpu_percent: percents(&series.means.cpu_used),
            requested_memory_percent: percents(&series.means.memory_used),
            nodes: nodes
                .map(|(name, counts)| (name.to_string(), numbers(counts)))
                .collect(),
        }
    }
}
