//! Random clusters of every feature, planned by both packings, are held against the checker, which was written apart from the
//! planner; so are clusters on which it once found something.

use std::sync::Arc;

use plimsoll_check::check;
use plimsoll_model::PackingMode;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::exhaustive::exhaustive;
use plimsoll_oracles::generate::{Features, Kind, Shape, random_cluster, shapes};
use plimsoll_schedule::{bounds_of_plan, plan, prepare};
use proptest::prelude::*;

/// Most objects of the clusters drawn.
const MOST: Shape = Shape::of(0, [24, 4, 3, 6, 3], Features::ALL);

fn planned(snapshot: &Snapshot, packing: PackingMode) -> (Snapshot, Plan) {
    let mut snapshot = snapshot.clone();
    Arc::make_mut(&mut snapshot.settings).packing = Some(packing);
    let plan = plan(&snapshot);
    (snapshot, plan)
}

/// The checker's findings in the plans of a cluster, by packing.
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
        let bounds = bounds_of_plan(&prepare(&snapshot), &plan);
        if bounds.within_guards > plan.cost.list || bounds.without_guards > bounds.within_guards {
            let list = plan.cost.list;
            result.push(format!("{packing:?}: {bounds:?} and a cost of {list}"));
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

/// Clusters on which the checker once found something, by what the plan got wrong.
fn once_found() -> [(&'static str, Shape); 10] {
    use Kind::{
        Affinity, ChangingNodes, Classes, Daemons, Pools, Ports, Preferences, Selectors, Spread,
        Taints, Volumes,
    };
    [
        (
            "a sold-out zone holds no pod back",
            Shape::of(
                859_735_468_917_257_844,
                [2, 1, 1, 1, 2],
                Features::of(&[Selectors, Spread, Pools, ChangingNodes]),
            ),
        ),
        (
            "spread on existing nodes counts pods of the same decision",
            Shape::of(
                14_377_330_875_563_898_831,
                [36, 2, 2, 6, 2],
                Features::of(&[Selectors, Taints, Spread, Volumes, Daemons]),
            ),
        ),
        (
            "the limit of one pool does not drive pods from its equals to a lighter one",
            Shape::of(
                16_033_405_493_039_840_944,
                [10, 0, 3, 2, 1],
                Features::of(&[Selectors, Spread, Pools]),
            ),
        ),
        (
            "the limit of one pool leaves counted pods another zone of its equals",
            Shape::of(
                18_438_767_691_915_148_897,
                [21, 1, 3, 2, 3],
                Features::of(&[Taints, Spread, Volumes, Pools]),
            ),
        ),
        (
            "pods that others must be near may be in the pool that serves those",
            Shape::of(
                5_351_608_597_738_016_248,
                [5, 0, 2, 2, 3],
                Features::ALL.without(&[Spread, Ports, Volumes, Daemons]),
            ),
        ),
        (
            "minimum values of a heavier pool may need both sides of a node filter",
            Shape::of(
                15_773_319_979_296_106_196,
                [6, 0, 2, 6, 2],
                Features::ALL.without(&[Taints, Ports, Volumes]),
            ),
        ),
        (
            "pods that others follow rather go without them than wait",
            Shape::of(
                6_557_178_315_630_609_877,
                [8, 3, 1, 1, 3],
                Features::of(&[Selectors, Preferences, Taints, Spread, Affinity]),
            ),
        ),
        (
            "nodes of an alternative that was given up even out a spread",
            Shape::of(
                682_079_912_834_885_663,
                [21, 2, 2, 4, 2],
                Features::ALL.without(&[Affinity, Ports, ChangingNodes, Classes]),
            ),
        ),
        (
            "a claim is no domain of a spread in zones where the pod itself may not be",
            Shape::of(
                8_014_429_729_579_147_548,
                [19, 2, 2, 2, 2],
                Features::of(&[Selectors, Spread, Volumes, ChangingNodes, Classes]),
            ),
        ),
        (
            "a bound counts every alternative of a node affinity, not the last alone",
            Shape::of(
                7_604_310_787_491_253_490,
                [1, 0, 1, 4, 1],
                Features::of(&[Selectors, Taints, Spread, Ports, Volumes, Daemons, Pools]),
            ),
        ),
    ]
}

#[test]
fn the_checker_finds_nothing_any_more_where_it_once_did() {
    for (fact, shape) in once_found() {
        assert_eq!(findings(&shape), [""; 0], "{fact}");
    }
}

#[test]
fn pods_that_depend_on_others_find_their_place() {
    let topology = Features::of(&[Kind::Spread, Kind::Affinity]);
    let changing = topology.with(&[Kind::ChangingNodes]);
    let daemons = topology.with(&[Kind::Daemons]);
    let tiny = |seed, nodes, features| Shape::of(seed, [3, nodes, 1, 1, 1], features);
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
