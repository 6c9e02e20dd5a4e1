//! Meters of a run: money and room by the hour, pods by the event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName, ProviderId, Uid};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::{Begun, Landing};
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::command::{Refused, Settled};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{OwnerKind, Pod, PodSpec};

use crate::api::Api;
use crate::card::{FaultWords, MOST_FAULT_WORDS, MOST_UNPLACED, ScoreCard, Unplaced, Waiting};
use crate::cloud::{Cloud, Instance};
use crate::floor::{Floor, Listed};
use crate::input::Usage;
use crate::ladder::{Counted, Samples};
use crate::money::{Money, Use, per_hour};
use crate::series::{Gatherer, Level};
use crate::usage::UsageMeter;
use crate::work::Work;

/// Running sums.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    start: Timestamp,
    at: Timestamp,
    level: Level,
    money: Money,
    work: Work,
    listed: Listed,
    cpu: Share,
    memory: Share,
    gatherer: Gatherer,
    waits: Vec<Span>,
    reasons: BTreeMap<ObjectName, String>,
    leaving: BTreeSet<Uid>,
    /// Successors of pods that were moved, and since when they are missing.
    returning: BTreeMap<Uid, Timestamp>,
    usage: UsageMeter,
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
    pub(crate) fn new(start: Timestamp, catalogues: Arc<Catalogues>) -> Self {
        Self {
            start,
            at: start,
            level: Level::default(),
            money: Money::default(),
            work: Work::new(start),
            listed: vec![(start, catalogues)],
            cpu: Share::default(),
            memory: Share::default(),
            gatherer: Gatherer::new(start),
            waits: Vec::new(),
            reasons: BTreeMap::new(),
            leaving: BTreeSet::new(),
            returning: BTreeMap::new(),
            usage: UsageMeter::default(),
            card: ScoreCard::default(),
        }
    }

    /// Time passes with everything as it was last measured.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        let millis = i128::from(now.since(self.at).millis());
        if millis == 0 {
            return;
        }
        self.money.advance(millis);
        self.cpu.advance(millis);
        self.memory.advance(millis);
        self.usage.advance(millis);
        self.gatherer.add(&self.level, self.at, now);
        self.at = now;
    }

    /// An instance is paid for from now on.
    pub(crate) fn bought(&mut self, id: &ProviderId, instance: &Instance, now: Timestamp) {
        self.advance(now);
        self.money.bought(id, instance);
        self.level_of_money();
        let count = u32::try_from(self.money.instances()).unwrap_or(u32::MAX);
        self.card.nodes_max = self.card.nodes_max.max(count);
    }

    /// An instance is paid for no longer.
    pub(crate) fn ended(&mut self, id: &ProviderId, now: Timestamp) {
        self.advance(now);
        self.money.ended(id);
        self.level_of_money();
    }

    /// Cost of instances.
    pub(crate) fn money(&self) -> &Money {
        &self.money
    }

    /// Prices are others than a moment ago.
    pub(crate) fn repriced(&mut self, cloud: &Cloud, now: Timestamp) {
        self.advance(now);
        self.money.repriced(cloud);
        self.level_of_money();
        self.listed.push((now, Arc::clone(&cloud.catalogues)));
    }

    fn level_of_money(&mut self) {
        self.level.cost = self.money.rate();
        self.level.nodes.clear();
        for (name, count) in self.money.by_type() {
            *self.level.nodes.entry(name.clone()).or_default() += count;
        }
    }

    /// Measures what pods ask for, what nodes have, and what the nodes do that changed.
    pub(crate) fn measure(&mut self, api: &mut Api) {
        for name in api.take_touched_nodes() {
            if !self.usage.is_idle() {
                look_at(&mut self.usage, api, &name);
            }
            let Some(node) = api.nodes.get(&name) else {
                continue;
            };
            let Some(id) = &node.provider_id else {
                continue;
            };
            let works =
                |pod: &Arc<Pod>| !pod.is_terminal() && !pod.is_owned_by(OwnerKind::DaemonSet);
            let does = if api.pods_on(&name).any(works) {
                Use::Busy
            } else if api.is_usable(&name) {
                Use::Idle
            } else {
                Use::Starting
            };
            self.money.uses(id, does);
        }
        let room = api.room();
        (self.cpu.asked, self.cpu.had) = room.cpu;
        (self.memory.asked, self.memory.had) = room.memory;
        self.level.cpu_used = self.cpu.now();
        self.level.memory_used = self.memory.now();
        self.level.pending = i64::try_from(api.waiting_count()).unwrap_or(i64::MAX);
        self.usage.look(self.at, api.waiting_count());
    }

    /// Each pod of an owner uses so much from now on.
    pub(crate) fn uses(
        &mut self,
        api: &Api,
        owner: Uid,
        name: &ObjectName,
        spec: &PodSpec,
        usage: Usage,
    ) {
        if self.usage.learn(owner, name, spec, usage) {
            for node in api.nodes.keys() {
                look_at(&mut self.usage, api, node);
            }
        }
    }

    /// Pods that are there from the start run already.
    pub(crate) fn runs(&mut self, pod: &Pod, now: Timestamp) {
        self.work.begins(pod, now);
    }

    pub(crate) fn arrived(&mut self, pod: &Pod) {
        if !pod.is_owned_by(OwnerKind::DaemonSet) {
            self.card.pods += 1;
        }
    }

    pub(crate) fn bound(&mut self, pod: &Pod, now: Timestamp) {
        self.waits.push(now.since(pod.created));
        if let Some(since) = self.returning.remove(&pod.uid) {
            self.card.disrupted = self.card.disrupted + now.since(since);
        }
        self.work.begins(pod, now);
        self.reasons.remove(&pod.name);
    }

    /// A planned pod is being bound. One that comes in the place of an evicted pod counts with those, one that the scheduler had
    /// found unschedulable with the pending ones; a pod that fits at once was in no plan.
    pub(crate) fn landed(&mut self, pod: &Pod, landing: Landing) {
        if self.returning.contains_key(&pod.uid) {
            self.card.evicted_pods.count(landing);
        } else if pod.unschedulable {
            self.card.pending_pods.count(landing);
        }
    }

    pub(crate) fn completed(&mut self, pod: &Pod, now: Timestamp) {
        self.card.completed += 1;
        self.gone(pod, now);
    }

    pub(crate) fn gone(&mut self, pod: &Pod, now: Timestamp) {
        self.work.ends(&pod.uid, now);
        if let Some(since) = self.returning.remove(&pod.uid) {
            self.card.disrupted = self.card.disrupted + now.since(since);
        }
        self.reasons.remove(&pod.name);
    }

    /// A pod is deleted because its owner wants fewer: it is not replaced.
    pub(crate) fn expect_gone(&mut self, pod: &Pod) {
        self.leaving.insert(pod.uid.clone());
    }

    pub(crate) fn was_expected_to_go(&mut self, pod: &Pod) -> bool {
        self.leaving.remove(&pod.uid)
    }

    /// A pod comes in the place of one that was moved.
    pub(crate) fn returns(&mut self, pod: &Pod) {
        self.returning.insert(pod.uid.clone(), pod.created);
    }

    /// A command came to its end, or to the end of the hour after it: its last word counts.
    pub(crate) fn settled(&mut self, settled: Settled) {
        if !settled.reason.facts().moves_pods {
            return;
        }
        let mut known = self.card.ledger.iter_mut().rev();
        match known.find(|known| known.id == settled.id) {
            Some(known) => *known = settled,
            None => self.card.ledger.push(settled),
        }
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

    pub(crate) fn decided(&mut self, snapshot: &Snapshot, plan: &Plan, faults: &[String]) {
        self.card.decisions += 1;
        self.faulted(faults);
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

    /// Reasons that keep planned pods waiting; `None` where nothing does.
    pub(crate) fn held<'w>(&mut self, api: &Api, words: impl Fn(&Uid) -> Option<&'w str>) {
        for pod in api.waiting() {
            if let Some(words) = words(&pod.uid) {
                self.reasons.insert(pod.name.clone(), words.to_owned());
            }
        }
    }

    pub(crate) fn faulted(&mut self, faults: &[String]) {
        self.card.faults += faults.len() as u64;
        for words in faults {
            let known = &mut self.card.fault_words;
            if let Some(at) = known.iter().position(|known| known.words == *words) {
                known[at].times += 1;
            } else if known.len() < MOST_FAULT_WORDS {
                known.push(FaultWords {
                    words: words.clone(),
                    times: 1,
                });
            }
        }
    }

    /// Adds the commands that an engine which is no more has begun and refused.
    pub(crate) fn disrupted(&mut self, (begun, refused): (Begun, Refused)) {
        self.card.begun.join(begun);
        self.card.refused.add(refused);
    }

    /// Counts so far; what is a sum over time is not in them yet.
    pub(crate) fn card(&self) -> &ScoreCard {
        &self.card
    }

    /// The work that ran up to now, and what could be bought meanwhile.
    pub(crate) fn close_work(&mut self, now: Timestamp) -> (&Work, &Listed) {
        self.work.close(now);
        (&self.work, &self.listed)
    }

    /// Closes the books.
    pub(crate) fn finish(
        mut self,
        api: &Api,
        floors: Option<&[Floor]>,
        samples: Option<Samples>,
        now: Timestamp,
    ) -> ScoreCard {
        self.advance(now);
        for since in std::mem::take(&mut self.returning).into_values() {
            self.card.disrupted = self.card.disrupted + now.since(since);
        }
        let millis = i128::from(now.since(self.start).millis());
        let mut unplaced: Vec<_> = api.waiting().collect();
        unplaced.sort_by(|a, b| a.name.cmp(&b.name));
        let unplaced = unplaced.into_iter().take(MOST_UNPLACED);
        let unplaced = unplaced.map(|pod| Unplaced {
            pod: pod.name.to_string(),
            reason: self.reasons.get(&pod.name).cloned().unwrap_or_else(|| {
                "was to be bound to a node that was starting when the run ended".to_owned()
            }),
        });
        let unplaced = unplaced.collect();
        let mut series = self.gatherer.finish();
        if let Some(floors) = floors {
            series.means.bound = self.courses_of(floors, now);
        }
        let counted = Counted {
            cost: self.money.cost(),
            starting: self.money.cost_of(Use::Starting),
            idle: self.money.cost_of(Use::Idle),
            bound: floors.map_or(0, integral),
        };
        let losses = samples.as_ref().map(|samples| samples.losses.finish());
        let mut samples = samples.filter(|_| floors.is_some());
        let fresh = samples.as_mut().map(|it| std::mem::take(&mut it.fresh));
        ScoreCard {
            start: self.start,
            lasted: now.since(self.start),
            cost: counted.cost,
            cost_starting: counted.starting,
            cost_idle: counted.idle,
            bound: floors.map(integral),
            ladder: samples.map_or_else(Vec::new, |samples| samples.finish(counted)),
            fresh: fresh.unwrap_or_default(),
            losses: losses.unwrap_or_default(),
            node_hours: self.money.node_hours(),
            nodes_mean: i64::try_from(self.money.millis() * 1000 / millis.max(1)).unwrap_or(0),
            waiting: Waiting::of(self.waits),
            unplaced,
            unplaced_count: u32::try_from(api.waiting_count()).unwrap_or(u32::MAX),
            cpu_used: self.cpu.mean(),
            memory_used: self.memory.mean(),
            usage: self.usage.finish(now),
            series,
            ..self.card
        }
    }

    /// The bound in the buckets of the other courses.
    fn courses_of(&self, floors: &[Floor], now: Timestamp) -> Vec<i64> {
        let mut gatherer = Gatherer::new(self.start);
        let mut at = self.start;
        let level = |bound| Level {
            bound,
            ..Level::default()
        };
        for floor in floors {
            gatherer.add(&level(0), at, floor.from);
            gatherer.add(&level(floor.rate), floor.from, floor.to);
            at = floor.to;
        }
        gatherer.add(&level(0), at, now);
        gatherer.finish().means.bound
    }
}

/// Shows a node, as it is or gone, to the meter of use.
fn look_at(usage: &mut UsageMeter, api: &Api, name: &NodeName) {
    let mut pods = api.pods_on(name);
    match api.nodes.get(name) {
        Some(node) => usage.carries(name, Some((node, &mut pods))),
        None => usage.carries(name, None),
    }
}

fn integral(floors: &[Floor]) -> i64 {
    let parts = floors
        .iter()
        .map(|floor| i128::from(floor.rate) * i128::from(floor.to.since(floor.from).millis()));
    per_hour(parts.sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Fidelity;

    fn pod(name: &str, unschedulable: bool) -> Pod {
        Pod {
            unschedulable,
            ..Pod::pending(
                Uid::from(name),
                ObjectName::new("default", name),
                Timestamp::default(),
            )
        }
    }

    /// The scheduler binds the replacement of an evicted pod at once, before anything can be nominated to it.
    #[test]
    fn planned_pods_are_told_apart_by_why_they_needed_a_place() {
        let mut meter = Meter::new(Timestamp::default(), Arc::new(Catalogues::default()));
        let replacement = pod("replacement", true);
        meter.returns(&replacement);
        meter.landed(&replacement, Landing::Elsewhere);
        meter.landed(&pod("pending", true), Landing::AsPlanned);
        meter.landed(&pod("lucky", true), Landing::Sooner);
        meter.landed(&pod("fits-at-once", false), Landing::Elsewhere);
        let (pending, evicted) = (meter.card().pending_pods, meter.card().evicted_pods);
        let wanted = Fidelity {
            bound: 2,
            as_planned: 1,
            sooner: 1,
        };
        assert_eq!((pending, pending.elsewhere()), (wanted, 0));
        assert_eq!((evicted.bound, evicted.elsewhere()), (1, 1));
    }
}
