//! Two classes of nodes with other kubelet settings, from plan to node: what is planned, launched and learned goes by a pool's own.

use std::collections::BTreeMap;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::Timestamp;
use plimsoll_oracles::fixture::*;
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Run, TimedChange, Which};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// A type of 8 cores and 32 GiB for 58 pods.
fn roomy() -> TypeFixture {
    let sold = instance_type("m").cpu(8000).memory_mib(32_768).pods(58);
    sold.no_overhead().price(1.0).offered(ZONE_1, OnDemand)
}

/// The same where the kubelet takes four pods and keeps 8 GiB back.
fn lean() -> TypeFixture {
    roomy()
        .pods(4)
        .overhead(ResourceName::Memory, 8192 * MEBIBYTE)
}

/// At a second, so many pods of a pool, each of so many mebibytes.
fn deploy(second: i64, of: &str, replicas: u32, memory_mib: i64) -> TimedChange {
    let template = pod(&format!("{of}-{second}"))
        .cpu(100)
        .memory_mib(memory_mib);
    let deployment = stage::deployment(&template.select(NODEPOOL, of), replicas);
    TimedChange {
        at: at(second),
        change: Change::Deploy(deployment),
    }
}

/// A pool of each class, called as its class; nodes lack some thousandths of the memory that was computed.
fn run(lacking: u32, changes: Vec<TimedChange>) -> Run<impl Planner> {
    let fixture = cluster()
        .sells(roomy())
        .class_sells("lean", lean())
        .pool(pool("roomy").class("roomy"))
        .pool(pool("lean").class("lean"))
        .settings(|all| all.guards.replicas_apart_from = u32::MAX);
    let recording = stage::recording(fixture.parts(), at(0), Some(at(7200)), changes);
    stage::run(recording, stage::lacking(lacking))
}

/// Pods that each node of a pool has room for, by pool.
fn nodes<P: Planner>(run: &Run<P>) -> BTreeMap<String, Vec<i64>> {
    let mut result: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for node in run.nodes() {
        let pool = node.labels.get(NODEPOOL).map(ToString::to_string);
        let room = node.allocatable.get(&ResourceName::Pods);
        result
            .entry(pool.unwrap_or_default())
            .or_default()
            .push(room);
    }
    result
}

fn expected(pools: [(&str, &[i64]); 2]) -> BTreeMap<String, Vec<i64>> {
    let owned = |(pool, room): (&str, &[i64])| (pool.to_owned(), room.to_vec());
    pools.map(owned).into()
}

#[test]
fn nodes_come_up_as_large_as_their_class_says_and_all_pods_run_where_they_were_planned() {
    let changes = vec![deploy(0, "roomy", 9, 64), deploy(0, "lean", 9, 64)];
    let mut run = run(0, changes);
    run.run_until(at(300));
    assert!(run.pods().all(|pod| pod.node.is_some()));
    let rooms = [("lean", &[4, 4, 4][..]), ("roomy", &[58][..])];
    assert_eq!(nodes(&run), expected(rooms));
    assert_eq!(run.counts().launches, 4);
}

#[test]
fn an_engine_that_starts_anew_reads_claims_by_their_classes() {
    let changes = vec![deploy(0, "lean", 4, 64), deploy(20, "lean", 4, 64)];
    let mut run = run(0, changes);
    // The first claim is launched and its node has not come up.
    run.run_until(at(10));
    run.crash();
    run.run_until(at(300));
    assert!(run.pods().all(|pod| pod.node.is_some()));
    assert_eq!(run.counts().launches, 2);
}

#[test]
fn a_price_and_a_stock_are_those_of_the_cloud_whatever_the_class() {
    let which = Which {
        instance_type: "m".into(),
        zone: None,
        capacity_type: OnDemand,
    };
    let soon = |second: i64, change: Change| TimedChange {
        at: at(second),
        change,
    };
    let none = soon(1, Change::Stock(which.clone(), Some(0)));
    let again = soon(600, Change::Stock(which, None));
    let changes = vec![
        none,
        deploy(2, "roomy", 1, 64),
        deploy(60, "lean", 1, 64),
        again,
    ];
    let mut run = run(0, changes);
    run.run_until(at(170));
    // A launch for the one pool has found none; the other pool does not try.
    assert_eq!(run.counts().launches, 0);
    assert_eq!(run.counts().launch_failures, 1);
    run.run_until(at(1200));
    assert!(run.pods().all(|pod| pod.node.is_some()));
}

/// Launches until each of some seconds.
fn launches<P: Planner>(run: &mut Run<P>, seconds: &[i64]) -> Vec<u32> {
    let until = |second: &i64| {
        run.run_until(at(*second));
        run.counts().launches
    };
    seconds.iter().map(until).collect()
}

#[test]
fn memory_that_machines_lack_is_learned_for_all_classes_and_what_kubelets_keep_for_none_but_their_own()
 {
    // Of 32 GiB a twentieth is lacking: three pods of 10 GiB fit as computed and three do on what is there.
    let changes = vec![
        deploy(0, "roomy", 3, 10_000),
        // Of 24 GiB that the kubelet of the other class leaves, two pods of 11.6 GiB fit as computed only.
        deploy(600, "lean", 2, 11_900),
    ];
    let mut run = run(50, changes);
    assert_eq!(launches(&mut run, &[300, 620, 1800]), [1, 3, 3]);
    assert!(run.pods().all(|pod| pod.node.is_some()));
}

#[test]
fn scaling_one_class_down_leaves_the_other_alone() {
    let down = TimedChange {
        at: at(600),
        change: Change::Scale(ObjectName::new("default", "lean-0"), 0),
    };
    let changes = vec![deploy(0, "roomy", 2, 64), deploy(0, "lean", 5, 64), down];
    let mut run = run(0, changes);
    run.run_until(at(3600));
    let pools: Vec<String> = nodes(&run).into_keys().collect();
    assert_eq!(pools, ["roomy"]);
}
