//! Services beside the tasks: deployments whose replicas follow their load.
//!
//! The trace knows no services. Their pods ask what its tasks without accelerators ask; everything else is assumed: a peak
//! of 2 to 24 replicas, and a load that is drawn anew every half hour between three tenths of the peak and the whole.

use plimsoll_sim::Random;
use serde_json::{Value, json};

use super::statistics::Statistics;

/// Load that one replica carries.
const TARGET: u64 = 100;
const FEWEST_AT_PEAK: u64 = 2;
const MOST_AT_PEAK: u64 = 24;
/// Least load in percent of the peak.
const LEAST_PERCENT: u64 = 30;
/// How often the load is drawn anew.
const STEP_MINUTES: u32 = 30;
const MINUTE_MILLIS: u64 = 60_000;

/// The changes that so many services make, with their times in milliseconds.
pub(super) fn changes(
    statistics: &Statistics,
    services: u32,
    hours: u32,
    random: Random,
) -> Vec<(u64, Value)> {
    let mut changes = Vec::new();
    for service in 0..services {
        let name = format!("service-{service:04}");
        let draw = random.below("peak", service, MOST_AT_PEAK - FEWEST_AT_PEAK + 1);
        let peak = FEWEST_AT_PEAK + draw;
        let load = |step: u32| {
            let percent =
                LEAST_PERCENT + random.below("load", (service, step), 100 - LEAST_PERCENT + 1);
            peak * TARGET * percent / 100
        };
        changes.push((
            0,
            deployment(statistics, service, &name, peak, load(0), random),
        ));
        for step in 0..hours * 60 / STEP_MINUTES {
            // Not all at the same moment.
            let within = random.below("moment", (service, step), 5 * MINUTE_MILLIS);
            let at = u64::from(step * STEP_MINUTES) * MINUTE_MILLIS + within;
            let amount = json!({ "namespace": "shop", "name": name, "amount": load(step) });
            changes.push((at, json!({ "at": super::after(at), "load": amount })));
        }
    }
    changes
}

fn deployment(
    statistics: &Statistics,
    service: u32,
    name: &str,
    peak: u64,
    load: u64,
    random: Random,
) -> Value {
    let shape = statistics.shape(false, service as usize, random);
    let requests = json!({
        "cpu": format!("{}m", shape.cpu_milli),
        "memory": format!("{}Mi", shape.memory_mib),
    });
    json!({
        "at": "+0s",
        "deploy": {
            "namespace": "shop",
            "name": name,
            "replicas": load.div_ceil(TARGET).max(1),
            "follows": { "target": TARGET, "least": 1, "most": peak },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "serve", "resources": { "requests": requests } }] },
            },
        },
    })
}
