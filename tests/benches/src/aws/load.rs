//! Figures of a script about many nodes, and the bars that ours has to keep beside Karpenter.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use plimsoll_cloud::Call;
use serde::{Deserialize, Serialize};

/// The operation that must never be throttled with ours: an instance that stays costs until it is gone.
const TERMINATE: &str = "TerminateInstances";
/// Codes with which services refuse calls as too many.
const THROTTLED: [&str; 3] = ["RequestLimitExceeded", "Throttling", "ThrottlingException"];

/// Figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Seconds from the first pods until all of them ran.
    pub running: f64,
    /// Seconds from when pods began to go until no claim, node or instance was left.
    pub gone: f64,
    /// Nodes when it was settled.
    pub nodes: usize,
    /// Calls of TerminateInstances.
    pub terminations: usize,
    /// Calls that were refused as too many, by operation.
    pub throttled: BTreeMap<String, usize>,
    /// The controller's processor time until all pods ran, in seconds.
    pub processor: f64,
    /// The controller's most resident memory, in MiB.
    pub memory: f64,
}

/// Moments of a run; `None` for those that have not come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    /// All pods ran.
    pub(super) running: Option<SystemTime>,
    /// Pods began to go.
    pub(super) shrunk: Option<SystemTime>,
    /// Nothing was left.
    pub(super) gone: Option<SystemTime>,
}

impl Load {
    /// The figures that calls and moments tell; the others are zero.
    pub(super) fn of(calls: &[Call], began: Option<SystemTime>, moments: Moments) -> Self {
        let is_throttled = |call: &&Call| {
            let code = call.error.as_deref().unwrap_or_default();
            THROTTLED.contains(&code)
        };
        let mut throttled = BTreeMap::new();
        for call in calls.iter().filter(is_throttled) {
            *throttled.entry(call.operation.clone()).or_default() += 1;
        }
        let ends = calls.iter().filter(|call| call.operation == TERMINATE);
        Self {
            running: seconds(began, moments.running),
            gone: seconds(moments.shrunk, moments.gone),
            terminations: ends.count(),
            throttled,
            ..Self::default()
        }
    }

    fn throttled(&self, operation: &str) -> usize {
        self.throttled.get(operation).copied().unwrap_or(0)
    }
}

fn seconds(from: Option<SystemTime>, to: Option<SystemTime>) -> f64 {
    let passed = from
        .zip(to)
        .and_then(|(from, to)| to.duration_since(from).ok());
    passed.unwrap_or_default().as_secs_f64()
}

/// Bars that ours has missed, in words.
pub(super) fn missed(theirs: &Load, ours: &Load) -> Vec<String> {
    let mut missed = Vec::new();
    if ours.running > theirs.running {
        missed.push("all pods run later than with Karpenter".to_owned());
    }
    let throttled = ours.throttled(TERMINATE);
    if throttled > 0 {
        missed.push(format!("{throttled} calls of {TERMINATE} were throttled"));
    }
    missed
}

/// Lines for a table: the figure, theirs, ours.
pub(super) fn lines(theirs: &Load, ours: &Load) -> Vec<(String, String, String)> {
    let mut lines = Vec::new();
    let mut line = |what: &str, pick: &dyn Fn(&Load) -> String| {
        lines.push((what.to_owned(), pick(theirs), pick(ours)));
    };
    line("pods until all run, s", &|own| {
        format!("{:.1}", own.running)
    });
    line("fewer pods until nothing is left, s", &|own| {
        format!("{:.1}", own.gone)
    });
    line("nodes", &|own| own.nodes.to_string());
    line("calls of TerminateInstances", &|own| {
        own.terminations.to_string()
    });
    line("processor time until all run, s", &|own| {
        format!("{:.1}", own.processor)
    });
    line("peak memory, MiB", &|own| format!("{:.0}", own.memory));
    let operations: BTreeSet<&String> = theirs
        .throttled
        .keys()
        .chain(ours.throttled.keys())
        .collect();
    for operation in operations {
        line(&format!("throttled calls of {operation}"), &|own| {
            own.throttled(operation).to_string()
        });
    }
    if theirs.throttled.is_empty() && ours.throttled.is_empty() {
        line("throttled calls", &|_| "0".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use plimsoll_cloud::Service;
    use serde_json::Value;

    use super::*;

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    #[test]
    fn calls_that_were_refused_as_too_many_are_told_by_operation() {
        let call = |operation: &str, error: Option<&str>| Call {
            service: Service::Ec2,
            operation: operation.to_owned(),
            input: Value::Null,
            started: UNIX_EPOCH,
            error: error.map(str::to_owned),
        };
        let calls = [
            call("TerminateInstances", None),
            call("TerminateInstances", Some("RequestLimitExceeded")),
            call("CreateTags", Some("RequestLimitExceeded")),
            call("CreateTags", Some("RequestLimitExceeded")),
            call("CreateTags", Some("InvalidID")),
            call("GetProducts", Some("ThrottlingException")),
        ];
        let moments = Moments {
            running: Some(at(30)),
            shrunk: Some(at(40)),
            gone: Some(at(45)),
        };
        let load = Load::of(&calls, Some(at(10)), moments);
        assert_eq!((load.running, load.gone, load.terminations), (20.0, 5.0, 2));
        let throttled = [
            ("CreateTags", 2),
            ("GetProducts", 1),
            ("TerminateInstances", 1),
        ];
        let throttled = throttled.map(|(operation, count)| (operation.to_owned(), count));
        assert_eq!(load.throttled, throttled.into());
        let lines = lines(&Load::default(), &load);
        let told: Vec<&str> = lines
            .iter()
            .filter_map(|(what, _, ours)| what.starts_with("throttled").then_some(&**ours))
            .collect();
        assert_eq!(told, ["2", "1", "1"]);
    }

    #[test]
    fn ours_may_take_as_long_and_may_not_have_a_termination_refused() {
        let load = |running: f64, operation: &str| Load {
            running,
            throttled: [(operation.to_owned(), 3)].into(),
            ..Load::default()
        };
        let theirs = load(100.0, TERMINATE);
        assert_eq!(missed(&theirs, &load(100.0, "CreateTags")), [""; 0]);
        assert_eq!(missed(&theirs, &load(100.1, "CreateTags")).len(), 1);
        let refused = missed(&theirs, &load(99.0, TERMINATE));
        assert_eq!(refused, ["3 calls of TerminateInstances were throttled"]);
    }
}
