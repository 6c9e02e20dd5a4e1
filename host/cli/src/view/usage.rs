//! Requests beside use, as documents write them.

use std::collections::BTreeMap;

use plimsoll_base::resources::ResourceName;
use plimsoll_sim::{BusySpan, Inflated, UsageCard};
use plimsoll_snapshot::section::Duration;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Instant, Percent, duration, instant, share_of, thousandths};

/// Requests beside use, over the pods whose use the input states.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    /// Core-hours requested.
    requested_core_hours: f64,
    /// Core-hours used.
    used_core_hours: f64,
    /// GiB-hours of memory requested.
    requested_gib_hours: f64,
    /// GiB-hours of memory used.
    used_gib_hours: f64,
    /// Share of the requested cpu that was used; absent where none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    used_cpu_percent: Option<Percent>,
    /// The same of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    used_memory_percent: Option<Percent>,
    /// Workloads that request more than twice their use, those that waste most first.
    overrequested: Vec<Overrequested>,
    /// Time in which some node used over 80 % of its cpu while no pod was pending.
    busy_for: Duration,
    /// Number of such periods.
    busy_count: u32,
    /// The first hundred of them.
    busy: Vec<Busy>,
}

/// A workload that requests more than twice its use: means per pod.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Overrequested {
    /// Namespace and name.
    workload: String,
    /// Requests.
    requests: BTreeMap<String, String>,
    /// Use.
    used: BTreeMap<String, String>,
}

/// A period with busy nodes and no pending pods.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Busy {
    /// Its start.
    start: Instant,
    /// Its end.
    end: Instant,
    /// Most busy nodes at once.
    nodes: u32,
}

impl Usage {
    /// Use of a score card, in the units of the document.
    pub(crate) fn of(usage: &UsageCard) -> Self {
        let share = |used: i64, requested: i64| {
            share_of(u64::try_from(used).ok()?, u64::try_from(requested).ok()?)
        };
        let gib = |mib: i64| mib as f64 / 1024.0;
        Self {
            requested_core_hours: thousandths(usage.hours.cpu_requested),
            used_core_hours: thousandths(usage.hours.cpu_used),
            requested_gib_hours: gib(usage.hours.memory_requested),
            used_gib_hours: gib(usage.hours.memory_used),
            used_cpu_percent: share(usage.hours.cpu_used, usage.hours.cpu_requested),
            used_memory_percent: share(usage.hours.memory_used, usage.hours.memory_requested),
            overrequested: usage.inflated.iter().map(Overrequested::of).collect(),
            busy_for: duration(usage.busy_for),
            busy_count: usage.busy_count,
            busy: usage.busy.iter().map(Busy::of).collect(),
        }
    }
}

impl Overrequested {
    fn of(inflated: &Inflated) -> Self {
        let amounts = |cpu: i64, memory: i64| {
            let amounts = [(ResourceName::Cpu, cpu), (ResourceName::Memory, memory)];
            let written = amounts.into_iter().map(|(name, amount)| {
                (
                    name.to_string(),
                    plimsoll_api::write::quantity(&name, amount),
                )
            });
            written.collect()
        };
        Self {
            workload: inflated.workload.clone(),
            requests: amounts(
                inflated.of_pod.cpu_requested,
                inflated.of_pod.memory_requested,
            ),
            used: amounts(inflated.of_pod.cpu_used, inflated.of_pod.memory_used),
        }
    }
}

impl Busy {
    fn of(busy: &BusySpan) -> Self {
        Self {
            start: instant(busy.from),
            end: instant(busy.to),
            nodes: busy.nodes,
        }
    }
}
