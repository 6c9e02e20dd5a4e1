//! Where the money went: the cost of a run above its lower bound, step by step, without a rest.
//!
//! The cluster is sampled at regular intervals. At each sample the pods that are bound are planned from nothing, with one guard
//! after the other in force; what the nodes in use cost beyond that is charged to them node by node. Money for nodes that start or
//! are idle is counted to the millisecond and not sampled. What the samples miss is a step of its own, so that the steps add up to the
//! cost.

use std::collections::BTreeMap;

use plimsoll_base::ids::NodeName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_disrupt::keep_reason::KeepReason;
use plimsoll_model::snapshot::{Guard, Snapshot};
use serde::{Deserialize, Serialize};

use crate::loss::LossSums;
use crate::money::per_hour;
use crate::planner::{Appraisal, Planner};
use crate::run::Run;

/// Samples over the time that a recording spans. Each takes about as long as a full consolidation pass and a few plans of the whole cluster.
const SAMPLES: i64 = 24;
/// Samples at one interval at most.
const MOST: i64 = 96;
/// The least interval.
const LEAST: Span = Span::from_secs(60);

/// A part of the cost of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LadderStep {
    /// The lower bound on the cost of any fleet for the pods that ran.
    Bound,
    /// Whole nodes instead of fractions: the fleet that would be bought from nothing, without guards.
    FreshPlan,
    /// A guard on purchases.
    Guard(Guard),
    /// Nodes that would be bought for pods that wait. The cost of nodes that start is split between this and the next.
    WaitingPods,
    /// Nodes that start, beyond what waiting pods need.
    Starting,
    /// Nodes that carry nothing but daemons, or are deleting.
    Idle,
    /// Nodes in use beyond the fleet that would be bought from nothing, by what keeps them.
    Kept(KeepReason),
    /// Between the samples.
    BetweenSamples,
}

impl LadderStep {
    /// All of them, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        let first = [Self::Bound, Self::FreshPlan].into_iter();
        let guards = Guard::ALL.into_iter().map(Self::Guard);
        let used = [Self::WaitingPods, Self::Starting, Self::Idle].into_iter();
        let kept = KeepReason::ALL.into_iter().map(Self::Kept);
        first
            .chain(guards)
            .chain(used)
            .chain(kept)
            .chain([Self::BetweenSamples])
    }
}

/// In words.
impl std::fmt::Display for LadderStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bound => f.write_str("LP bound"),
            Self::FreshPlan => f.write_str("fresh plan without guards"),
            Self::Guard(guard) => write!(f, "guard: {}", guard.as_str()),
            Self::WaitingPods => f.write_str("waiting pods"),
            Self::Starting => f.write_str("nodes starting"),
            Self::Idle => f.write_str("nodes idle or deleting"),
            Self::Kept(reason) => write!(f, "nodes kept: {}", reason.as_str()),
            Self::BetweenSamples => f.write_str("between samples"),
        }
    }
}

/// Cost of a step, in nano-dollars; negative where it saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepCost {
    /// The step.
    pub step: LadderStep,
    /// Nano-dollars.
    pub cost: i64,
}

/// The price of a fleet that would be bought from nothing, within the guards, for the pods that are bound at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreshPrice {
    /// The instant.
    pub at: Timestamp,
    /// Nano-dollars per hour.
    pub price: i64,
}

/// Samples of a run, summed up.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    every: Span,
    next: Timestamp,
    /// Samples at this interval.
    count: i64,
    /// Nano-dollars per hour times the milliseconds that a sample stands for, summed over samples; none of the bound.
    sums: BTreeMap<LadderStep, i128>,
    pub(crate) losses: LossSums,
    pub(crate) fresh: Vec<FreshPrice>,
}

/// Costs that are counted over a whole run, in nano-dollars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    pub(crate) cost: i64,
    pub(crate) starting: i64,
    pub(crate) idle: i64,
    pub(crate) bound: i64,
}

/// A node in use at a sample.
struct UsedNode {
    row: usize,
    name: NodeName,
    price: i64,
}

impl Samples {
    /// Samples spread over a time; none before half of their interval is over.
    pub(crate) fn over(from: Timestamp, to: Timestamp) -> Self {
        let every = Span::from_millis(to.since(from).millis() / SAMPLES).max(LEAST);
        Self {
            every,
            next: from + Span::from_millis(every.millis() / 2),
            count: 0,
            sums: BTreeMap::new(),
            losses: LossSums::default(),
            fresh: Vec::new(),
        }
    }

    fn add(&mut self, step: LadderStep, rate: i64) {
        let millis = i128::from(self.every.millis());
        *self.sums.entry(step).or_default() += i128::from(rate) * millis;
    }

    /// Sets when the next sample is due; a run that continues long after its recording is sampled less and less often.
    fn advance(&mut self) {
        self.count += 1;
        if self.count == MOST {
            self.every = self.every + self.every;
            self.count = MOST / 2;
        }
        self.next = self.next + self.every;
    }

    fn note(&mut self, snapshot: &Snapshot, used: &[UsedNode], paid: i64, seen: &Appraisal) {
        let fresh = &seen.fresh;
        let price = |at: usize| fresh.by_guards[at].nanos();
        self.add(LadderStep::FreshPlan, price(0) - fresh.bound.nanos());
        for (at, guard) in Guard::ALL.into_iter().enumerate() {
            self.add(LadderStep::Guard(guard), price(at + 1) - price(at));
        }
        let waiting = fresh.with_waiting.nanos() - fresh.price().nanos();
        self.add(LadderStep::WaitingPods, waiting);
        let beyond = beyond_fresh(snapshot, used, fresh.price().nanos(), &fresh.worth);
        for (beyond, reason) in beyond.iter().zip(&seen.kept) {
            self.add(LadderStep::Kept(*reason), *beyond);
        }
        // Nodes that the engine does not know, and all of it where none is in use.
        let rest = paid - fresh.price().nanos() - beyond.iter().sum::<i64>();
        self.add(LadderStep::Kept(KeepReason::NotConsidered), rest);
    }

    /// The steps, which add up to the cost.
    pub(crate) fn finish(self, counted: Counted) -> Vec<StepCost> {
        let sampled = |step: &LadderStep| per_hour(self.sums.get(step).copied().unwrap_or(0));
        let mut left = counted.cost;
        let steps = LadderStep::all().map(|step| {
            let cost = match step {
                LadderStep::Bound => counted.bound,
                LadderStep::Starting => counted.starting - sampled(&LadderStep::WaitingPods),
                LadderStep::Idle => counted.idle,
                LadderStep::BetweenSamples => left,
                sampled_step => sampled(&sampled_step),
            };
            left -= cost;
            StepCost { step, cost }
        });
        steps.collect()
    }
}

/// What each node in use costs beyond its share of a fleet bought from nothing: the part of that fleet's price that the worth of its pods
/// is of the worth of all. The shares add up to that price, unless nothing is of worth.
fn beyond_fresh(snapshot: &Snapshot, used: &[UsedNode], fresh: i64, worth: &[i64]) -> Vec<i64> {
    let mut of_nodes: BTreeMap<&NodeName, i128> = BTreeMap::new();
    for (pod, worth) in snapshot.pods.iter().zip(worth) {
        if let Some(node) = &pod.node {
            *of_nodes.entry(node).or_default() += i128::from(*worth);
        }
    }
    let own = |node: &UsedNode| of_nodes.get(&node.name).copied().unwrap_or(0);
    let all: i128 = used.iter().map(own).sum();
    let up_to = |sum: i128| match all {
        0 => 0,
        all => i64::try_from(i128::from(fresh) * sum / all).unwrap_or(i64::MAX),
    };
    let mut sum = 0;
    let beyond = used.iter().map(|node| {
        let before = up_to(sum);
        sum += own(node);
        node.price - (up_to(sum) - before)
    });
    beyond.collect()
}

impl<P: Planner> Run<P> {
    /// Takes the samples that are due before an instant. Nothing happens in between.
    pub(crate) fn sample_until(&mut self, until: Timestamp) {
        while let Some(samples) = &self.samples
            && samples.next <= until
        {
            let at = samples.next;
            self.world.meter.advance(at);
            self.sample(at);
            if let Some(samples) = &mut self.samples {
                samples.advance();
            }
        }
    }

    fn sample(&mut self, at: Timestamp) {
        let Some(process) = self.processes.values().next_back() else {
            return;
        };
        let snapshot = process.engine.disruption_snapshot(at);
        let money = self.world.meter.money();
        let rows = snapshot.nodes.iter().enumerate();
        let used = rows.filter_map(|(row, node)| {
            let node = node.node.as_ref()?;
            Some(UsedNode {
                row,
                name: node.name.clone(),
                price: money.busy_price(node.provider_id.as_ref()?)?,
            })
        });
        let used: Vec<UsedNode> = used.collect();
        let rows: Vec<usize> = used.iter().map(|node| node.row).collect();
        let appraisal = self.planner.appraise(&snapshot, &rows);
        let paid = self.world.meter.money().busy_rate();
        match (&mut self.samples, appraisal) {
            (Some(samples), Some(appraisal)) => {
                samples.note(&snapshot, &used, paid, &appraisal);
                samples.losses.sample(&snapshot);
                let price = appraisal.fresh.price().nanos();
                samples.fresh.push(FreshPrice { at, price });
            }
            (samples, _) => *samples = None,
        }
    }
}
