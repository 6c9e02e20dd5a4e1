//! A stale view: no node is ended for what can wait, everything else goes on, and nothing is lost of what waited.

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::{Node, Object, is_disrupted};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PoolFixture, ZONE_1, cluster, instance_type, pod, pool,
};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Behaviour, Change, Planner, Run};

/// How long a write takes.
const WRITE: Span = Span::from_secs(1);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// Two pods, each of which fills a node, and a pool.
fn two_nodes(own: PoolFixture) -> Run<impl Planner> {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let small = small.no_overhead().price(0.1);
    let fixture = cluster()
        .sells(small.offered(ZONE_1, OnDemand))
        .pool(own)
        .settings(|settings| settings.static_capacity = true);
    let recording = stage::recording(fixture.parts(), at(0), None, Vec::new());
    let behaviour = Behaviour {
        write: WRITE,
        ..stage::uninterrupted()
    };
    let mut run = stage::run(recording, behaviour);
    run.change(web(2));
    run.run_until(at(120));
    assert_eq!(run.claims().count(), 2);
    run
}

fn web(replicas: u32) -> Change {
    let template = pod("web").cpu(1800).memory_mib(512);
    Change::Deploy(stage::deployment(&template, replicas))
}

fn general() -> PoolFixture {
    pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
        pool.disruption.budgets.clear();
    })
}

fn stale() -> Input {
    Input::Stale(vec![Arc::from("Pod")])
}

fn staying<P: Planner>(run: &Run<P>) -> usize {
    run.claims()
        .filter(|claim| claim.deleting.is_none())
        .count()
}

#[test]
fn an_empty_node_stays_until_the_view_is_fresh_and_pods_get_nodes_meanwhile() {
    let mut run = two_nodes(general());
    run.hand_in(&stale());
    run.change(web(1));
    run.run_until(at(1200));
    assert_eq!(staying(&run), 2, "the view is stale");
    run.change(web(3));
    run.run_until(at(1500));
    assert_eq!(staying(&run), 3, "waiting pods are served");
    run.change(web(1));
    run.run_until(at(1800));
    assert_eq!(staying(&run), 3);
    run.hand_in(&Input::Fresh);
    run.run_until(at(1900));
    assert_eq!(staying(&run), 1);
}

#[test]
fn a_command_that_waits_is_not_begun_on_a_stale_view() {
    let mut run = two_nodes(general());
    run.change(web(1));
    // It is found within ten seconds and confirmed after fifteen more.
    run.run_until(at(160));
    assert_eq!(staying(&run), 2, "it waits");
    run.hand_in(&stale());
    run.run_until(at(600));
    let tainted = run.nodes().any(|node| !node.taints.is_empty());
    assert_eq!((staying(&run), tainted), (2, false));
    run.hand_in(&Input::Fresh);
    run.run_until(at(660));
    assert_eq!(staying(&run), 1);
}

#[test]
fn nodes_of_a_command_under_way_are_asked_to_go_once_the_view_is_fresh() {
    let is_tainted = |node: &Arc<Node>| node.taints.iter().any(is_disrupted);
    let half_empty = || {
        let mut run = two_nodes(general());
        run.change(web(1));
        run
    };
    let mut first = half_empty();
    while !first.nodes().any(is_tainted) {
        assert!(first.now() < at(600), "no command has begun");
        first.step();
    }
    let tainted = first.now();

    let mut run = half_empty();
    run.run_until(Timestamp::from_millis(tainted.millis() - 1));
    run.hand_in(&stale());
    run.run_until(tainted + Span::from_secs(300));
    assert!(run.nodes().any(is_tainted), "the command is under way");
    assert_eq!(staying(&run), 2, "its nodes are not asked to go");
    run.hand_in(&Input::Fresh);
    run.run_until(tainted + Span::from_secs(310));
    assert_eq!(staying(&run), 1);
}

#[test]
fn nodes_of_age_and_the_surplus_of_static_pools_wait_too() {
    let mut run = two_nodes(general().with(|pool| {
        pool.disruption.consolidate_after = None;
        pool.expire_after = Some(Span::from_secs(300));
    }));
    run.hand_in(&stale());
    let first: Vec<_> = run.claims().map(|claim| claim.name.clone()).collect();
    run.run_until(at(1000));
    assert_eq!(staying(&run), 2);
    run.hand_in(&Input::Fresh);
    run.run_until(at(1100));
    assert!(run.claims().all(|claim| !first.contains(&claim.name)));

    let mut run = two_nodes(pool("base").replicas(2));
    run.hand_in(&stale());
    let fewer = pool("base").replicas(1).build();
    run.change(Change::Apply(Object::Pool(fewer)));
    run.run_until(at(600));
    assert_eq!(staying(&run), 2);
    run.hand_in(&Input::Fresh);
    run.run_until(at(700));
    assert_eq!(staying(&run), 1);
}
