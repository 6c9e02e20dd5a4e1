//! Figures and health of the process, as it serves them to monitoring.
//!
//! Figures that change now and then are set down here, from wherever that happens; all others the loop hands out when somebody asks
//! ([`crate::metrics`]). A process that waits for the lease has no loop, and serves its own figures alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_base::units::PricePerHour;
use plimsoll_model::action::{Order, Outcome, Purpose, Reason};
use plimsoll_model::plan::Plan;
use plimsoll_policy::{Outcome as PolicyOutcome, ShadowLog};
use plimsoll_schedule::PlanBounds;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::metrics::families::{self, FIGURES, FIGURES_OF_AWS};
use crate::metrics::{Cut, Exposition, Family, Histogram, PolicyMeters, StateMetrics};
use crate::obtained::{Obtained, obtained};

/// How long the loop is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Somebody who asks the loop for its figures.
pub(crate) type Asking = oneshot::Sender<Cut>;
/// Labels of a figure, as they stand between the braces.
type Labels = Vec<(String, String)>;

/// Figures and health of one process. Clones are one.
#[derive(Clone, Default)]
pub struct Telemetry {
    figures: Arc<Mutex<Figures>>,
    /// One is answered after another.
    answering: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Figures {
    values: BTreeMap<(&'static str, Labels), f64>,
    /// Observations by family, of those without labels.
    observed: BTreeMap<&'static str, Histogram>,
    policies: PolicyMeters,
    /// Since when the view is stale; `None` while it is fresh, and before there is one.
    unsynced: Option<Instant>,
    /// What keeps this process from doing its work, in sentences.
    unready: Vec<String>,
    /// The way to the loop, once there is one.
    to_loop: Option<mpsc::Sender<Asking>>,
    state: StateMetrics,
}

impl Telemetry {
    /// Figures of a process that was built of this commit; whether gauges of pods, nodes and pools are among them.
    pub fn new(state: StateMetrics, commit: &str) -> Self {
        let telemetry = Self::default();
        telemetry.figures().state = state;
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        let labels = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("goversion", ""),
            ("goarch", arch),
            ("commit", commit),
        ];
        telemetry.set(families::BUILD_INFO.name, &labels, 1.0);
        telemetry
    }

    fn figures(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more.
    pub fn count(&self, name: &'static str, labels: &[(&str, &str)]) {
        self.add(name, labels, 1.0);
    }

    /// Counts so much more.
    pub(crate) fn add(&self, name: &'static str, labels: &[(&str, &str)], more: f64) {
        let mut figures = self.figures();
        *figures.values.entry((name, owned(labels))).or_default() += more;
    }

    /// Adds an observation, of how long something took, to a histogram without labels.
    #[cfg(feature = "aws")]
    pub(crate) fn observe(&self, family: &Family, took: plimsoll_base::time::Span) {
        let mut figures = self.figures();
        let own = figures.observed.entry(family.name);
        let own = own.or_insert_with(|| Histogram::new(family.bounds()));
        own.observe(crate::metrics::seconds(took));
    }

    /// Sets a gauge.
    pub fn set(&self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        self.figures().values.insert((name, owned(labels)), value);
    }

    /// Forgets all values of a gauge.
    pub fn clear(&self, name: &'static str) {
        self.figures().values.retain(|(have, _), _| *have != name);
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
        let name = families::SYNCED.name;
        figures.values.insert((name, Labels::new()), synced);
    }

    /// Sets down what keeps this process from its work, in sentences; nothing where it can do it.
    pub fn unready(&self, causes: Vec<String>) {
        self.figures().unready = causes;
    }

    /// Counts an order that has ended.
    pub fn ended(&self, order: &Order, outcome: &Outcome) {
        let purpose = format!("{:?}", order.purpose);
        let labels = [("purpose", purpose.as_str()), ("outcome", word(outcome))];
        self.count(families::ORDERS.name, &labels);
        if order.purpose == Purpose::Evict {
            let code = [("code", code(outcome))];
            self.count(families::EVICTION_REQUESTS.name, &code);
        }
        for obtained in obtained(order, outcome) {
            self.launched(&obtained);
            obtained.tell();
        }
    }

    fn launched(&self, obtained: &Obtained<'_>) {
        let pool = obtained.claim.pool.as_str();
        let choice = if obtained.is_as_planned() {
            "planned"
        } else {
            "other"
        };
        let labels = [("nodepool", pool), ("choice", choice)];
        self.count(families::LAUNCHED.name, &labels);
        // An instance without a known price counts for neither.
        let Some(bought) = obtained.bought else {
            return;
        };
        for (of, option) in [("planned", obtained.planned), ("obtained", bought)] {
            let labels = [("nodepool", pool), ("of", of)];
            let price = option.list_price.dollars();
            self.add(families::LAUNCH_DOLLARS.name, &labels, price);
        }
    }

    /// Sets down how many pods a plan has no place for.
    pub(crate) fn planned(&self, plan: &Plan) {
        let unplaced = u32::try_from(plan.unplaced.len()).unwrap_or(u32::MAX);
        let labels = [("controller", "provisioner")];
        let name = families::UNSCHEDULABLE_PODS.name;
        self.set(name, &labels, f64::from(unplaced));
    }

    /// Sets down what a plan buys for, at list prices, and what its pods cost at least. There is no gap to a bound of nothing.
    pub(crate) fn packed(&self, cost: PricePerHour, bounds: &PlanBounds) {
        let (cost, least) = (cost.dollars(), bounds.within_guards.dollars());
        let whatever = bounds.without_guards.dollars();
        let gap = (least > 0.0).then(|| cost / least - 1.0);
        // All at once: what is read between two of them would be of two plans.
        let values = &mut self.figures().values;
        for (family, value) in [
            (&families::PACKING_COST, Some(cost)),
            (&families::PACKING_BOUND, Some(least)),
            (&families::PACKING_UNGUARDED_BOUND, Some(whatever)),
            (&families::PACKING_GAP, gap),
        ] {
            let key = (family.name, Labels::new());
            match value {
                Some(value) => values.insert(key, value),
                None => values.remove(&key),
            };
        }
    }

    /// Counts a call of a policy.
    pub(crate) fn called(&self, policy: (&Arc<str>, &str), outcome: PolicyOutcome, took: Duration) {
        self.figures().policies.called(policy, outcome, took);
    }

    /// Sets down how a policy in shadow, which these labels name, compares with what decides.
    pub(crate) fn compared(&self, labels: &[(&str, &str)], log: &ShadowLog) {
        let same = log.decisions.saturating_sub(log.differ);
        for (outcome, number) in [
            ("same", same),
            ("differs", log.differ),
            ("skipped", log.passed_over),
            ("timed-out", log.hung),
        ] {
            let labels = [labels, &[("outcome", outcome)]].concat();
            self.set(families::SHADOW_DECISIONS.name, &labels, number as f64);
        }
        self.set(families::SHADOW_FAULTS.name, labels, log.faults as f64);
        let regret = log.regret.dollars();
        self.set(families::SHADOW_REGRET.name, labels, regret);
    }

    /// Forgets the comparison of a policy that is in shadow no more.
    pub(crate) fn forget_shadow(&self, policy: &str) {
        let names = families::OF_SHADOWS.map(|family| family.name);
        let is_its = |labels: &Labels| {
            labels
                .iter()
                .any(|(key, own)| key == "policy" && own == policy)
        };
        let values = &mut self.figures().values;
        values.retain(|(name, labels), _| !names.contains(name) || !is_its(labels));
    }

    /// Forgets a policy that is no more.
    pub(crate) fn forget_policy(&self, policy: &str) {
        self.figures().policies.forget(policy);
        self.forget_shadow(policy);
    }

    /// Those who ask the loop for its figures, from now on.
    pub(crate) fn to_loop(&self) -> mpsc::Receiver<Asking> {
        let (sender, receiver) = mpsc::channel(1);
        self.figures().to_loop = Some(sender);
        receiver
    }

    /// All figures in the text format of Prometheus.
    pub async fn metrics(&self) -> String {
        let _answering = self.answering.lock().await;
        let to_loop = self.figures().to_loop.clone();
        let cut = match to_loop {
            Some(to_loop) => timeout(PATIENCE, ask(&to_loop)).await.ok().flatten(),
            None => None,
        };
        let telemetry = self.clone();
        let text =
            tokio::task::spawn_blocking(move || telemetry.text(cut.as_ref(), Instant::now()));
        text.await.unwrap_or_default()
    }

    fn text(&self, cut: Option<&Cut>, now: Instant) -> String {
        let mut out = Exposition::default();
        let (policies, state) = {
            let mut figures = self.figures();
            let unsynced = figures.unsynced;
            let seconds = unsynced.map_or(0.0, |since| (now - since).as_secs_f64());
            let name = families::UNSYNCED.name;
            figures.values.insert((name, Labels::new()), seconds);
            let of_aws = if cfg!(feature = "aws") {
                FIGURES_OF_AWS
            } else {
                &[]
            };
            for family in FIGURES.iter().chain(of_aws) {
                figures.write(&mut out, family);
            }
            (figures.policies.clone(), figures.state)
        };
        policies.write(&mut out);
        if let Some(cut) = cut {
            cut.write(&mut out, state);
        }
        out.into_text()
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

impl Figures {
    fn write(&self, out: &mut Exposition, family: &'static Family) {
        let mut samples = out.family(family);
        if let Some(histogram) = self.observed.get(family.name) {
            samples.histogram(&[], histogram);
        }
        let first = (family.name, Labels::new());
        let own = self.values.range(first..);
        for ((_, labels), value) in own.take_while(|((name, _), _)| *name == family.name) {
            let label = |name: &&str| {
                let own = labels.iter().find(|(own, _)| own == name);
                own.map_or("", |(_, value)| value.as_str())
            };
            let values: Vec<&str> = family.labels.iter().map(label).collect();
            samples.sample(&values, *value);
        }
    }
}

/// Asks the loop; `None` where it has ended.
async fn ask(to_loop: &mpsc::Sender<Asking>) -> Option<Cut> {
    let (asking, answer) = oneshot::channel();
    to_loop.send(asking).await.ok()?;
    answer.await.ok()
}

fn owned(labels: &[(&str, &str)]) -> Labels {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    labels.iter().map(own).collect()
}

/// The word for an outcome, for figures and logs.
pub(crate) fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Conflict => "conflict",
        Outcome::Unknown => "unknown",
        Outcome::Refused(Reason::InsufficientCapacity { .. }) => "insufficient_capacity",
        Outcome::Refused(Reason::ClassNotReady(_)) => "nodeclass_not_ready",
        Outcome::Refused(Reason::ClassMissing(_)) => "nodeclass_missing",
        Outcome::Refused(Reason::NotFound) => "not_found",
        Outcome::Refused(Reason::Blocked(_)) => "blocked",
        Outcome::Refused(Reason::Throttled(_)) => "throttled",
        Outcome::Refused(Reason::Rejected(_)) => "rejected",
        Outcome::Refused(Reason::Other(_) | Reason::LaunchFailed { .. }) => "refused",
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
    use super::*;

    #[test]
    fn figures_are_told_by_family_with_their_labels() {
        let telemetry = Telemetry::default();
        let labels = [("controller", "provisioner")];
        for _ in 0..2 {
            telemetry.count(families::RECONCILE_PANICS.name, &labels);
        }
        telemetry.set(families::WATCH_STALE.name, &[("kind", "a\"b")], 1.0);
        let start = Instant::now();
        telemetry.see(false, start);
        telemetry.see(false, start + Duration::from_secs(1));
        let text = telemetry.text(None, start + Duration::from_secs(4));
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
        let text = telemetry.text(None, start + Duration::from_secs(9));
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
    fn a_plan_stands_beside_both_bounds_and_a_bound_of_nothing_has_no_gap() {
        let telemetry = Telemetry::default();
        let price = |dollars| PricePerHour::from_dollars(dollars).unwrap();
        let packing = |telemetry: &Telemetry| {
            let text = telemetry.text(None, Instant::now());
            let lines = text
                .lines()
                .filter(|line| line.starts_with("plimsoll_packing"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let bounds = PlanBounds {
            within_guards: price(0.5),
            without_guards: price(0.25),
        };
        telemetry.packed(price(0.75), &bounds);
        assert_eq!(
            packing(&telemetry),
            [
                "plimsoll_packing_cost_dollars_per_hour 0.75",
                "plimsoll_packing_bound_dollars_per_hour 0.5",
                "plimsoll_packing_unguarded_bound_dollars_per_hour 0.25",
                "plimsoll_packing_gap_ratio 0.5",
            ]
        );
        telemetry.packed(price(0.75), &PlanBounds::default());
        assert_eq!(packing(&telemetry).len(), 3);
    }

    #[test]
    fn a_shadow_that_ended_is_told_of_no_more() {
        let telemetry = Telemetry::default();
        let log = ShadowLog {
            decisions: 5,
            differ: 2,
            passed_over: 1,
            hung: 4,
            ..ShadowLog::default()
        };
        telemetry.compared(&[("policy", "a"), ("hook", "rank")], &log);
        let text = telemetry.text(None, Instant::now());
        for line in [
            "plimsoll_policy_shadow_decisions_total{policy=\"a\",hook=\"rank\",outcome=\"differs\"} 2",
            "plimsoll_policy_shadow_decisions_total{policy=\"a\",hook=\"rank\",outcome=\"same\"} 3",
            "plimsoll_policy_shadow_decisions_total{policy=\"a\",hook=\"rank\",outcome=\"timed-out\"} 4",
            "plimsoll_policy_shadow_regret_dollars_per_hour{policy=\"a\",hook=\"rank\"} 0",
        ] {
            assert!(text.lines().any(|own| own == line), "{line} in {text}");
        }
        telemetry.forget_shadow("b");
        assert!(
            telemetry
                .text(None, Instant::now())
                .contains("policy=\"a\"")
        );
        telemetry.forget_shadow("a");
        assert!(
            !telemetry
                .text(None, Instant::now())
                .contains("policy=\"a\"")
        );
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
