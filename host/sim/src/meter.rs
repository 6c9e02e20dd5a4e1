//! What is counted while a run goes on: money and room by the hour, pods by the event.
//!
//! Money is integers: nano-dollars per hour times milliseconds, divided once at the end.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_core::catalog::CapacityType;
use plimsoll_core::ids::{ObjectName, TypeName, Uid};
use plimsoll_core::model::{OwnerKind, Pod};
use plimsoll_core::plan::Plan;
use plimsoll_core::resources::ResourceName;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::time::{Span, Timestamp};
use plimsoll_core::units::PricePerHour;

use crate::api::Api;
use crate::card::{MOST_UNPLACED, NodeHours, ScoreCard, Unplaced, Waiting};
use crate::cloud::Cloud;
use crate::series::{Gatherer, Level};

const MILLIS_PER_HOUR: i128 = 3_600_000;

/// Running sums.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    start: Timestamp,
    at: Timestamp,
    level: Level,
    running: BTreeMap<(TypeName, CapacityType), (i64, i64)>,
    hours: BTreeMap<(TypeName, CapacityType), (i128, i128)>,
    cost: i128,
    bound: i128,
    has_bound: bool,
    cpu: Share,
    memory: Share,
    gatherer: Gatherer,
    waits: Vec<Span>,
    reasons: BTreeMap<ObjectName, String>,
    leaving: BTreeSet<Uid>,
    card: ScoreCard,
}

/// Sums over time of what was asked for and what there was.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    asked: i64,
    had: i64,
    asked_sum: i128,
    had_sum: i128,
}

impl Share {
    fn advance(&mut self, millis: i128) {
        self.asked_sum += i128::from(self.asked) * millis;
        self.had_sum += i128::from(self.had) * millis;
    }

    fn mean(&self) -> i64 {
        i64::try_from(self.asked_sum * 1000 / self.had_sum.max(1)).unwrap_or(0)
    }

    fn now(&self) -> i64 {
        let share = i128::from(self.asked) * 1000 / i128::from(self.had.max(1));
        i64::try_from(share).unwrap_or(0)
    }
}

impl Meter {
    pub(crate) fn new(start: Timestamp) -> Self {
        Self {
            start,
            at: start,
            level: Level::default(),
            running: BTreeMap::new(),
            hours: BTreeMap::new(),
            cost: 0,
            bound: 0,
            has_bound: false,
            cpu: Share::default(),
            memory: Share::default(),
            gatherer: Gatherer::new(start),
            waits: Vec::new(),
            reasons: BTreeMap::new(),
            leaving: BTreeSet::new(),
            card: ScoreCard::default(),
        }
    }

    /// Time passes with everything as it was last measured.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        let millis = i128::from(now.since(self.at).millis());
        if millis == 0 {
            return;
        }
        self.cost += i128::from(self.level.cost) * millis;
        self.bound += i128::from(self.level.bound) * millis;
        self.cpu.advance(millis);
        self.memory.advance(millis);
        for (key, (count, rate)) in &self.running {
            let sums = self.hours.entry(key.clone()).or_default();
            sums.0 += i128::from(*count) * millis;
            sums.1 += i128::from(*rate) * millis;
        }
        self.gatherer.add(&self.level, self.at, now);
        self.at = now;
    }

    /// The instances that run are others than a moment ago, or cost something else.
    pub(crate) fn machines(&mut self, cloud: &Cloud, now: Timestamp) {
        self.advance(now);
        self.running.clear();
        self.level.nodes.clear();
        self.level.cost = 0;
        for instance in cloud.instances.values() {
            let key = &instance.offering;
            let row = (key.instance_type.clone(), key.capacity_type);
            let sums = self.running.entry(row).or_default();
            sums.0 += 1;
            sums.1 += instance.price.nanos();
            let count = self.level.nodes.entry(key.instance_type.clone());
            *count.or_default() += 1;
            self.level.cost += instance.price.nanos();
        }
        let count = u32::try_from(cloud.instances.len()).unwrap_or(u32::MAX);
        self.card.nodes_max = self.card.nodes_max.max(count);
    }

    /// Measures what pods ask for and what nodes have.
    pub(crate) fn measure(&mut self, api: &Api) {
        let (mut cpu, mut memory) = ((0, 0), (0, 0));
        for node in api.nodes.values() {
            cpu.1 += node.allocatable.get(&ResourceName::Cpu);
            memory.1 += node.allocatable.get(&ResourceName::Memory);
            if let Some(used) = api.used(&node.name) {
                cpu.0 += used.get(&ResourceName::Cpu);
                memory.0 += used.get(&ResourceName::Memory);
            }
        }
        (self.cpu.asked, self.cpu.had) = cpu;
        (self.memory.asked, self.memory.had) = memory;
        self.level.cpu_used = self.cpu.now();
        self.level.memory_used = self.memory.now();
        self.level.pending = i64::try_from(api.waiting_count()).unwrap_or(i64::MAX);
    }

    pub(crate) fn set_bound(&mut self, bound: PricePerHour) {
        self.has_bound = true;
        self.level.bound = bound.nanos();
    }

    pub(crate) fn arrived(&mut self, pod: &Pod) {
        if !pod.is_owned_by(OwnerKind::DaemonSet) {
            self.card.pods += 1;
        }
    }

    pub(crate) fn bound(&mut self, pod: &Pod, now: Timestamp) {
        self.waits.push(now.since(pod.created));
        self.reasons.remove(&pod.name);
    }

    pub(crate) fn landed(&mut self, as_planned: bool) {
        self.card.planned += 1;
        self.card.as_planned += u32::from(as_planned);
    }

    pub(crate) fn completed(&mut self, pod: &Pod, _now: Timestamp) {
        self.card.completed += 1;
        self.reasons.remove(&pod.name);
    }

    pub(crate) fn gone(&mut self, pod: &Pod, _now: Timestamp) {
        self.reasons.remove(&pod.name);
    }

    /// A pod goes because its owner wants fewer: nobody replaces it.
    pub(crate) fn expect_gone(&mut self, pod: &Pod) {
        self.leaving.insert(pod.uid.clone());
    }

    pub(crate) fn was_expected_to_go(&mut self, pod: &Pod) -> bool {
        self.leaving.remove(&pod.uid)
    }

    pub(crate) fn evicted(&mut self) {
        self.card.evictions += 1;
    }

    pub(crate) fn interrupted(&mut self) {
        self.card.interruptions += 1;
    }

    pub(crate) fn launched(&mut self) {
        self.card.launches += 1;
    }

    pub(crate) fn launch_failed(&mut self) {
        self.card.launch_failures += 1;
    }

    pub(crate) fn dropped_nomination(&mut self) {
        self.card.nominations_dropped += 1;
    }

    pub(crate) fn decided(&mut self, snapshot: &Snapshot, plan: &Plan, faults: u64) {
        self.card.decisions += 1;
        self.card.faults += faults;
        for unplaced in &plan.unplaced {
            if let Some(pod) = snapshot.pods.get(unplaced.pod) {
                self.reasons
                    .insert(pod.name.clone(), unplaced.reason.to_string());
            }
        }
        for placement in &plan.placements {
            if let Some(pod) = snapshot.pods.get(placement.pod) {
                self.reasons.remove(&pod.name);
            }
        }
    }

    /// Counts so far; what is a sum over time is not in them yet.
    pub(crate) fn card(&self) -> &ScoreCard {
        &self.card
    }

    /// Closes the books.
    pub(crate) fn finish(mut self, api: &Api, now: Timestamp) -> ScoreCard {
        self.advance(now);
        let millis = i128::from(now.since(self.start).millis());
        let per_hour = |sum: i128| i64::try_from(sum / MILLIS_PER_HOUR).unwrap_or(i64::MAX);
        let node_millis: i128 = self.hours.values().map(|(millis, _)| millis).sum();
        let hours = self
            .hours
            .iter()
            .map(|((name, terms), (millis, cost))| NodeHours {
                instance_type: name.clone(),
                capacity_type: *terms,
                thousandths: per_hour(millis * 1000),
                cost: per_hour(*cost),
            });
        let unplaced = api.waiting().take(MOST_UNPLACED).map(|pod| Unplaced {
            pod: pod.name.to_string(),
            reason: self
                .reasons
                .get(&pod.name)
                .cloned()
                .unwrap_or_else(|| "on its way to a node when the run ended".to_owned()),
        });
        ScoreCard {
            start: self.start,
            lasted: now.since(self.start),
            cost: per_hour(self.cost),
            bound: self.has_bound.then(|| per_hour(self.bound)),
            node_hours: hours.collect(),
            nodes_mean: i64::try_from(node_millis * 1000 / millis.max(1)).unwrap_or(0),
            waiting: Waiting::of(self.waits),
            unplaced: unplaced.collect(),
            unplaced_count: u32::try_from(api.waiting_count()).unwrap_or(u32::MAX),
            cpu_used: self.cpu.mean(),
            memory_used: self.memory.mean(),
            series: self.gatherer.finish(),
            ..self.card
        }
    }
}
