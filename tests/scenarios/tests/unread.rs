//! Pools and claims of which a part is not understood, as one that a newer version wrote: nothing is launched for them and no node of
//! theirs is disrupted, while they are terminated and counted as ever; and all of it goes on once they are understood.

use std::sync::Arc;

use plimsoll_base::labels::{Labels, NODEPOOL};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{
    Budget, BudgetNodes, ConditionStatus, ConditionType, NodeClaim, NodePool, Object, Unread,
};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PoolFixture, ZONE_1, cluster, instance_type, pod, pool,
};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Run};

const MINUTE: i64 = 60;
const PROBLEM: &str = "spec.template.spec.requirements[0].operator is \"Near\"; expected In";

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(minutes * MINUTE * 1000)
}

fn general() -> PoolFixture {
    pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
        pool.disruption.budgets.clear();
        pool.limits = Some(Resources::new().with(ResourceName::Cpu, 8000));
    })
}

/// The same pool after a change that this version does not understand: what could not be read is left out of it.
fn not_understood() -> PoolFixture {
    general().with(|pool| {
        pool.ready = false;
        pool.limits = None;
        pool.unread.problem = Some(Arc::from(PROBLEM));
        pool.labels = Labels::from([("team".into(), "shop".into())]);
    })
}

/// Two nodes of a pool, each filled by a pod.
fn run() -> Run<impl Planner> {
    let full = instance_type("full").cpu(4000).memory_mib(16_384);
    let full = full.pods(110).no_overhead().price(0.2);
    let fixture = cluster()
        .pool(general())
        .sells(full.offered(ZONE_1, OnDemand));
    let recording = stage::recording(fixture.parts(), at(0), None, Vec::new());
    let mut run = stage::run(recording, stage::uninterrupted());
    scale(&mut run, 2);
    run.run_until(at(10));
    assert_eq!(run.nodes().count(), 2);
    run
}

fn scale<P: Planner>(run: &mut Run<P>, replicas: u32) {
    let web = pod("web").cpu(3500).memory_mib(512);
    run.change(Change::Deploy(stage::deployment(&web, replicas)));
}

fn apply<P: Planner>(run: &mut Run<P>, pool: PoolFixture) {
    run.change(Change::Apply(Object::Pool(pool.build())));
}

fn own<P: Planner>(run: &Run<P>) -> &NodePool {
    run.pool("general").expect("it is there")
}

fn valid<P: Planner>(run: &Run<P>) -> (ConditionStatus, String) {
    let said = own(run)
        .status
        .conditions
        .get(ConditionType::ValidationSucceeded);
    let said = said.expect("it is said");
    (said.status, said.message.to_string())
}

#[test]
fn a_pool_that_is_not_understood_launches_nothing_and_keeps_its_nodes() {
    let mut run = run();
    let hash: Labels = own(&run).status.memory.clone();
    apply(&mut run, not_understood());
    scale(&mut run, 0);
    run.run_until(at(60));
    assert_eq!(valid(&run), (ConditionStatus::False, PROBLEM.to_owned()));
    assert_eq!(run.nodes().count(), 2, "empty nodes stay");
    let is_same = |claim: &Arc<NodeClaim>| claim.drifted().is_none();
    assert!(
        run.claims().all(is_same),
        "what is not understood is no drift"
    );
    assert_eq!(own(&run).status.memory, hash, "nor has it another hash");
    // Pods find their places on nodes that are there, and nothing is bought for the third, though limits would allow it.
    scale(&mut run, 3);
    run.run_until(at(70));
    assert_eq!(run.nodes().count(), 2);
    apply(&mut run, general().with(|pool| pool.limits = None));
    run.run_until(at(80));
    assert_eq!(valid(&run), (ConditionStatus::True, String::new()));
    assert_eq!(run.nodes().count(), 3);
    scale(&mut run, 0);
    run.run_until(at(120));
    assert_eq!(run.nodes().count(), 0);
}

#[test]
fn nodes_of_a_pool_that_is_not_understood_are_terminated_when_they_are_deleted() {
    let mut run = run();
    apply(&mut run, not_understood());
    run.run_until(at(20));
    let claim = run.claims().next().expect("a claim");
    let mut claim = NodeClaim::clone(claim);
    claim.deleting = Some(at(20));
    run.change(Change::Apply(Object::Claim(Arc::new(claim))));
    run.run_until(at(40));
    assert_eq!(
        run.nodes().count(),
        1,
        "one has gone and none comes for its pod"
    );
    assert!(run.nodes().all(|node| node.label(NODEPOOL).is_some()));
}

#[test]
fn what_is_ignored_of_a_pool_is_named_while_it_serves() {
    let part = "spec.pace is not known to this version and is ignored";
    let mut run = run();
    let newer = general().with(|pool| {
        pool.limits = None;
        pool.unread = Unread {
            problem: None,
            ignored: vec![Arc::from(part)],
        };
    });
    apply(&mut run, newer);
    scale(&mut run, 3);
    run.run_until(at(20));
    assert_eq!(valid(&run), (ConditionStatus::True, part.to_owned()));
    assert_eq!(run.nodes().count(), 3);
}

/// As for Karpenter: the pool serves, and its budgets allow nothing.
#[test]
fn a_budget_whose_schedule_cannot_be_read_is_named_with_its_effect_while_the_pool_serves() {
    let budget = |schedule: &str| Budget {
        schedule: Some(schedule.into()),
        duration: Some(Span::from_secs(3600)),
        ..Budget::always(BudgetNodes::Count(1))
    };
    let odd = |schedules: &[&str]| {
        let budgets = schedules.iter().copied().map(budget).collect();
        general().with(|pool| pool.disruption.budgets = budgets)
    };
    let effect = ": the budget counts as 0, and no node of the NodePool is disrupted voluntarily";
    let mut run = run();
    apply(&mut run, odd(&["@daily", "61 25 * * *"]));
    run.run_until(at(20));
    let said = "spec.disruption.budgets[1].schedule is \"61 25 * * *\" (the minute is \"61\"); expected 0 to 59";
    assert_eq!(
        valid(&run),
        (ConditionStatus::True, format!("{said}{effect}"))
    );
    apply(&mut run, odd(&["@dailyX"]));
    run.run_until(at(30));
    let said = "spec.disruption.budgets[0].schedule is \"@dailyX\"; expected five fields or a macro such as @daily";
    assert_eq!(
        valid(&run),
        (ConditionStatus::True, format!("{said}{effect}"))
    );
    scale(&mut run, 0);
    run.run_until(at(60));
    assert_eq!(run.nodes().count(), 2, "no empty node is disrupted");
    apply(&mut run, general());
    run.run_until(at(90));
    assert_eq!(valid(&run), (ConditionStatus::True, String::new()));
    assert_eq!(run.nodes().count(), 0);
}
