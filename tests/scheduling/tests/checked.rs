//! Every plan of random clusters is held against the checker, which was written apart from the planner.

use std::sync::Arc;

use plimsoll_core::check::check;
use plimsoll_core::model::PackingMode;
use plimsoll_core::schedule::plan;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_oracles::generate::{Features, Shape, random_cluster, shapes};
use proptest::prelude::*;

fn with_packing(snapshot: &Snapshot, packing: PackingMode) -> Snapshot {
    let mut changed = snapshot.clone();
    Arc::make_mut(&mut changed.settings).packing = Some(packing);
    changed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_checker_finds_nothing_in_any_plan(shape in shapes(Shape {
        seed: 0, pods: 24, nodes: 4, pools: 3, types: 6, zones: 3, features: Features::ALL,
    })) {
        let snapshot = random_cluster(&shape).snapshot();
        for packing in [PackingMode::Price, PackingMode::Compatible] {
            let snapshot = with_packing(&snapshot, packing);
            let plan = plan(&snapshot);
            let findings: Vec<String> = check(&snapshot, &plan).iter().map(ToString::to_string).collect();
            prop_assert!(findings.is_empty(), "{packing:?}: {}", findings.join("; "));
            prop_assert_eq!(plan.cost.bound <= plan.cost.list, true, "{} above {}", plan.cost.bound, plan.cost.list);
        }
    }
}
