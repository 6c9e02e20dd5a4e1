//! Nodes that the scheduler does not use for the pods that they were bought for: after two of them no other is bought.

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::ObjectKey;
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Run, TimedChange};

/// What a pod asks for that shares a node with three others, and one that has it alone.
const QUARTER: i64 = 900;
const WHOLE: i64 = 3500;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn change(second: i64, change: Change) -> TimedChange {
    TimedChange {
        at: at(second),
        change,
    }
}

fn named(name: &str) -> ObjectName {
    ObjectName::new("default", name)
}

/// At a second, a deployment of so many pods of so many milli-cores.
fn deploy(second: i64, name: &str, replicas: u32, cpu: i64) -> TimedChange {
    let template = pod(name).cpu(cpu).memory_mib(100);
    change(
        second,
        Change::Deploy(stage::deployment(&template, replicas)),
    )
}

fn scale(second: i64, name: &str, replicas: u32) -> TimedChange {
    change(second, Change::Scale(named(name), replicas))
}

/// From a second on the scheduler binds so many pods of a deployment, and no more.
fn admit(second: i64, name: &str, most: Option<usize>) -> TimedChange {
    change(second, Change::Admit(named(name), most))
}

/// Nodes of 4 cores, ready after 48 seconds; empty ones go. Three hours.
fn run(changes: Vec<TimedChange>) -> Run<impl Planner> {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2);
    let fixture = cluster()
        .pool(pool("general"))
        .sells(sold.offered(ZONE_1, OnDemand))
        .settings(|all| all.guards.replicas_apart_from = u32::MAX);
    let recording = stage::recording(fixture.parts(), at(0), Some(at(10_800)), changes);
    stage::run(recording, stage::uninterrupted())
}

/// Launches until each of some seconds.
fn launches<P: Planner>(run: &mut Run<P>, seconds: &[i64]) -> Vec<u32> {
    let until = |second: &i64| {
        run.run_until(at(*second));
        run.counts().launches
    };
    seconds.iter().map(until).collect()
}

fn waiting<P: Planner>(run: &Run<P>) -> Vec<String> {
    let waiting = run.pods().filter(|pod| pod.node.is_none());
    waiting.map(|pod| pod.name.name.to_string()).collect()
}

/// Messages to pods for which no other node is bought.
fn told<P: Planner>(run: &mut Run<P>) -> Vec<String> {
    let of_pods = run.take_reports().into_iter().filter(|report| {
        matches!(report.object, ObjectKey::Pod(_)) && report.message.contains("stand unused")
    });
    of_pods.map(|report| report.message).collect()
}

#[test]
fn after_two_nodes_that_stand_unused_no_other_is_bought_and_the_pod_is_told_once() {
    let mut run = run(vec![admit(0, "web", Some(0)), deploy(0, "web", 1, QUARTER)]);
    assert_eq!(launches(&mut run, &[75, 400, 3500]), [1, 2, 2]);
    assert_eq!(run.claims().count(), 0, "unused nodes go as empty");
    let told = told(&mut run);
    let [words] = &told[..] else {
        panic!("once, not {told:?}");
    };
    assert!(
        words.starts_with(
            "gets no other node for now: two nodes that were bought for it stand unused: general-"
        ) && words.ends_with("; the scheduler says: a plugin refuses all nodes"),
        "{words}"
    );
    let card = run.finish();
    let reason = &card.unplaced.first().expect("it waits").reason;
    assert!(reason.contains("stand unused"), "{reason}");
}

#[test]
fn every_hour_one_pod_gets_a_node_to_see_whether_the_reason_is_gone() {
    // Three nodes are bought at once, since one pod fills each.
    let changes = |lifted: Option<i64>| {
        let lifts = lifted.map(|second| admit(second, "web", None));
        let before = [admit(0, "web", Some(0)), deploy(0, "web", 3, WHOLE)];
        before.into_iter().chain(lifts).collect::<Vec<_>>()
    };
    let mut refused = run(changes(None));
    let seen = launches(&mut refused, &[100, 3600, 4200, 7200, 7700]);
    assert_eq!(seen, [3, 3, 4, 4, 5]);
    let mut lifted = run(changes(Some(3000)));
    assert_eq!(launches(&mut lifted, &[100, 3600, 4200]), [3, 3, 6]);
    assert!(waiting(&lifted).is_empty());
}

#[test]
fn a_pod_that_is_bound_late_was_not_refused() {
    // Ready after 48 seconds, judged 20 later; then the first node goes, and the pod is bound to the second.
    for (bound, bought) in [(60, 1), (110, 2)] {
        let mut run = run(vec![
            admit(0, "web", Some(0)),
            deploy(0, "web", 1, WHOLE),
            admit(bound, "web", Some(1)),
            scale(600, "web", 2),
        ]);
        assert_eq!(launches(&mut run, &[590]), [bought], "{bound}");
        assert!(waiting(&run).is_empty(), "{bound}");
        // What was counted before the binding does not count any more.
        assert_eq!(
            launches(&mut run, &[1200, 3600]),
            [bought + 2; 2],
            "{bound}"
        );
    }
}

#[test]
fn a_scheduler_that_is_behind_has_time_for_all_pods_that_wait() {
    let mut run = run(vec![
        admit(0, "web", Some(0)),
        deploy(0, "huge", 1500, 100_000),
        deploy(0, "web", 1, QUARTER),
        admit(90, "web", None),
    ]);
    assert_eq!(launches(&mut run, &[600]), [1]);
    assert!(waiting(&run).iter().all(|name| name.starts_with("huge")));
}

#[test]
fn a_pod_with_another_specification_is_tried_again() {
    let mut run = run(vec![
        admit(0, "web", Some(0)),
        deploy(0, "web", 1, QUARTER),
        deploy(1200, "web", 0, QUARTER + 1),
        scale(1200, "web", 1),
    ]);
    assert_eq!(launches(&mut run, &[1199, 1260, 3500]), [2, 3, 4]);
    assert_eq!(told(&mut run).len(), 2);
}

#[test]
fn other_pods_get_their_nodes() {
    let mut run = run(vec![
        admit(0, "web", Some(0)),
        deploy(0, "web", 1, QUARTER),
        deploy(2400, "api", 1, QUARTER),
    ]);
    assert_eq!(launches(&mut run, &[2399, 2460, 3500]), [2, 3, 3]);
    assert_eq!(told(&mut run).len(), 1, "another plan says nothing new");
    let waiting = waiting(&run);
    assert!(
        waiting.len() == 1 && waiting[0].starts_with("web"),
        "{waiting:?}"
    );
}

#[test]
fn a_node_that_some_of_the_pods_use_was_not_bought_in_vain() {
    let mut run = run(vec![
        admit(0, "web", Some(2)),
        deploy(0, "web", 3, QUARTER),
        admit(3000, "web", None),
        scale(3000, "web", 8),
    ]);
    assert_eq!(launches(&mut run, &[2900, 3500]), [1, 2]);
    assert!(waiting(&run).is_empty());
    assert!(told(&mut run).is_empty());
}

#[test]
fn a_pod_that_is_deleted_speaks_for_nobody() {
    let mut changes = vec![admit(0, "web", Some(0)), deploy(0, "web", 1, QUARTER)];
    for round in 1..4 {
        // The nodes were ready for 15 seconds.
        changes.push(scale(300 * round - 240, "web", 0));
        changes.push(scale(300 * round, "web", 1));
    }
    changes.push(admit(930, "web", None));
    let mut run = run(changes);
    assert_eq!(launches(&mut run, &[290, 590, 890, 1000]), [1, 2, 3, 4]);
    assert!(waiting(&run).is_empty());
}
