//! The engine's own work for each input: is it the same in a cluster ten times as large?
//!
//! Fleets with waste, ten pods on a node, live through some minutes in the simulator: pods come and go, workloads grow, nodes
//! report, a few instances are taken back, and the planner buys, consolidates and is obeyed. The inputs of that engine are then
//! handed to fresh ones, and each input counts with its least time over all rounds, so that what other programs do to the
//! clock does not count. An input counts with the question when to wake next, which follows it everywhere. Decisions do not
//! count: neither the planner's time, nor an input that hands a snapshot out, nor one that brings a plan; those have rows of
//! their own.
//!
//! Two questions, a table each. The first is about the size of the cluster alone: as much happens in every fleet, however
//! large. The second is about a fleet that is as much busier as it is larger. What the planner does about it is not the
//! same in every fleet, so the sums below take each kind of input as often as there were of it in the smallest.
//!
//! Usage: `engine [NODES]...`, from few to many.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_benches::argument;
use plimsoll_benches::cases::general_types;
use plimsoll_engine::{Engine, Input};
use plimsoll_model::Object;
use plimsoll_model::action::Action;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{
    Budget, BudgetNodes, DisruptionLimit, LabelSelector, Pod, PodDisruptionBudget,
};
use plimsoll_oracles::fixture::{below, cluster, labels, pool};
use plimsoll_oracles::generate::{Draw, Waste, fragmented};
use plimsoll_sim::{Behaviour, Change, Recording, Run, TimedChange};

/// Times that the inputs are handed to a fresh engine.
const ROUNDS: usize = 5;
/// Pods that a node is bought for, about; and how many of a workload's stay, in percent: ten on a node.
const PODS_PER_NODE: usize = 17;
const STAY: (usize, usize) = (40, 80);
/// Numbers of nodes unless others are asked for.
const SIZES: [usize; 4] = [500, 1_000, 2_000, 5_000];
/// Seconds that each fleet lives, and how many of them do not count: in the first minute all its nodes become consolidatable,
/// which is one input that looks at each of them.
const SECONDS: usize = 240;
const SETTLES: usize = 60;
/// In every fleet of the first table as much happens as in one of this many nodes.
const EQUALLY_BUSY: usize = 2_000;
/// And so many nodes at most are disrupted at once: what a larger fleet may lose together is no cost of an input.
const EQUALLY_DISRUPTED: u32 = 20;
/// Of this many nodes one loses a pod each second, for another of its workload.
const NODES_PER_CHANGE: usize = 250;
/// Seconds from one growth of workloads to the next, how many nodes there are for each that grows, and by how many pods it does.
const GROWTH: (usize, usize, usize) = (30, 100, 10);
/// Seconds from one status report of a node to the next.
const STATUS: usize = 60;
/// Seconds from one loss of instances to the next, and how many nodes there are for each.
const LOSS: (usize, usize) = (30, 500);
const SEED: u64 = 7;

fn main() -> anyhow::Result<()> {
    let fleets = sizes().into_iter().map(fleet);
    let fleets = fleets.collect::<anyhow::Result<Vec<Snapshot>>>()?;
    let held: Vec<Snapshot> = fleets.iter().map(equally_disrupted).collect();
    let alike = measure(&held, |_| EQUALLY_BUSY);
    print("as much happens in every fleet", &alike);
    let larger = measure(&fleets, |fleet| fleet.nodes.len());
    println!();
    let title = "as much more happens in a fleet as it is larger";
    print(title, &larger);
    Ok(())
}

/// Numbers of nodes as asked for, at least one.
fn sizes() -> Vec<usize> {
    let asked = std::env::args().count() - 1;
    if asked == 0 {
        return SIZES.to_vec();
    }
    (1..=asked).map(|at| argument(at, 0).max(1)).collect()
}

/// Times of the inputs of one fleet.
struct Measured {
    nodes: usize,
    pods: usize,
    took: BTreeMap<Kind, Taken>,
}

/// How many inputs of a kind there were, and what they took together.
#[derive(Clone, Copy, Default)]
struct Taken {
    count: usize,
    time: Duration,
}

impl Taken {
    fn micros(self) -> f64 {
        self.time.as_secs_f64() * 1e6 / self.count.max(1) as f64
    }
}

/// Kinds of inputs, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    PodAdded,
    PodBound,
    PodChanged,
    PodDeleted,
    NodeReported,
    NodeChanged,
    NodeDeleted,
    ClaimChanged,
    ClaimDeleted,
    BudgetChanged,
    Outcome,
    Interruption,
    Timer,
    Plan,
    Decision,
    Snapshot,
}

impl Kind {
    /// `true` if it belongs to a decision, of which there are few, and which costs what the cluster is large.
    const fn is_of_decisions(self) -> bool {
        matches!(self, Self::Plan | Self::Decision | Self::Snapshot)
    }

    const fn words(self) -> &'static str {
        match self {
            Self::PodAdded => "pod added",
            Self::PodBound => "pod bound",
            Self::PodChanged => "pod changed",
            Self::PodDeleted => "pod deleted",
            Self::NodeReported => "node reports, unchanged",
            Self::NodeChanged => "node added or changed",
            Self::NodeDeleted => "node deleted",
            Self::ClaimChanged => "claim added or changed",
            Self::ClaimDeleted => "claim deleted",
            Self::BudgetChanged => "disruption budget changed",
            Self::Outcome => "outcome of an order",
            Self::Interruption => "instance taken back",
            Self::Timer => "timer",
            Self::Plan => "plan brought",
            Self::Decision => "disruption decision brought",
            Self::Snapshot => "any that hands out a snapshot",
        }
    }
}

/// Inputs of one fleet, each with the least time that it took so far.
struct Lived<'f> {
    fleet: &'f Snapshot,
    inputs: Vec<(Timestamp, Input)>,
    /// The first that counts.
    start: usize,
    least: Vec<Duration>,
    /// `true` for inputs that hand a snapshot out.
    decides: Vec<bool>,
}

impl<'f> Lived<'f> {
    /// A fleet in which as much happens as in one of `busy` nodes.
    fn of(fleet: &'f Snapshot, busy: usize) -> Self {
        let (nodes, pods) = (fleet.nodes.len(), fleet.pods.len());
        eprintln!("{nodes} nodes, {pods} pods, as busy as {busy} nodes");
        let (start, inputs) = lived(fleet, busy);
        Self {
            fleet,
            least: vec![Duration::MAX; inputs.len()],
            decides: vec![false; inputs.len()],
            inputs,
            start,
        }
    }

    /// Hands the inputs to a fresh engine.
    fn replay(&mut self) {
        let mut engine = engine(self.fleet);
        for (at, (now, input)) in self.inputs.iter().cloned().enumerate() {
            let began = Instant::now();
            let actions = engine.handle(input, now);
            black_box(engine.next_wake());
            self.least[at] = self.least[at].min(began.elapsed());
            self.decides[at] = actions
                .iter()
                .any(|action| matches!(action, Action::Solve(_) | Action::Consider(_)));
        }
    }

    fn measured(&self) -> Measured {
        let mut took: BTreeMap<Kind, Taken> = BTreeMap::new();
        let kinds = kinds(&self.inputs).into_iter().enumerate();
        for (at, kind) in kinds.skip(self.start) {
            let is_snapshot = self.decides[at];
            let kind = if is_snapshot { Kind::Snapshot } else { kind };
            let taken = took.entry(kind).or_default();
            taken.count += 1;
            taken.time += self.least[at];
        }
        Measured {
            nodes: self.fleet.nodes.len(),
            pods: self.fleet.pods.len(),
            took,
        }
    }
}

/// Times of fleets, as much happening in each as says `busy`. They take turns, so that what other programs do meanwhile falls on
/// all of them.
fn measure(fleets: &[Snapshot], busy: impl Fn(&Snapshot) -> usize) -> Vec<Measured> {
    let lived = fleets.iter().map(|fleet| Lived::of(fleet, busy(fleet)));
    let mut lived: Vec<Lived<'_>> = lived.collect();
    for _ in 0..ROUNDS {
        lived.iter_mut().for_each(Lived::replay);
    }
    lived.iter().map(Lived::measured).collect()
}

/// A fleet of which as many nodes may be disrupted at once as of any other.
fn equally_disrupted(fleet: &Snapshot) -> Snapshot {
    let mut fleet = fleet.clone();
    for pool in &mut fleet.pools {
        let nodes = BudgetNodes::Count(EQUALLY_DISRUPTED);
        Arc::make_mut(pool).disruption.budgets = vec![Budget::always(nodes)];
    }
    fleet
}

/// The fleet at the start: one pool that buys instances of up to 16 cores, and a disruption budget for every fourth workload.
fn fleet(nodes: usize) -> anyhow::Result<Snapshot> {
    let small = below("karpenter.k8s.aws/instance-cpu", 17);
    let mut market = cluster().pool(pool("general").needs(small)).snapshot();
    market.catalogues = Arc::new(general_types()?.into());
    let settings = Arc::make_mut(&mut market.settings);
    settings.churn.node_age = Span::from_secs(60);
    let mut fleet = fragmented(
        &market,
        Waste {
            pods: nodes * PODS_PER_NODE,
            stay_percent: STAY,
            seed: SEED,
        },
    );
    // The reader of objects keeps each text once.
    let namespace: Arc<str> = Arc::from("default");
    for pod in &mut fleet.pods {
        Arc::make_mut(pod).name.namespace = Arc::clone(&namespace);
    }
    fleet.disruption_budgets = budgets(&fleet);
    Ok(fleet)
}

fn budgets(fleet: &Snapshot) -> Vec<Arc<PodDisruptionBudget>> {
    let owners = fleet.pods.iter().filter_map(|pod| pod.owner.as_ref());
    let mut names: Vec<&str> = owners.map(|owner| owner.name.as_ref()).collect();
    names.dedup();
    let guarded = names.iter().step_by(4).map(|name| PodDisruptionBudget {
        name: ObjectName::new("default", *name),
        selector: LabelSelector::match_labels(&labels(&[("app", name)])),
        limit: DisruptionLimit::MaxUnavailablePercent(25),
        always_allow_unhealthy: true,
        disruptions_allowed: 0,
        is_met: false,
    });
    guarded.map(Arc::new).collect()
}

fn engine(fleet: &Snapshot) -> Engine {
    let settings = Arc::clone(&fleet.settings);
    Engine::new(settings, Arc::clone(&fleet.catalogues), SEED)
}

/// The inputs of the engine of a fleet in which as much happens as in one of `busy` nodes, and which of them is the first that
/// counts.
fn lived(fleet: &Snapshot, busy: usize) -> (usize, Vec<(Timestamp, Input)>) {
    let recording = Recording::from_snapshot(fleet, changes(fleet, busy));
    let behaviour = Behaviour {
        seed: SEED,
        ..Behaviour::default()
    };
    let planner = |snapshot: &Snapshot| plimsoll_schedule::plan(snapshot);
    let mut run = Run::with_inputs_kept(recording, behaviour, planner);
    let mut inputs = run.take_inputs();
    let mut start = inputs.len();
    let reports = busy.div_ceil(STATUS);
    for second in 1..=SECONDS {
        run.run_until(after(fleet, second));
        let all: Vec<_> = run.nodes().map(|node| node.name.clone()).collect();
        let turn = all.iter().cycle().skip(second * reports % all.len().max(1));
        for node in turn.take(reports) {
            run.report_status(node);
        }
        inputs.extend(run.take_inputs());
        if second == SETTLES {
            start = inputs.len();
        }
    }
    (start, inputs)
}

fn after(fleet: &Snapshot, seconds: usize) -> Timestamp {
    fleet.now + Span::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// Changes of a fleet, second by second, as many as in one of `busy` nodes.
fn changes(fleet: &Snapshot, busy: usize) -> Vec<TimedChange> {
    let mut changes = Vec::new();
    for second in 1..SECONDS {
        let mut draw = Draw::new(SEED, "second", second);
        let at = after(fleet, second);
        let mut add = |change| changes.push(TimedChange { at, change });
        for number in 0..busy.div_ceil(NODES_PER_CHANGE) {
            let pod = &fleet.pods[draw.below(fleet.pods.len())];
            add(Change::DeletePod(pod.name.clone()));
            let successor = successor(pod, &format!("{second}-{number}"));
            add(Change::Arrive(successor, None));
        }
        if second % GROWTH.0 == 0 {
            for _ in 0..busy.div_ceil(GROWTH.1) {
                let pod = &fleet.pods[draw.below(fleet.pods.len())];
                for number in 0..GROWTH.2 {
                    let successor = successor(pod, &format!("{second}-more-{number}"));
                    add(Change::Arrive(successor, None));
                }
            }
        }
        if second % LOSS.0 == 0 {
            for _ in 0..busy.div_ceil(LOSS.1) {
                let lost = &fleet.nodes[draw.below(fleet.nodes.len())];
                if let Some(node) = &lost.node {
                    add(Change::Interrupt(node.name.clone()));
                }
            }
        }
    }
    changes
}

/// A waiting pod of the same workload.
fn successor(pod: &Pod, suffix: &str) -> Arc<Pod> {
    let name = format!("{}-{suffix}", pod.name.name);
    Arc::new(Pod {
        uid: name.as_str().into(),
        name: ObjectName::new(Arc::clone(&pod.name.namespace), name),
        node: None,
        unschedulable: false,
        ready: None,
        started: None,
        ..pod.clone()
    })
}

/// The kind of each input, by what was known before it.
fn kinds(inputs: &[(Timestamp, Input)]) -> Vec<Kind> {
    let mut pods: BTreeMap<ObjectName, Arc<Pod>> = BTreeMap::new();
    let mut nodes = BTreeMap::new();
    let kind = |(_, input): &(Timestamp, Input)| match input {
        Input::Applied(Object::Pod(pod), _) => {
            match pods.insert(pod.name.clone(), Arc::clone(pod)) {
                None => Kind::PodAdded,
                Some(before) if before.node != pod.node => Kind::PodBound,
                Some(_) => Kind::PodChanged,
            }
        }
        Input::Deleted(Object::Pod(_), _) => Kind::PodDeleted,
        Input::Applied(Object::Node(node), _) => {
            let before = nodes.insert(node.name.clone(), Arc::clone(node));
            if before.as_ref() == Some(node) {
                Kind::NodeReported
            } else {
                Kind::NodeChanged
            }
        }
        Input::Deleted(Object::Node(_), _) => Kind::NodeDeleted,
        Input::Deleted(Object::Claim(_), _) => Kind::ClaimDeleted,
        Input::Applied(Object::Claim(_), _) => Kind::ClaimChanged,
        Input::Applied(..) | Input::Deleted(..) => Kind::BudgetChanged,
        Input::Outcome(..) => Kind::Outcome,
        Input::Solved(..) => Kind::Plan,
        Input::Considered(..) => Kind::Decision,
        Input::Interrupted(..) => Kind::Interruption,
        Input::Unsolved(_)
        | Input::Unconsidered(_)
        | Input::Synced
        | Input::Catalogues(_)
        | Input::Classes(_)
        | Input::PoliciesChanged
        | Input::Replan
        | Input::Stale(_)
        | Input::Fresh
        | Input::UnreadableClaims(_)
        | Input::Tick => Kind::Timer,
    };
    inputs.iter().map(kind).collect()
}

/// A row for each kind of input: how many there were in the first fleet, microseconds each in every fleet, and those of the last
/// over those of the first.
fn print(title: &str, fleets: &[Measured]) {
    println!("{title}:");
    print!("{:<32}{:>9}", "nodes", "inputs");
    for fleet in fleets {
        print!("{:>9}", fleet.nodes);
    }
    println!("{:>8}", "ratio");
    print!("{:<41}", "pods");
    for fleet in fleets {
        print!("{:>9}", fleet.pods);
    }
    println!();
    let Some(first) = fleets.first() else { return };
    for (kind, taken) in &first.took {
        let micros = fleets.iter().map(|fleet| fleet.took.get(kind));
        let micros = micros.map(|taken| taken.copied().unwrap_or_default().micros());
        row(kind.words(), taken.count, &micros.collect::<Vec<_>>());
    }
    let counts = counted(fleets);
    let mean = fleets.iter().map(|fleet| mean(fleet, &counts));
    let all = counts.values().sum();
    let words = "all but those of decisions";
    row(words, all, &mean.collect::<Vec<_>>());
}

fn row(words: &str, inputs: usize, micros: &[f64]) {
    print!("{words:<32}{inputs:>9}");
    for micros in micros {
        print!("{micros:>9.1}");
    }
    let ratio = micros.first().zip(micros.last());
    println!("{:>8.2}", ratio.map_or(1.0, |(few, many)| many / few));
}

/// How many inputs of each kind the first fleet had, decisions and kinds that another fleet had none of apart.
fn counted(fleets: &[Measured]) -> BTreeMap<Kind, usize> {
    let first = fleets.iter().take(1).flat_map(|fleet| &fleet.took);
    let everywhere = |kind: &Kind| fleets.iter().all(|fleet| fleet.took.contains_key(kind));
    let counted = first.filter(|(kind, _)| !kind.is_of_decisions() && everywhere(kind));
    counted.map(|(kind, taken)| (*kind, taken.count)).collect()
}

/// Microseconds of an input of a fleet, where there are so many of each kind.
fn mean(fleet: &Measured, counts: &BTreeMap<Kind, usize>) -> f64 {
    let took = counts.iter().map(|(kind, count)| {
        let taken = fleet.took.get(kind).copied().unwrap_or_default();
        taken.micros() * *count as f64
    });
    let inputs: usize = counts.values().sum();
    took.sum::<f64>() / inputs.max(1) as f64
}
