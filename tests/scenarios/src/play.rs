//! Playing a script against the simulator.

use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{
    Budget, BudgetReasons, DisruptionLimit, LabelSelector, NodePool, Object, OwnerKind,
    PodDisruptionBudget,
};
use plimsoll_oracles::fixture::{Amounts, CAPACITY_TYPE, cluster, instance_type, is_in, pod, pool};
use plimsoll_sim::{
    Behaviour, Change, Delay, Deployment, Planner, Recording, ReplicaRule, Run, Which,
};
use thiserror::Error;

use crate::observe::Observer;
use crate::read::{Condition, Given, Quantity, Script, Step};
use crate::stage;

/// Price of a node out of a reservation, in dollars per hour: next to nothing, as Karpenter has it.
const PAID_FOR: f64 = 0.000_000_1;

/// An expectation that did not hold, with what was seen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{title}: {expected}, there are {found}\n{transcript}")]
pub struct Failure {
    /// The scenario.
    pub title: String,
    /// The condition that was expected, as the script states it.
    pub expected: String,
    /// The count found instead.
    pub found: u64,
    /// Events until then, a line each.
    pub transcript: String,
}

/// Plays a script with the core's own planner at list prices; the transcript.
pub fn play(script: &Script) -> Result<String, Box<Failure>> {
    let (recording, behaviour) = world(script);
    let start = recording.start;
    let mut player = Player {
        script,
        pools: recording.objects.pools.clone(),
        observer: Observer::new(start),
        start,
        run: stage::run(recording, behaviour),
    };
    player.observer.look(&player.run);
    for step in &script.steps {
        player.step(step)?;
    }
    Ok(player.observer.transcript())
}

/// A disruption budget for the pods of the deployment of its name.
fn disruption_budget(name: &str, limit: DisruptionLimit) -> PodDisruptionBudget {
    PodDisruptionBudget {
        name: ObjectName::new("default", name),
        selector: LabelSelector::match_labels([(&"app".into(), &name.into())]),
        limit,
        always_allow_unhealthy: false,
        disruptions_allowed: 0,
        is_met: false,
    }
}

fn world(script: &Script) -> (Recording, Behaviour) {
    let mut fixture = cluster();
    let mut behaviour = Behaviour {
        interruptions: false,
        ..Behaviour::default()
    };
    let mut deployments: Vec<Deployment> = Vec::new();
    let mut guarded = true;
    let mut budgets: Vec<Budget> = Vec::new();
    for given in &script.given {
        match given {
            Given::Type(name, cpu, memory, price, zones, terms) => {
                let mut listed = instance_type(name).cpu(*cpu).memory_mib(*memory);
                listed = listed.pods(110).no_overhead().price(*price);
                for zone in zones {
                    for terms in terms {
                        listed = listed.offered(zone, *terms);
                    }
                }
                for given in &script.given {
                    if let Given::Reservation(id, left, of, zone) = given
                        && of == name
                    {
                        listed = listed.price(PAID_FOR).reserved(zone, id, *left);
                    }
                }
                fixture = fixture.sells(listed);
            }
            // It is part of its type.
            Given::Reservation(..) => {}
            Given::Pool(name, quiet) => {
                let quiet = *quiet;
                let terms = is_in(CAPACITY_TYPE, &["on-demand", "reserved", "spot"]);
                let pool = pool(name).needs(terms).with(|pool| {
                    pool.disruption.consolidate_after = quiet;
                });
                fixture = fixture.pool(pool);
            }
            Given::StaticPool(name, replicas) => {
                fixture = fixture.pool(pool(name).replicas(*replicas));
                fixture = fixture.settings(|settings| settings.static_capacity = true);
            }
            Given::Deployment(name, replicas, cpu, memory) => {
                let template = pod(name).cpu(*cpu).memory_mib(*memory);
                deployments.push(stage::deployment(&template, *replicas));
            }
            Given::Follows(name, target, least, most) => {
                let rule = ReplicaRule {
                    target: *target,
                    least: *least,
                    most: *most,
                };
                let named = |deployment: &&mut Deployment| *deployment.name.name == **name;
                let deployment = deployments.iter_mut().find(named);
                deployment
                    .expect("a deployment stands before its rule of load")
                    .follows = Some(rule);
            }
            Given::DisruptionBudget(name, limit) => {
                fixture = fixture.disruption_budget(disruption_budget(name, *limit));
            }
            Given::Budget(nodes, window) => budgets.push(Budget {
                nodes: *nodes,
                reasons: BudgetReasons::All,
                schedule: window
                    .as_ref()
                    .map(|(schedule, _)| schedule.as_str().into()),
                duration: window.as_ref().map(|(_, length)| *length),
            }),
            Given::Boot(time) => behaviour.boot = Delay::always(*time),
            Given::GuardsOff => guarded = false,
        }
    }
    let (mut objects, catalogues, mut settings) = fixture.parts();
    if !budgets.is_empty() {
        for pool in &mut objects.pools {
            Arc::make_mut(pool).disruption.budgets.clone_from(&budgets);
        }
    }
    settings.guards.enabled &= guarded;
    let start = Timestamp::from_millis(0);
    let recording = stage::recording(
        (objects, catalogues, settings),
        start,
        None,
        deployments
            .into_iter()
            .map(|deployment| plimsoll_sim::TimedChange {
                at: start,
                change: Change::Deploy(deployment),
            })
            .collect(),
    );
    (recording, behaviour)
}

struct Player<'a, P> {
    script: &'a Script,
    pools: Vec<Arc<NodePool>>,
    observer: Observer,
    start: Timestamp,
    run: Run<P>,
}

impl<P: Planner> Player<'_, P> {
    fn step(&mut self, step: &Step) -> Result<(), Box<Failure>> {
        match step {
            Step::At(time) => {
                let until = self.start + *time;
                self.pass(until, |_| false)?;
            }
            Step::Scale(name, replicas) => {
                let words = format!("-- scale {name} to {replicas}");
                let name = ObjectName::new("default", name.as_str());
                self.change(&words, Change::Scale(name, *replicas))?;
            }
            Step::Load(name, load) => {
                let words = format!("-- load of {name} is {load}");
                let name = ObjectName::new("default", name.as_str());
                self.change(&words, Change::Load(name, *load))?;
            }
            Step::DisruptionBudget(name, limit) => {
                let words = format!("-- pdb {name} changes");
                let budget = Arc::new(disruption_budget(name, *limit));
                self.change(&words, Change::Apply(Object::DisruptionBudget(budget)))?;
            }
            Step::Relabel(name, key, value) => {
                let words = format!("-- pool {name} gets label {key}");
                self.change_pool(&words, name, |pool| {
                    let labels = &mut pool.labels;
                    labels.insert(key.as_str().into(), value.as_str().into());
                })?;
            }
            Step::Keep(name, replicas) => {
                let words = format!("-- pool {name} keeps {replicas}");
                self.change_pool(&words, name, |pool| pool.replicas = Some(*replicas))?;
            }
            Step::LimitNodes(name, most) => {
                let words = format!("-- pool {name} has at most {most}");
                let limits = Resources::new().with(ResourceName::Nodes, i64::from(*most));
                self.change_pool(&words, name, |pool| pool.limits = Some(limits))?;
            }
            Step::Stock(name, terms, left) => {
                let which = Which {
                    instance_type: name.as_str().into(),
                    zone: None,
                    capacity_type: *terms,
                };
                let words = format!("-- stock of {name} {terms} changes");
                self.change(&words, Change::Stock(which, *left))?;
            }
            Step::Interrupt => {
                let oldest = self.run.nodes().min_by_key(|node| node.created);
                if let Some(node) = oldest.map(|node| node.name.clone()) {
                    self.change("-- a node is taken back", Change::Interrupt(node))?;
                }
            }
            Step::Crash => {
                self.observer.say(self.run.now(), "-- crash");
                self.run.crash();
                self.look()?;
            }
            Step::Within(condition, time) => {
                let until = self.run.now() + *time;
                self.pass(until, |run| holds(condition, run))?;
                self.demand(condition, "within", *time)?;
            }
            Step::For(condition, time) => {
                self.demand(condition, "for", *time)?;
                let until = self.run.now() + *time;
                self.pass(until, |run| !holds(condition, run))?;
                self.demand(condition, "for", *time)?;
            }
        }
        Ok(())
    }

    fn change(&mut self, words: &str, change: Change) -> Result<(), Box<Failure>> {
        self.observer.say(self.run.now(), words);
        self.run.change(change);
        self.look()
    }

    fn change_pool(
        &mut self,
        words: &str,
        name: &str,
        change: impl FnOnce(&mut NodePool),
    ) -> Result<(), Box<Failure>> {
        let mut pools = self.pools.iter_mut();
        let pool = pools.find(|pool| pool.name.as_str() == name);
        let pool = pool.expect("a pool stands before it is changed");
        change(Arc::make_mut(pool));
        let pool = Object::Pool(Arc::clone(pool));
        self.change(words, Change::Apply(pool))
    }

    /// Time passes until an instant, or until something is so.
    fn pass(
        &mut self,
        until: Timestamp,
        enough: impl Fn(&Run<P>) -> bool,
    ) -> Result<(), Box<Failure>> {
        while !enough(&self.run) {
            if self.run.next_at().is_none_or(|at| at > until) {
                self.run.run_until(until);
                break;
            }
            self.run.step();
            self.look()?;
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), Box<Failure>> {
        self.observer.look(&self.run);
        for (most, of) in &self.script.never {
            let found = count(of, &self.run);
            if found > *most {
                let expected = format!("never more than {most} {of:?}");
                return Err(Box::new(self.failure(expected, found)));
            }
        }
        Ok(())
    }

    fn demand(&self, condition: &Condition, how: &str, time: Span) -> Result<(), Box<Failure>> {
        let found = count(&condition.of, &self.run);
        if found == condition.count {
            return Ok(());
        }
        let expected = format!(
            "expected {} {:?} {how} {time}",
            condition.count, condition.of
        );
        Err(Box::new(self.failure(expected, found)))
    }

    fn failure(&self, expected: String, found: u64) -> Failure {
        Failure {
            title: self.script.title.clone(),
            expected,
            found,
            transcript: self.observer.transcript(),
        }
    }
}

fn holds<P: Planner>(condition: &Condition, run: &Run<P>) -> bool {
    count(&condition.of, run) == condition.count
}

fn count<P: Planner>(of: &Quantity, run: &Run<P>) -> u64 {
    let label = plimsoll_base::labels::INSTANCE_TYPE;
    let pods = || {
        run.pods()
            .filter(|pod| pod.is_active() && !pod.is_owned_by(OwnerKind::DaemonSet))
    };
    let many = match of {
        Quantity::Nodes => run.nodes().count(),
        Quantity::NodesOf(name) => run
            .nodes()
            .filter(|node| node.label(label).is_some_and(|have| **have == **name))
            .count(),
        Quantity::ReservedNodes => run
            .nodes()
            .filter(|node| {
                node.label(CAPACITY_TYPE)
                    .is_some_and(|have| **have == *"reserved")
            })
            .count(),
        Quantity::Claims => run.claims().count(),
        Quantity::Instances => run.instance_count(),
        Quantity::Running => pods().filter(|pod| pod.node.is_some()).count(),
        Quantity::Waiting => pods().filter(|pod| pod.node.is_none()).count(),
        Quantity::Launches => return u64::from(run.counts().launches),
        Quantity::Refusals => return u64::from(run.counts().launch_failures),
        Quantity::Evictions => return u64::from(run.counts().evictions),
        Quantity::Decisions => return u64::from(run.counts().decisions),
    };
    many as u64
}
