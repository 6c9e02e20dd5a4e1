//! Figures and health of the process, as it serves them to whoever watches over it.
//!
//! Names are the incumbent's where it has one for the same thing; ours begin with `plimsoll_`. Text is made when it is asked for.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use plimsoll_core::action::{Order, Outcome, Purpose, Reason, Request};

/// Labels of a figure, as they stand between the braces.
type Labels = String;

/// Figures and health of one process. Clones are one.
#[derive(Clone, Default)]
pub struct Telemetry {
    figures: Arc<Mutex<Figures>>,
}

#[derive(Default)]
struct Figures {
    counters: BTreeMap<(&'static str, Labels), u64>,
    gauges: BTreeMap<(&'static str, Labels), f64>,
    /// Since when the view is stale; `None` while it is fresh, and before there is one.
    unsynced: Option<Instant>,
    /// What keeps this process from doing its work, in sentences.
    unready: Vec<String>,
}

/// A family of figures: its name, type and meaning.
const FAMILIES: [(&str, &str, &str); 14] = [
    (
        "karpenter_cloudprovider_errors_total",
        "counter",
        "Calls to the cloud that were not done.",
    ),
    (
        "karpenter_cluster_state_node_count",
        "gauge",
        "Nodes in memory.",
    ),
    (
        "karpenter_cluster_state_synced",
        "gauge",
        "1 while what is seen of the cluster is what is there.",
    ),
    (
        "karpenter_cluster_state_unsynced_time_seconds",
        "gauge",
        "Time for which what is seen has been stale.",
    ),
    (
        "karpenter_pods_eviction_requests_total",
        "counter",
        "Answers of evictions, by HTTP status.",
    ),
    (
        "karpenter_scheduler_unschedulable_pods_count",
        "gauge",
        "Pods that the last plan left without a place.",
    ),
    (
        "controller_runtime_reconcile_panics_total",
        "counter",
        "Decisions that failed because the planner panicked.",
    ),
    (
        "leader_election_master_status",
        "gauge",
        "1 while this process leads.",
    ),
    (
        "plimsoll_events_published_total",
        "counter",
        "Events, by what became of them.",
    ),
    (
        "plimsoll_orders_total",
        "counter",
        "Orders that have ended, by purpose and outcome.",
    ),
    (
        "plimsoll_unreadable_objects",
        "gauge",
        "Objects that cannot be read, by kind.",
    ),
    (
        "plimsoll_watch_failing",
        "gauge",
        "1 while the watch of a kind does not go on.",
    ),
    (
        "plimsoll_watch_silent_seconds",
        "gauge",
        "Time since the watch of a kind said something last.",
    ),
    (
        "plimsoll_watch_stale",
        "gauge",
        "1 while what is seen of a kind may be older than the cluster.",
    ),
];

impl Telemetry {
    fn figures(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more.
    pub fn count(&self, name: &'static str, labels: &[(&str, &str)]) {
        *self
            .figures()
            .counters
            .entry((name, text(labels)))
            .or_default() += 1;
    }

    /// Sets a gauge.
    pub fn set(&self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        self.figures().gauges.insert((name, text(labels)), value);
    }

    /// Forgets all values of a gauge.
    pub fn clear(&self, name: &'static str) {
        self.figures().gauges.retain(|(have, _), _| *have != name);
    }

    /// Sets down that the view is fresh, or is not.
    pub fn see(&self, is_fresh: bool, now: Instant) {
        let mut figures = self.figures();
        figures.unsynced = if is_fresh {
            None
        } else {
            Some(figures.unsynced.unwrap_or(now))
        };
        let synced = if is_fresh { 1.0 } else { 0.0 };
        let name = "karpenter_cluster_state_synced";
        figures.gauges.insert((name, String::new()), synced);
    }

    /// Sets down what keeps this process from its work, in sentences; nothing where it can do it.
    pub fn unready(&self, causes: Vec<String>) {
        self.figures().unready = causes;
    }

    /// Counts an order that has ended.
    pub fn ended(&self, order: &Order, outcome: &Outcome) {
        let purpose = format!("{:?}", order.purpose);
        let words = word(outcome);
        let labels = [("purpose", purpose.as_str()), ("outcome", words)];
        self.count("plimsoll_orders_total", &labels);
        if order.purpose == Purpose::Evict {
            let code = [("code", code(outcome))];
            self.count("karpenter_pods_eviction_requests_total", &code);
        }
        if matches!(order.request, Request::Cloud(_)) && !matches!(outcome, Outcome::Done(_)) {
            let labels = [
                ("controller", ""),
                ("error", words),
                ("method", &purpose),
                ("provider", "kwok"),
            ];
            self.count("karpenter_cloudprovider_errors_total", &labels);
        }
    }

    /// All figures in the text format of Prometheus.
    pub fn metrics(&self, now: Instant) -> String {
        let mut figures = self.figures();
        let unsynced = figures.unsynced;
        let seconds = unsynced.map_or(0.0, |since| (now - since).as_secs_f64());
        let name = "karpenter_cluster_state_unsynced_time_seconds";
        figures.gauges.insert((name, String::new()), seconds);
        let mut out = String::new();
        for (name, kind, help) in FAMILIES {
            let counters = figures
                .counters
                .iter()
                .map(|(key, value)| (key, value.to_string()));
            let gauges = figures
                .gauges
                .iter()
                .map(|(key, value)| (key, value.to_string()));
            let own = counters
                .chain(gauges)
                .filter(|((have, _), _)| *have == name);
            let mut lines = String::new();
            for ((_, labels), value) in own {
                let labels = if labels.is_empty() {
                    String::new()
                } else {
                    format!("{{{labels}}}")
                };
                // Writing to a text cannot fail.
                let _ = writeln!(lines, "{name}{labels} {value}");
            }
            if !lines.is_empty() {
                let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}");
            }
        }
        out
    }

    /// The answer of the readiness probe: whether it is well, and in which words.
    pub fn readiness(&self) -> (bool, String) {
        let figures = self.figures();
        if figures.unready.is_empty() {
            (true, "ok\n".to_owned())
        } else {
            (false, figures.unready.join("\n") + "\n")
        }
    }
}

fn text(labels: &[(&str, &str)]) -> Labels {
    let escaped = |value: &str| {
        value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
    };
    let pairs = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    pairs.collect::<Vec<_>>().join(",")
}

/// The word for an outcome, for figures and logs.
pub(crate) fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Conflict => "conflict",
        Outcome::Unknown => "unknown",
        Outcome::Refused(Reason::InsufficientCapacity(_)) => "insufficient_capacity",
        Outcome::Refused(Reason::ClassNotReady(_)) => "nodeclass_not_ready",
        Outcome::Refused(Reason::ClassMissing(_)) => "nodeclass_missing",
        Outcome::Refused(Reason::NotFound) => "not_found",
        Outcome::Refused(Reason::Blocked(_)) => "blocked",
        Outcome::Refused(Reason::Throttled(_)) => "throttled",
        Outcome::Refused(Reason::Rejected(_)) => "rejected",
        Outcome::Refused(Reason::Other(_)) => "refused",
    }
}

/// The HTTP status that an outcome stands for.
fn code(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "200",
        Outcome::Conflict => "409",
        Outcome::Refused(Reason::NotFound) => "404",
        Outcome::Refused(Reason::Blocked(_) | Reason::Throttled(_)) => "429",
        Outcome::Refused(_) => "403",
        Outcome::Unknown => "500",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn figures_are_told_by_family_with_their_labels() {
        let telemetry = Telemetry::default();
        let labels = [("controller", "provisioner")];
        for _ in 0..2 {
            telemetry.count("controller_runtime_reconcile_panics_total", &labels);
        }
        telemetry.set("plimsoll_watch_stale", &[("kind", "a\"b")], 1.0);
        let start = Instant::now();
        telemetry.see(false, start);
        telemetry.see(false, start + Duration::from_secs(1));
        let text = telemetry.metrics(start + Duration::from_secs(4));
        let figures: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            figures,
            [
                "karpenter_cluster_state_synced 0",
                "karpenter_cluster_state_unsynced_time_seconds 4",
                "controller_runtime_reconcile_panics_total{controller=\"provisioner\"} 2",
                "plimsoll_watch_stale{kind=\"a\\\"b\"} 1",
            ]
        );
        telemetry.see(true, start);
        let text = telemetry.metrics(start + Duration::from_secs(9));
        assert!(
            text.contains("\nkarpenter_cluster_state_unsynced_time_seconds 0\n"),
            "{text}"
        );
        for line in text.lines().filter(|line| line.starts_with("# TYPE")) {
            assert!(
                line.ends_with("counter") || line.ends_with("gauge"),
                "{line}"
            );
        }
    }

    #[test]
    fn the_probe_says_what_is_missing() {
        let telemetry = Telemetry::default();
        assert_eq!(telemetry.readiness(), (true, "ok\n".to_owned()));
        telemetry.unready(vec!["no right to list pods".to_owned()]);
        assert_eq!(
            telemetry.readiness(),
            (false, "no right to list pods\n".to_owned())
        );
    }
}
