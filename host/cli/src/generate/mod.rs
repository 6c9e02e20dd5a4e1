//! A seeded recording that looks like production work: request shapes, arrivals by hour and lifetimes are drawn from the
//! statistics of a published trace, at a multiple of its load; beside them services follow their load. None of the trace's
//! rows is in it.

mod services;
mod statistics;

use plimsoll_sim::Random;
use serde_json::{Value, json};

pub(crate) use statistics::Statistics;

/// Size and kind of the recording to generate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// How many times the trace's own load.
    pub(crate) scale: u32,
    /// Services that run beside the tasks.
    pub(crate) services: u32,
    /// Hours of arrivals.
    pub(crate) hours: u32,
    /// Seed of all draws.
    pub(crate) seed: u64,
    /// Tasks with accelerators too.
    pub(crate) accelerators: bool,
    /// Region whose instances can be bought.
    pub(crate) region: &'a str,
}

/// Days that the trace covers; its arrivals by hour are sums over them.
const TRACE_DAYS: u64 = 150;
const HOUR_MILLIS: u64 = 3_600_000;
/// Midnight before the first arrival.
const START: &str = "2026-01-05T00:00:00Z";

/// The recording, as a document that every command reads.
pub(crate) fn recording(statistics: &Statistics, wanted: Wanted<'_>) -> Value {
    let random = Random::new(wanted.seed);
    let mut tasks: Vec<(u64, Value)> = Vec::new();
    for hour in 0..wanted.hours {
        let expected = statistics.arrivals(hour % 24) * u64::from(wanted.scale);
        for _ in 0..drawn_count(expected, hour, random) {
            let number = tasks.len();
            let at = u64::from(hour) * HOUR_MILLIS + random.below("arrival", number, HOUR_MILLIS);
            let shape = statistics.shape(wanted.accelerators, number, random);
            let lifetime = statistics.lifetime(shape.gpus > 0, number, random);
            tasks.push((at, arrival(number, at, shape, lifetime)));
        }
    }
    let mut changes = services::changes(statistics, wanted.services, wanted.hours, random);
    changes.extend(tasks);
    changes.sort_by_key(|(at, _)| *at);
    json!({
        "apiVersion": "v1",
        "kind": "List",
        "items": [services_pool(), tasks_pool()],
        "plimsoll": {
            "time": START,
            "seed": wanted.seed,
            "catalogue": { "region": wanted.region },
            "changes": changes.into_iter().map(|(_, change)| change).collect::<Vec<_>>(),
        },
    })
}

/// A whole number whose mean over hours is `sum` over the trace's days.
fn drawn_count(sum: u64, hour: u32, random: Random) -> u64 {
    sum / TRACE_DAYS + u64::from(random.below("arrivals", hour, TRACE_DAYS) < sum % TRACE_DAYS)
}

/// Where services run: on demand, packed together again when their load falls.
fn services_pool() -> Value {
    let mut pool = pool("services", &["on-demand"]);
    pool["spec"]["disruption"] =
        json!({ "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "2m" });
    pool
}

/// Where tasks run: on spot where that is cheaper, on nodes of their own; none is moved, since its work would be lost.
fn tasks_pool() -> Value {
    let mut pool = pool("tasks", &["on-demand", "spot"]);
    pool["spec"]["disruption"] =
        json!({ "consolidationPolicy": "WhenEmpty", "consolidateAfter": "1m" });
    let template = &mut pool["spec"]["template"];
    template["metadata"] = json!({ "labels": { "work": "tasks" } });
    template["spec"]["taints"] =
        json!([{ "key": "work", "value": "tasks", "effect": "NoSchedule" }]);
    pool
}

/// A pool of current instances of the common categories.
fn pool(name: &str, capacity_types: &[&str]) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": { "name": name },
        "spec": {
            "template": { "spec": {
                "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default" },
                "requirements": [
                    { "key": "karpenter.sh/capacity-type", "operator": "In", "values": capacity_types },
                    { "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"] },
                    { "key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["c", "m", "r", "g"] },
                    { "key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["4"] },
                ],
            } },
        },
        "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
    })
}

/// A time after the start, as changes name it.
fn after(millis: u64) -> String {
    format!("+{}.{:03}s", millis / 1000, millis % 1000)
}

fn arrival(number: usize, at: u64, shape: &statistics::Shape, lifetime: u64) -> Value {
    let mut requests = json!({
        "cpu": format!("{}m", shape.cpu_milli),
        "memory": format!("{}Mi", shape.memory_mib),
    });
    if shape.gpus > 0 {
        requests["nvidia.com/gpu"] = json!(shape.gpus.to_string());
    }
    let name = format!("task-{number:06}");
    json!({
        "at": after(at),
        "runsFor": format!("{lifetime}s"),
        "upsert": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name, "namespace": "batch", "uid": name,
                "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": format!("job-{name}"), "controller": true }],
            },
            "spec": {
                "nodeSelector": { "work": "tasks" },
                "tolerations": [{ "key": "work", "operator": "Equal", "value": "tasks", "effect": "NoSchedule" }],
                "containers": [{ "name": "task", "resources": { "requests": requests } }],
            },
        },
    })
}
