//! Another process goes on counting where the one before stopped: what it counts from is on the objects.

use std::sync::Arc;

use plimsoll_base::ids::NodeName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{DoNotDisrupt, NodePool};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PodFixture, ZONE_1, cluster, instance_type, pod, pool,
};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Run};

const MINUTE: i64 = 60;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// A pool of instances that one pod fills, and nothing else yet.
fn world(change: impl FnOnce(&mut NodePool)) -> Run<impl Planner> {
    let full = instance_type("full").cpu(4000).memory_mib(16_384);
    let full = full.pods(110).no_overhead().price(0.2);
    let general = pool("general").with(|pool| {
        pool.disruption.budgets.clear();
        change(pool);
    });
    let fixture = cluster()
        .pool(general)
        .sells(full.offered(ZONE_1, OnDemand));
    let recording = stage::recording(fixture.parts(), at(0), None, Vec::new());
    stage::run(recording, stage::uninterrupted())
}

/// A pod that fills a node.
fn filling() -> PodFixture {
    pod("web").cpu(3500).memory_mib(512)
}

fn scale<P: Planner>(run: &mut Run<P>, replicas: u32) {
    run.change(Change::Deploy(stage::deployment(&filling(), replicas)));
}

/// When the last claim is asked to go, in whole minutes, where the process ends at each of these.
fn deleted_at<P: Planner>(run: &mut Run<P>, restarts: &[i64]) -> i64 {
    for minute in restarts {
        run.run_until(at(minute * MINUTE));
        run.crash();
    }
    while run.claims().any(|claim| claim.deleting.is_none()) {
        assert!(run.now() < at(120 * MINUTE), "it stays");
        run.step();
    }
    run.now().millis() / 60_000
}

#[test]
fn quiet_time_is_not_counted_anew() {
    let emptied = || {
        let mut run = world(|pool| {
            pool.disruption.consolidate_after = Some(Span::from_secs(20 * MINUTE));
        });
        scale(&mut run, 1);
        run.run_until(at(10 * MINUTE));
        scale(&mut run, 0);
        run
    };
    let calm = deleted_at(&mut emptied(), &[]);
    assert_eq!(calm, 30);
    assert_eq!(deleted_at(&mut emptied(), &[11, 19, 28]), calm);
}

#[test]
fn quiet_time_of_a_node_whose_pods_have_not_changed_is_not_counted_anew() {
    // Two nodes half full, whose pods fit one: the event that counts is the binding.
    let halves = |restarts: &[i64]| {
        let mut run = world(|pool| {
            pool.disruption.consolidate_after = Some(Span::from_secs(20 * MINUTE));
        });
        let small = pod("web").cpu(1700).memory_mib(512);
        let deploy = |replicas| Change::Deploy(stage::deployment(&small, replicas));
        run.change(deploy(4));
        run.run_until(at(10 * MINUTE));
        assert_eq!(run.claims().count(), 2);
        run.change(deploy(2));
        for minute in restarts {
            run.run_until(at(minute * MINUTE));
            run.crash();
        }
        while run.claims().all(|claim| claim.deleting.is_none()) {
            assert!(run.now() < at(120 * MINUTE), "both stay");
            run.step();
        }
        run.now().millis() / 60_000
    };
    assert_eq!(halves(&[12, 20, 29]), halves(&[]));
}

#[test]
fn the_deadline_of_a_drain_stays() {
    let mut run = world(|pool| pool.termination_grace = Some(Span::from_secs(30 * MINUTE)));
    let protected = filling().with(|pod| pod.do_not_disrupt = DoNotDisrupt::Always);
    let (objects, ..) = cluster().pod(protected).parts();
    run.change(Change::Arrive(Arc::clone(&objects.pods[0]), None));
    run.run_until(at(5 * MINUTE));
    let node: Vec<NodeName> = run.nodes().map(|node| node.name.clone()).collect();
    assert!(run.delete_node(&node[0]));
    run.report_status(&node[0]);
    run.run_until(at(6 * MINUTE));
    let written = |run: &Run<_>| run.claims().next().and_then(|claim| claim.drained_by);
    let deadline = written(&run);
    let asked = run.claims().next().and_then(|claim| claim.deleting);
    let allowed = Span::from_secs(30 * MINUTE);
    assert!(asked.is_some());
    assert_eq!(deadline, asked.map(|asked| asked + allowed));
    for minute in [10, 20, 34] {
        run.run_until(at(minute * MINUTE));
        assert!(run.nodes().next().is_some(), "minute {minute}");
        run.crash();
        assert_eq!(written(&run), deadline, "minute {minute}");
    }
    run.run_until(at(37 * MINUTE));
    assert_eq!(run.nodes().count(), 0);
}

#[test]
fn claims_that_are_gone_count_against_the_minutes_ceiling_of_the_next_process() {
    let launched = |restarts: bool| {
        let mut run = ceiling_of_two();
        run.run_until(at(10));
        let claims: Vec<_> = run.claims().map(|claim| claim.name.clone()).collect();
        for claim in &claims {
            run.remove_claim(claim);
        }
        run.run_until(at(20));
        if restarts {
            run.crash();
        }
        run.run_until(at(50));
        (claims.len(), run.counts().launches)
    };
    assert_eq!(launched(false), (2, 2), "two of this minute");
    assert_eq!(launched(true), (2, 2));
}

/// Four pods that each fill a node, and at most two nodes a minute.
fn ceiling_of_two() -> Run<impl Planner> {
    let full = instance_type("full").cpu(4000).memory_mib(16_384);
    let full = full.pods(110).no_overhead().price(0.2);
    let fixture = cluster()
        .pool(pool("general"))
        .sells(full.offered(ZONE_1, OnDemand))
        .settings(|settings| settings.runaway.nodes_per_minute = 2);
    let recording = stage::recording(fixture.parts(), at(0), None, Vec::new());
    let mut run = stage::run(recording, stage::uninterrupted());
    scale(&mut run, 4);
    run
}
