//! Random clusters of every feature, planned by both packings, are held against the checker, which was written apart from the
//! planner; so are clusters on which it once found something.

use std::sync::Arc;

use plimsoll_core::check::check;
use plimsoll_core::model::PackingMode;
use plimsoll_core::plan::Plan;
use plimsoll_core::schedule::plan;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_oracles::exhaustive::exhaustive;
use plimsoll_oracles::generate::{Features, Shape, random_cluster, shapes};
use proptest::prelude::*;

/// Most objects of the clusters drawn.
const MOST: Shape = Shape {
    seed: 0,
    pods: 24,
    nodes: 4,
    pools: 3,
    types: 6,
    zones: 3,
    features: Features::ALL,
};

fn planned(snapshot: &Snapshot, packing: PackingMode) -> (Snapshot, Plan) {
    let mut snapshot = snapshot.clone();
    Arc::make_mut(&mut snapshot.settings).packing = Some(packing);
    let plan = plan(&snapshot);
    (snapshot, plan)
}

/// What the checker says of the plans of a cluster, by packing.
fn findings(shape: &Shape) -> Vec<String> {
    let snapshot = random_cluster(shape).snapshot();
    let mut result = Vec::new();
    for packing in [PackingMode::Price, PackingMode::Compatible] {
        let (snapshot, plan) = planned(&snapshot, packing);
        let found = check(&snapshot, &plan);
        result.extend(
            found
                .iter()
                .map(|finding| format!("{packing:?}: {finding}")),
        );
        if plan.cost.bound > plan.cost.list {
            let (bound, list) = (plan.cost.bound, plan.cost.list);
            result.push(format!("{packing:?}: a bound of {bound} above {list}"));
        }
    }
    result
}

/// Pods left waiting by packing by price, and by the best plan there is.
fn waiting(shape: &Shape) -> (usize, usize) {
    let (snapshot, plan) = planned(&random_cluster(shape).snapshot(), PackingMode::Price);
    let best = exhaustive(&snapshot).expect("a tiny cluster has few pods");
    (plan.unplaced.len(), best.unplaced)
}

#[test]
fn pod_held_back_by_a_sold_out_zone_may_wait() {
    let features = Features {
        selectors: true,
        spread: true,
        pools: true,
        changing_nodes: true,
        ..Features::NONE
    };
    let shape = Shape {
        seed: 859_735_468_917_257_844,
        pods: 2,
        nodes: 1,
        pools: 1,
        types: 1,
        zones: 2,
        features,
    };
    assert_eq!(findings(&shape), [""; 0]);
}

#[test]
fn spread_on_existing_nodes_counts_pods_of_the_same_decision() {
    let features = Features {
        selectors: true,
        taints: true,
        spread: true,
        volumes: true,
        daemons: true,
        ..Features::NONE
    };
    let shape = Shape {
        seed: 14_377_330_875_563_898_831,
        pods: 36,
        nodes: 2,
        pools: 2,
        types: 6,
        zones: 2,
        features,
    };
    assert_eq!(findings(&shape), [""; 0]);
}

#[test]
fn limit_of_one_pool_does_not_drive_pods_from_its_equals_to_a_lighter_one() {
    let features = Features {
        selectors: true,
        spread: true,
        pools: true,
        ..Features::NONE
    };
    let shape = Shape {
        seed: 16_033_405_493_039_840_944,
        pods: 10,
        nodes: 0,
        pools: 3,
        types: 2,
        zones: 1,
        features,
    };
    assert_eq!(findings(&shape), [""; 0]);
}

#[test]
fn limit_of_one_pool_leaves_counted_pods_another_zone_of_its_equals() {
    let features = Features {
        taints: true,
        spread: true,
        volumes: true,
        pools: true,
        ..Features::NONE
    };
    let shape = Shape {
        seed: 18_438_767_691_915_148_897,
        pods: 21,
        nodes: 1,
        pools: 3,
        types: 2,
        zones: 3,
        features,
    };
    assert_eq!(findings(&shape), [""; 0]);
}

#[test]
fn pods_that_others_must_be_near_may_be_in_the_pool_that_serves_those() {
    let features = Features {
        spread: false,
        ports: false,
        volumes: false,
        daemons: false,
        ..Features::ALL
    };
    let shape = Shape {
        seed: 5_351_608_597_738_016_248,
        pods: 5,
        nodes: 0,
        pools: 2,
        types: 2,
        zones: 3,
        features,
    };
    assert_eq!(findings(&shape), [""; 0]);
}

#[test]
fn minimum_values_of_a_heavier_pool_may_need_both_sides_of_a_node_filter() {
    let features = Features {
        taints: false,
        ports: false,
        volumes: false,
        ..Features::ALL
    };
    let shape = Shape {
        seed: 15_773_319_979_296_106_196,
        pods: 6,
        nodes: 0,
        pools: 2,
        types: 6,
        zones: 2,
        features,
    };
    assert_eq!(findings(&shape), [""; 0]);
}

#[test]
fn pods_that_others_follow_rather_go_without_them_than_wait() {
    let features = Features {
        selectors: true,
        preferences: true,
        taints: true,
        spread: true,
        affinity: true,
        ..Features::NONE
    };
    let shape = Shape {
        seed: 6_557_178_315_630_609_877,
        pods: 8,
        nodes: 3,
        pools: 1,
        types: 1,
        zones: 3,
        features,
    };
    assert_eq!(findings(&shape), [""; 0]);
}

#[test]
fn pods_that_depend_on_others_find_their_place() {
    let topology = Features {
        spread: true,
        affinity: true,
        ..Features::NONE
    };
    let changing = Features {
        changing_nodes: true,
        ..topology
    };
    let daemons = Features {
        daemons: true,
        ..topology
    };
    let tiny = |seed, nodes, features| Shape {
        seed,
        pods: 3,
        nodes,
        pools: 1,
        types: 1,
        zones: 1,
        features,
    };
    for shape in [
        tiny(17_993_093_053_756_489_802, 2, changing),
        tiny(18_268_749_646_997_184_021, 1, daemons),
    ] {
        assert_eq!(waiting(&shape), (0, 0), "{shape:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_checker_finds_nothing_in_any_plan(shape in shapes(MOST)) {
        let findings = findings(&shape);
        prop_assert!(findings.is_empty(), "{}", findings.join("; "));
    }
}
