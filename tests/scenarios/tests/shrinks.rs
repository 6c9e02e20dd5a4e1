//! A fleet whose load falls soon after it came up: how long until it has the size that the rest of its pods need.

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::OwnerKind;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, ZONE_1, ZONE_2, cluster, instance_type, pod, pool,
};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Random, Run, TimedChange};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// Half of the pods small, half large; three of ten, spread over all nodes, end two minutes after the start.
fn shrinking(pods: u32) -> Run<impl Planner> {
    let sold = |name: &str, cpu: i64, memory: i64, price: f64| {
        let fixture = instance_type(name)
            .cpu(cpu * 1000)
            .memory_mib(memory * 1024);
        let fixture = fixture.pods(110).no_overhead().price(price);
        fixture.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand)
    };
    let pool = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
        pool.disruption.budgets.clear();
    });
    let fixture = cluster()
        .sells(sold("m2", 8, 32, 0.384))
        .sells(sold("m4", 16, 64, 0.768))
        .sells(sold("r1", 4, 32, 0.252))
        .sells(sold("r2", 8, 64, 0.504))
        .sells(sold("r4", 16, 128, 1.008))
        .pool(pool);
    let one = |number: u32| {
        let shape = if number.is_multiple_of(2) {
            pod(&format!("small{number}")).cpu(900).memory_mib(3100)
        } else {
            pod(&format!("large{number}")).cpu(3500).memory_mib(28_672)
        };
        let owned = shape.owned_by(OwnerKind::ReplicaSet, &format!("web{number}"));
        owned.with(|pod| pod.unschedulable = false)
    };
    let (mut objects, catalogues, settings) = fixture.pods((0..pods).map(one)).parts();
    let random = Random::new(7);
    let arrive = |(number, pod)| {
        let ends = random.below("ends", number, 10) < 3;
        TimedChange {
            at: at(0),
            change: Change::Arrive(pod, ends.then(|| Span::from_secs(120))),
        }
    };
    let arriving = std::mem::take(&mut objects.pods);
    let changes = (0..pods).zip(arriving).map(arrive).collect();
    let recording = stage::recording(
        (objects, catalogues, settings),
        at(0),
        Some(at(3600)),
        changes,
    );
    Run::new(recording, stage::uninterrupted(), |snapshot: &Snapshot| {
        plimsoll_schedule::plan(snapshot)
    })
}

/// Claims that stay, after so many seconds.
fn nodes_at<P: Planner>(run: &mut Run<P>, seconds: i64) -> usize {
    run.run_until(at(seconds));
    let staying = run.claims().filter(|claim| claim.deleting.is_none());
    staying.count()
}

#[test]
fn most_of_what_is_too_much_goes_at_once_and_young_nodes_are_not_replaced() {
    let mut run = shrinking(1000);
    let full = nodes_at(&mut run, 160);
    let launches = run.counts().launches;
    // Pods end at 2m45s; their nodes have been quiet for 30 s at 3m15s, and moves are confirmed after 15 s.
    let first = nodes_at(&mut run, 220);
    let young = nodes_at(&mut run, 300);
    assert_eq!(
        run.counts().launches,
        launches,
        "nodes younger than five minutes were replaced"
    );
    let last = nodes_at(&mut run, 3600);
    let (surplus, left) = (full - last, first - last);
    assert!(
        left * 10 <= surplus,
        "{full} nodes, {first} after the first moves, {last} in the end"
    );
    assert!(young <= first && last <= young);
    assert!(run.pods().all(|pod| pod.node.is_some()), "pods wait");
}
