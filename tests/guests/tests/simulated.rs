//! Modules that decide through whole simulated runs: what a cluster comes to under them.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use plimsoll_base::ids::ObjectName;
use plimsoll_base::labels::CAPACITY_TYPE;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::candidate::Candidate;
use plimsoll_disrupt::moves::Move;
use plimsoll_disrupt::pass::{DisruptionPass, Proposal};
use plimsoll_disrupt::{confirm, consolidate};
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_hooks::score::MoveKind;
use plimsoll_model::action::ConsiderRequest;
use plimsoll_model::command::DisruptionQuestion;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{Node, OwnerKind};
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, OnDemand, Spot, ZONE_1, ZONE_2, cluster, instance_type, is_in, pod,
    pool,
};
use plimsoll_policy::{ConsolidationModule, Engine, EngineSettings, Generation, Policies, score};
use plimsoll_scenarios::stage;
use plimsoll_schedule::Session;
use plimsoll_sim::{
    Behaviour, Change, Considered, Planned, Planner, Random, Recording, Run, TimedChange,
};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Modules decide.
struct Modules {
    generation: Generation,
    session: Session,
    faults: Vec<String>,
}

impl Planner for &mut Modules {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        let decision = self.generation.plan(snapshot, &self.session);
        let faults = decision.faults.iter().map(|(_, fault)| fault.to_string());
        self.faults.extend(faults);
        decision.plan.into()
    }

    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        let generation = &self.generation;
        let (snapshot, question) = (&request.snapshot, &request.question);
        let considered = generation.consider(snapshot, question, &self.session);
        self.faults.extend(considered.notes);
        considered.decision.into()
    }
}

/// A deployment, and how many replicas it has from each instant on.
struct Service {
    name: String,
    cpu: i64,
    memory: i64,
    scales: Vec<(i64, u32)>,
}

impl Service {
    fn changes(&self) -> Vec<TimedChange> {
        let template = pod(&self.name).cpu(self.cpu).memory_mib(self.memory);
        let template = template.owned_by(OwnerKind::ReplicaSet, &self.name);
        let name = ObjectName::new("default", self.name.clone());
        let deploy = Change::Deploy(stage::deployment(&template, 1));
        let begin = TimedChange {
            at: at(0),
            change: deploy,
        };
        let scale = |(when, replicas): &(i64, u32)| TimedChange {
            at: at(*when),
            change: Change::Scale(name.clone(), *replicas),
        };
        let scales = self.scales.iter().map(scale);
        std::iter::once(begin).chain(scales).collect()
    }
}

/// Types by name, cores, mebibytes and dollars per hour on demand; spot at four tenths of it.
fn recording(types: &[(&str, i64, i64, f64)], services: &[Service], end: i64) -> Recording {
    let general = pool("general").needs(is_in(CAPACITY_TYPE, &["spot", "on-demand"]));
    let general = general.with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(60));
        pool.disruption.budgets.clear();
    });
    let sold = types.iter().map(|(name, cores, memory, price)| {
        let listed = instance_type(name).cpu(cores * 1000).memory_mib(*memory);
        let listed = listed.pods(58).no_overhead().price(*price);
        let listed = listed.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand);
        let listed = listed.price(price * 0.4).offered(ZONE_1, Spot);
        listed.offered(ZONE_2, Spot)
    });
    let fixture = sold.fold(cluster().pool(general), ClusterFixture::sells);
    let mut changes: Vec<TimedChange> = services.iter().flat_map(Service::changes).collect();
    changes.sort_by_key(|change| change.at);
    stage::recording(fixture.parts(), at(0), Some(at(end)), changes)
}

fn behaviour() -> Behaviour {
    stage::uninterrupted()
}

/// The module that keeps half of two types on demand, below a price.
fn halves() -> Modules {
    let types = ["t2.small", "t3.small"].map(str::to_owned).to_vec();
    let settings = PolicySettings::from([
        ("max_price".to_owned(), Setting::Number(0.2)),
        ("types".to_owned(), Setting::Texts(types)),
        ("on_demand_share".to_owned(), Setting::Number(0.5)),
        ("at_once".to_owned(), Setting::Number(4.0)),
    ]);
    let bytes = plimsoll_policies::ranking("mixed-instances").unwrap().bytes;
    let policies = Policies {
        rank: Some(ENGINE.accept(bytes, &settings).unwrap()),
        ..Policies::default()
    };
    Modules {
        generation: Generation::first(policies),
        session: Session::default(),
        faults: Vec::new(),
    }
}

fn is_half(own: f64, all: f64) -> bool {
    (own / all - 0.5).abs() <= 0.05
}

/// C12: two types below a price, no base, half of what runs on demand, while the load triples, halves and rises again, and
/// nodes go when it falls.
#[test]
fn mixed_instances_keep_half_of_a_simulated_cluster_on_demand() {
    let types = [
        ("t2.small", 1, 2048, 0.023),
        ("t3.small", 2, 2048, 0.0208),
        ("m5.large", 2, 8192, 0.096),
        ("m5.4xlarge", 16, 65_536, 0.768),
    ];
    let levels = [40, 60, 90, 120, 80, 60, 90, 120];
    let scales = (0..).zip(levels);
    let web = Service {
        name: "web".to_owned(),
        cpu: 450,
        memory: 900,
        scales: scales
            .map(|(hour, pods)| (hour * HOUR + MINUTE, pods))
            .collect(),
    };
    let mut modules = halves();
    let recording = recording(&types, &[web], 8 * HOUR);
    let mut run = Run::new(recording, behaviour(), &mut modules);
    for quarter in 3..=32 {
        run.run_until(at(quarter * 15 * MINUTE));
        let label = |node: &Arc<Node>| node.labels.get(CAPACITY_TYPE).cloned();
        let terms: Vec<_> = run.nodes().filter_map(label).collect();
        let own = terms.iter().filter(|terms| terms.as_ref() == "on-demand");
        let (own, all) = (own.count() as f64, terms.len() as f64);
        assert!(is_half(own, all), "{own} of {all} in quarter {quarter}");
    }
    let card = run.finish();
    assert_eq!(modules.faults, Vec::<String>::new());
    assert_eq!(card.unplaced_count, 0);
    assert!(card.begun.nodes > 0, "{:?}", card.begun);
    let (mut own, mut all) = (0, 0);
    for hours in &card.node_hours {
        assert!(
            hours.instance_type.as_str().rsplit('.').next() == Some("small"),
            "{hours:?}"
        );
        all += hours.thousandths;
        if hours.capacity_type.as_str() == "on-demand" {
            own += hours.thousandths;
        }
    }
    assert!(is_half(own as f64, all as f64), "{own} of {all}");
}

/// Takes nodes away as the module says, and holds every pass against the rule.
struct ScaleDown {
    module: ConsolidationModule,
    removed: usize,
    wrong: Vec<String>,
}

impl ScaleDown {
    /// Nodes that the rule lets go, by row: at most half used, there and unchanged for ten minutes, and with another place for each
    /// of their pods.
    fn by_rule(snapshot: &Snapshot, pass: &DisruptionPass<'_>) -> BTreeSet<usize> {
        let excluded = consolidate::excluded(snapshot);
        let fit = pass.graceful.iter().filter(|candidate| {
            consolidate::fits_consolidation(snapshot, candidate).is_ok()
                && is_unneeded(snapshot, candidate.row)
                && fits_elsewhere(snapshot, candidate.row, &excluded)
        });
        fit.map(|candidate| candidate.row).collect()
    }

    fn values(
        &mut self,
        snapshot: &Snapshot,
        pass: &DisruptionPass<'_>,
        proposal: &Proposal<'_, '_>,
    ) -> Vec<PricePerHour> {
        let question = proposal.score_question().unwrap();
        let scored = score(&self.module, &question);
        let rows = scored.verdicts.rows.iter();
        let values: Vec<PricePerHour> = rows.map(|verdict| verdict.value).collect();
        let alone = |found: &Move| found.members.len() == 1 && found.kind == MoveKind::Delete;
        let found = proposal.moves.iter().zip(&values);
        let worth = found.filter(|(found, value)| **value > PricePerHour::ZERO && alone(found));
        let ours: BTreeSet<usize> = worth.map(|(found, _)| found.members[0]).collect();
        let theirs = Self::by_rule(snapshot, pass);
        if ours != theirs {
            let names = |rows: &BTreeSet<usize>| -> Vec<String> {
                let names = rows
                    .iter()
                    .map(|row| snapshot.nodes[*row].name().to_owned());
                names.collect()
            };
            let (now, ours, theirs) = (snapshot.now, names(&ours), names(&theirs));
            self.wrong
                .push(format!("{now:?}: {ours:?} go, the rule says {theirs:?}"));
        }
        values
    }
}

impl Planner for &mut ScaleDown {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        plimsoll_schedule::plan(snapshot).into()
    }

    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        let snapshot = &request.snapshot;
        let decision = match &request.question {
            DisruptionQuestion::Pass { consolidate } => {
                let pass = DisruptionPass::at(snapshot, *consolidate);
                let proposal = pass.propose();
                let is_idle = |candidate: &Candidate| {
                    candidate.cost.is_of_empty()
                        && consolidate::fits_emptiness(snapshot, candidate).is_ok()
                };
                let waits = snapshot.pods.iter().any(|pod| pod.node.is_none());
                let idle = pass.graceful.iter().any(is_idle);
                let searched = *consolidate && !idle && !waits;
                let values = if searched {
                    self.values(snapshot, &pass, &proposal)
                } else {
                    vec![PricePerHour::ZERO; proposal.moves.len()]
                };
                let decision = proposal.decide(Some(&values));
                self.removed += if searched { decision.commands.len() } else { 0 };
                decision
            }
            DisruptionQuestion::Confirm(command) => {
                confirm::confirm(&DisruptionPass::at(snapshot, false), command)
            }
        };
        decision.into()
    }
}

const TEN_MINUTES: Span = Span::from_secs(600);

fn requests(snapshot: &Snapshot, row: usize) -> Resources {
    let name = snapshot.nodes[row].node.as_ref().map(|node| &node.name);
    let mut sum = Resources::new();
    for pod in snapshot.pods.iter().filter(|pod| pod.node.as_ref() == name) {
        sum.add(&pod.spec.requests);
    }
    sum
}

/// At most half of its processors and memory asked for, and nothing has happened there for ten minutes.
fn is_unneeded(snapshot: &Snapshot, row: usize) -> bool {
    let node = &snapshot.nodes[row];
    let (asked, has) = (requests(snapshot, row), node.allocatable());
    let half = |of: &ResourceName| 2 * asked.get(of) <= has.get(of);
    let claim = node.claim.as_ref().unwrap();
    let event = snapshot.activity.pod_events.get(&claim.name);
    let since = event
        .copied()
        .unwrap_or(claim.phase_since())
        .max(claim.created);
    half(&ResourceName::Cpu) && half(&ResourceName::Memory) && snapshot.now >= since + TEN_MINUTES
}

/// `true` if each of a node's pods, all of one size, finds room on some other node.
fn fits_elsewhere(snapshot: &Snapshot, row: usize, excluded: &[usize]) -> bool {
    let name = snapshot.nodes[row].node.as_ref().map(|node| &node.name);
    let mut own = snapshot.pods.iter().filter(|pod| pod.node.as_ref() == name);
    let count = own.clone().count();
    let Some(one) = own.next() else {
        return false;
    };
    let room = |other: usize| {
        let node = &snapshot.nodes[other];
        if other == row || node.is_deleting() || excluded.contains(&other) {
            return 0;
        }
        let free = node.allocatable().minus(&requests(snapshot, other));
        let fit = [ResourceName::Cpu, ResourceName::Memory, ResourceName::Pods].map(|of| {
            let asked = one.spec.requests.get(&of).max(1);
            usize::try_from(free.get(&of) / asked).unwrap_or(0)
        });
        fit.into_iter().min().unwrap_or(0)
    };
    (0..snapshot.nodes.len()).map(room).sum::<usize>() >= count
}

/// C13: over a day of services that come and go, each pass finds the very nodes that the rule of the node group's autoscaler lets
/// go, and they go. The recording is made from a seed.
#[test]
fn the_nodes_that_the_utilisation_rule_lets_go_are_those_removed() {
    let random = Random::new(13);
    let service = |number: u64| {
        let scale = |step: i64| {
            let replicas = random.below("replicas", (number, step), 12);
            let minute = i64::try_from(random.below("minute", (number, step), 40)).unwrap();
            (
                step * 80 * MINUTE + minute * MINUTE,
                u32::try_from(replicas).unwrap(),
            )
        };
        Service {
            name: format!("app{number}"),
            cpu: 500,
            memory: 900,
            scales: (0..18).map(scale).collect(),
        }
    };
    let services: Vec<Service> = (0..8).map(service).collect();
    let types = [("m5.xlarge", 4, 16_384, 0.192)];
    let bytes = plimsoll_policies::consolidation("utilisation")
        .unwrap()
        .bytes;
    let mut rule = ScaleDown {
        module: ENGINE
            .accept_as::<ConsolidationModule>(bytes, &PolicySettings::new())
            .unwrap(),
        removed: 0,
        wrong: Vec::new(),
    };
    let recording = recording(&types, &services, 24 * HOUR);
    let card = Run::new(recording, behaviour(), &mut rule).finish();
    assert!(rule.wrong.is_empty(), "{:#?}", rule.wrong);
    assert!(rule.removed >= 20, "{}", rule.removed);
    let replaced = card.ledger.iter().filter(|one| one.replacements > 0);
    assert_eq!(replaced.count(), 0);
    assert_eq!(card.unplaced_count, 0);
}
