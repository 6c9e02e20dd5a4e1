//! Status of a pool as people read it: its conditions, and what its nodes have.

use plimsoll_base::labels::Labels;
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::provider::ClassStatus;
use plimsoll_model::{
    Condition, ConditionStatus, ConditionType, Effect, NodePool, Object, template_hash,
};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PoolFixture, ZONE_1, cluster, instance_type, pod, pool,
};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Behaviour, Change, Delay, Planner, Run};

const MINUTE: i64 = 60;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// A pool, and so many pods that fill a node of 4 cpu each.
fn run(own: PoolFixture, pods: u32, behaviour: Behaviour) -> Run<impl Planner> {
    let full = instance_type("full").cpu(4000).memory_mib(16_384);
    let full = full.pods(110).no_overhead().price(0.2);
    let fixture = cluster().pool(own).sells(full.offered(ZONE_1, OnDemand));
    let recording = stage::recording(fixture.parts(), at(0), None, Vec::new());
    let mut run = stage::run(recording, behaviour);
    scale(&mut run, pods);
    run
}

fn scale<P: Planner>(run: &mut Run<P>, replicas: u32) {
    let web = pod("web").cpu(3500).memory_mib(512);
    run.change(Change::Deploy(stage::deployment(&web, replicas)));
}

fn general() -> PoolFixture {
    pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
        pool.disruption.budgets.clear();
    })
}

fn own<P: Planner>(run: &Run<P>) -> &NodePool {
    run.pool("general").expect("it is there")
}

/// A condition of the pool: status, reason and words.
fn said<P: Planner>(run: &Run<P>, kind: ConditionType) -> (ConditionStatus, String, String) {
    let condition = own(run).status.conditions.get(kind);
    let condition = condition.expect("it is said");
    let (reason, message) = (condition.reason.to_string(), condition.message.to_string());
    (condition.status, reason, message)
}

#[test]
fn a_pool_tells_that_it_can_be_used_and_what_its_nodes_have() {
    let mut run = run(general(), 2, stage::uninterrupted());
    run.run_until(at(5 * MINUTE));
    for kind in [
        ConditionType::ValidationSucceeded,
        ConditionType::NodeClassReady,
        ConditionType::NodeRegistrationHealthy,
        ConditionType::Ready,
    ] {
        let own = (ConditionStatus::True, kind.to_string(), String::new());
        assert_eq!(said(&run, kind), own);
    }
    let status = &own(&run).status;
    let cpu = |run: &Run<_>| own(run).status.resources.get(&ResourceName::Cpu);
    assert_eq!((status.nodes, status.class_generation), (Some(2), Some(1)));
    assert_eq!(cpu(&run), 8000);
    let before = run.version();
    run.run_until(at(20 * MINUTE));
    assert_eq!(run.version(), before, "nothing is written at rest");
    scale(&mut run, 0);
    run.run_until(at(30 * MINUTE));
    assert_eq!(own(&run).status.nodes, Some(0));
    assert_eq!(cpu(&run), 0);
    assert!(own(&run).status.resources.contains(&ResourceName::Memory));
}

#[test]
fn a_pool_and_its_claims_bear_the_hash_of_its_template_as_it_is() {
    let owned = |owner: &str| {
        general().with(|pool| {
            let owner = ("example.com/owner".into(), owner.into());
            pool.annotations.extend([owner]);
        })
    };
    let mut run = run(owned("shop"), 1, stage::uninterrupted());
    let mut hashes = Vec::new();
    for (minute, owner) in [(5, "shop"), (30, "bank")] {
        run.change(Change::Apply(Object::Pool(owned(owner).build())));
        run.run_until(at(minute * MINUTE));
        let hash: Labels = template_hash::annotations(own(&run)).into();
        let bears = |own: &Labels| hash.iter().all(|(key, value)| own.get(key) == Some(value));
        assert!(bears(&own(&run).status.memory), "{owner}");
        let claims: Vec<bool> = run
            .claims()
            .map(|claim| bears(&claim.annotations))
            .collect();
        assert_eq!(claims, [true], "{owner}");
        let owners = run
            .nodes()
            .map(|node| &*node.annotations["example.com/owner"]);
        assert_eq!(owners.collect::<Vec<&str>>(), [owner]);
        hashes.push(hash);
    }
    assert_ne!(hashes[0], hashes[1]);
}

#[test]
fn a_pool_whose_class_is_missing_says_so_and_is_not_used_until_it_is_there() {
    let mut run = run(general(), 0, stage::uninterrupted());
    run.hand_in(&Input::Classes(Vec::new()));
    scale(&mut run, 1);
    run.run_until(at(10 * MINUTE));
    assert_eq!(run.claims().count(), 0);
    let (status, reason, words) = said(&run, ConditionType::NodeClassReady);
    assert_eq!(status, ConditionStatus::False);
    assert_eq!(reason, "NodeClassNotFound");
    let class = &own(&run).class;
    assert_eq!(
        words,
        format!("{} {} does not exist", class.kind, class.name)
    );
    let (status, reason, words) = said(&run, ConditionType::Ready);
    assert_eq!(status, ConditionStatus::False);
    assert_eq!(
        (&*reason, &*words),
        ("UnhealthyDependents", "NodeClassReady=False")
    );
    // Another process has the classes as they are.
    run.crash();
    run.run_until(at(12 * MINUTE));
    assert_eq!(said(&run, ConditionType::Ready).0, ConditionStatus::True);
    assert_eq!(run.claims().count(), 1);
}

/// The class of a pool as the provider tells of it.
fn class(ready: Option<(ConditionStatus, &str, &str)>, deleting: bool) -> ClassStatus {
    let ready = ready.map(|(status, reason, message)| Condition {
        status,
        reason: reason.into(),
        message: message.into(),
        since: at(0),
        generation: None,
    });
    ClassStatus {
        generation: 1,
        deleting,
        ready,
    }
}

#[test]
fn a_pool_whose_class_goes_or_is_not_ready_says_why_and_buys_nothing() {
    let holds = (ConditionStatus::True, "Ready", "");
    let fails = (
        ConditionStatus::False,
        "SubnetsNotFound",
        "no subnet bears the label",
    );
    let unknown = (ConditionStatus::Unknown, "Awaiting", "");
    for (status, reason, words) in [
        (
            class(Some(holds), true),
            "NodeClassTerminating",
            "is being deleted",
        ),
        (
            class(Some(fails), false),
            "SubnetsNotFound",
            "is not ready: no subnet bears the label",
        ),
        (
            class(Some(unknown), false),
            "NodeClassReadinessUnknown",
            "does not say whether it is ready",
        ),
        (
            class(None, false),
            "NodeClassReadinessUnknown",
            "does not say whether it is ready",
        ),
    ] {
        let mut run = run(general(), 0, stage::uninterrupted());
        let named = own(&run).class.clone();
        run.hand_in(&Input::Classes(vec![(named.clone(), status)]));
        scale(&mut run, 1);
        run.run_until(at(10 * MINUTE));
        assert_eq!(run.claims().count(), 0, "{reason}");
        let own = (ConditionStatus::False, reason.to_owned());
        let (status, told, sentence) = said(&run, ConditionType::NodeClassReady);
        assert_eq!((status, told), own);
        let expected = format!("{} {} {words}", named.kind, named.name);
        assert_eq!(sentence, expected);
        assert_eq!(said(&run, ConditionType::Ready).0, ConditionStatus::False);
    }
}

/// As for Karpenter: the provider launches nothing until the class was looked at again, which takes a moment.
#[test]
fn a_pool_whose_class_has_just_changed_is_ready_by_its_last_word() {
    let mut run = run(general(), 0, stage::uninterrupted());
    let named = own(&run).class.clone();
    let mut status = class(Some((ConditionStatus::True, "Ready", "")), false);
    status.generation = 2;
    let ready = status.ready.as_mut().expect("a condition");
    ready.generation = Some(1);
    run.hand_in(&Input::Classes(vec![(named, status)]));
    run.run_until(at(MINUTE));
    let (status, reason, _) = said(&run, ConditionType::NodeClassReady);
    assert_eq!(
        (status, &*reason),
        (ConditionStatus::True, "NodeClassReady")
    );
    assert_eq!(own(&run).status.class_generation, Some(2));
}

#[test]
fn a_pool_whose_limits_are_below_what_it_has_keeps_its_nodes_and_buys_no_more() {
    let mut run = run(general(), 2, stage::uninterrupted());
    run.run_until(at(5 * MINUTE));
    assert_eq!(run.claims().count(), 2);
    let bounded = general().limit(ResourceName::Cpu, 4000);
    run.change(Change::Apply(Object::Pool(bounded.build())));
    scale(&mut run, 3);
    run.run_until(at(30 * MINUTE));
    assert_eq!(run.claims().count(), 2);
    let running = run.pods().filter(|pod| pod.node.is_some());
    assert_eq!(running.count(), 2, "nothing was moved either");
}

#[test]
fn a_pool_that_cannot_be_followed_says_why_and_is_not_used() {
    let twice = general()
        .taint("team", "a", Effect::NoSchedule)
        .startup_taint("team", "b", Effect::NoSchedule);
    let mut run = run(twice, 0, stage::uninterrupted());
    let tolerant = pod("web").cpu(3500).memory_mib(512).tolerates_all();
    run.change(Change::Deploy(stage::deployment(&tolerant, 1)));
    run.run_until(at(10 * MINUTE));
    assert_eq!(run.claims().count(), 0);
    let (status, reason, words) = said(&run, ConditionType::ValidationSucceeded);
    assert_eq!(status, ConditionStatus::False);
    assert_eq!(reason, "NodePoolValidationFailed");
    let expected = "spec.template.spec.startupTaints: team:NoSchedule is given twice; expected each key and effect once";
    assert_eq!(words, expected);
    // Put right, it is another generation.
    let generation = own(&run).status.generation;
    let right = general().taint("team", "a", Effect::NoSchedule);
    run.change(Change::Apply(Object::Pool(right.build())));
    run.run_until(at(12 * MINUTE));
    assert_eq!(own(&run).status.generation, generation + 1);
    assert_eq!(said(&run, ConditionType::Ready).0, ConditionStatus::True);
    assert_eq!(run.claims().count(), 1);
}

#[test]
fn nodes_that_do_not_join_are_told_and_stay_told_after_a_restart() {
    let never = Behaviour {
        boot: Delay::always(Span::from_secs(24 * 3600)),
        ..stage::uninterrupted()
    };
    let mut run = run(general(), 2, never);
    let health = ConditionType::NodeRegistrationHealthy;
    run.run_until(at(10 * MINUTE));
    assert_eq!(said(&run, health).0, ConditionStatus::Unknown);
    run.run_until(at(17 * MINUTE));
    let (status, reason, words) = said(&run, health);
    assert_eq!(
        (status, &*reason),
        (ConditionStatus::False, "RegistrationFailed")
    );
    assert!(words.contains("did not join in time"), "{words}");
    assert_eq!(said(&run, ConditionType::Ready).0, ConditionStatus::True);
    run.crash();
    run.run_until(at(20 * MINUTE));
    assert_eq!(said(&run, health), (status, reason, words));
}
