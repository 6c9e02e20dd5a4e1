//! The oracle finds what can be seen by eye, and generated clusters are what they are said to be.

use proptest::prelude::*;

use plimsoll_check::{Rule, check};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::exhaustive::{MOST_PODS, exhaustive};
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::{
    Kind, Shape, benchmark_mix, mixed, random_cluster, shapes, three_zones,
};
use plimsoll_oracles::judge::cases;

/// Pods unplaced, and nano-dollars per hour.
#[track_caller]
fn best(snapshot: &Snapshot, unplaced: usize, dollars: f64) {
    let best = exhaustive(snapshot).expect("few enough pods");
    assert_eq!(best.unplaced, unplaced, "{:?}", best.plan);
    assert!(
        (best.cost.dollars() - dollars).abs() < 1e-9,
        "{:?}",
        best.plan
    );
}

fn shop() -> ClusterFixture {
    cluster()
        .sells(
            instance_type("small")
                .cpu(2000)
                .no_overhead()
                .pods(10)
                .price(1.0)
                .zones(&[ZONE_1, ZONE_2]),
        )
        .sells(
            instance_type("large")
                .cpu(4000)
                .no_overhead()
                .pods(10)
                .price(1.8)
                .zones(&[ZONE_1]),
        )
        .pool(pool("general"))
}

#[test]
fn two_halves_share_the_larger_type() {
    best(
        &shop().pods(pod("web").cpu(1900).replicas(2)).snapshot(),
        0,
        1.8,
    );
    best(
        &shop().pods(pod("web").cpu(900).replicas(2)).snapshot(),
        0,
        1.0,
    );
    best(
        &shop().pods(pod("web").cpu(900).replicas(5)).snapshot(),
        0,
        2.8,
    );
}

#[test]
fn room_that_is_there_costs_nothing() {
    let there = shop()
        .node(node("n1").cpu(2000))
        .pods(pod("web").cpu(900).replicas(3));
    best(&there.snapshot(), 0, 1.0);
}

#[test]
fn spread_needs_a_node_in_each_zone_that_has_one() {
    best(
        &shop()
            .node(node("full-1").zone(ZONE_1).cpu(0))
            .node(node("full-2").zone(ZONE_2).cpu(0))
            .pods(pod("web").cpu(100).spread(ZONE, 1).replicas(2))
            .snapshot(),
        0,
        2.0,
    );
}

#[test]
fn a_follower_may_only_come_after_its_target() {
    // Sorted by name the follower comes first; the oracle finds the other order.
    let snapshot = shop()
        .pod(pod("a").affinity(ZONE).to("b"))
        .pod(pod("b"))
        .snapshot();
    best(&snapshot, 0, 1.0);
}

#[test]
fn a_limit_leaves_pods_waiting() {
    let snapshot = cluster()
        .sells(
            instance_type("small")
                .cpu(2000)
                .no_overhead()
                .price(1.0)
                .zones(&[ZONE_1]),
        )
        .pool(pool("general").limit_nodes(1))
        .pods(pod("web").cpu(1500).replicas(3))
        .snapshot();
    best(&snapshot, 2, 1.0);
}

#[test]
fn too_many_pods_are_not_tried() {
    assert_eq!(
        exhaustive(
            &cluster()
                .pods(pod("web").replicas(MOST_PODS + 1))
                .snapshot()
        ),
        None
    );
}

#[test]
fn the_benchmark_mix_has_its_five_kinds_in_equal_parts() {
    let snapshot = benchmark_mix(100, 400, 1);
    assert_eq!(snapshot.catalogues.of_others().types().len(), 400);
    let count = |has: fn(&plimsoll_model::PodSpec) -> bool| {
        snapshot.pods.iter().filter(|pod| has(&pod.spec)).count()
    };
    assert_eq!(count(|spec| spec.spread.len() == 1), 40);
    assert_eq!(count(|spec| spec.affinity.len() == 1), 20);
    assert_eq!(count(|spec| spec.anti_affinity.len() == 1), 20);
}

#[test]
fn a_longer_workload_begins_with_the_shorter() {
    let pods = |count| mixed(cluster(), count, 7).snapshot().pods;
    assert_eq!(pods(20), pods(40)[..20]);
    let nodes = three_zones(cluster(), 240, 7).snapshot().nodes.len();
    assert_eq!(nodes, 2);
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn one_shape_is_one_cluster(shape in shapes(Shape { pods: 20, nodes: 6, types: 8, zones: 3, ..Shape::tiny(0) })) {
        let once = random_cluster(&shape).snapshot();
        let again = random_cluster(&shape).snapshot();
        prop_assert_eq!(format!("{once:?}"), format!("{again:?}"));
    }

    #[test]
    fn the_checker_takes_any_cluster(shape in shapes(Shape { pods: 20, nodes: 6, types: 8, zones: 3, ..Shape::tiny(0) })) {
        let snapshot = random_cluster(&shape).snapshot();
        let waiting = check(&snapshot, &Plan::default()).len();
        prop_assert!(waiting >= shape.pods);
    }

    #[test]
    fn the_best_plan_of_a_tiny_cluster_is_a_good_one(
        shape in shapes(Shape { pods: 3, ..Shape::tiny(0) })
    ) {
        let mut shape = shape;
        // The oracle knows neither what daemons take nor minimum values.
        shape.features = shape.features.without(&[Kind::Daemons, Kind::MinimumValues]);
        let snapshot = random_cluster(&shape).snapshot();
        if let Some(best) = exhaustive(&snapshot) {
            prop_assert_eq!(best.cost, best.plan.cost.list);
            // Nor does it demand guards.
            let mut findings = check(&snapshot, &best.plan);
            let of_guard = |rule: Rule| matches!(rule, Rule::AttachSlots | Rule::FreeAddresses);
            findings.retain(|finding| !of_guard(finding.rule));
            prop_assert!(findings.is_empty(), "{findings:?}");
        }
    }
}
