//! The planner before its judges: the checker finds nothing in the plan of a known workload, and no plan of a tiny cluster is
//! better than possible. Random clusters of any size are judged by the example `judge`.

use plimsoll_oracles::judge::cases;
use proptest::prelude::*;

use plimsoll_check::check;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::exhaustive::exhaustive;
use plimsoll_oracles::generate::{Shape, benchmark_mix, random_cluster, shapes};

fn planned(snapshot: &Snapshot) -> Plan {
    plimsoll_schedule::finish(&plimsoll_schedule::prepare(snapshot), None)
}

#[test]
fn the_checker_finds_nothing_in_a_plan_of_the_benchmark_mix() {
    let snapshot = benchmark_mix(250, 40, 3);
    let plan = planned(&snapshot);
    assert!(
        plan.placements.len() > 200,
        "{} placed",
        plan.placements.len()
    );
    let findings = check(&snapshot, &plan);
    assert!(findings.is_empty(), "{}: {}", findings.len(), findings[0]);
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn no_plan_of_a_tiny_cluster_is_better_than_possible(shape in shapes(Shape { pods: 3, ..Shape::tiny(0) })) {
        let snapshot = random_cluster(&shape).snapshot();
        let plan = planned(&snapshot);
        // Pods of nodes that are removed join those that wait, and may be too many for it.
        let best = exhaustive(&snapshot);
        prop_assume!(best.is_some());
        let best = best.expect("it was just asked for");
        prop_assert!(plan.unplaced.len() >= best.unplaced);
        if plan.unplaced.len() == best.unplaced {
            prop_assert!(plan.cost.list >= best.cost, "{} < {}", plan.cost.list, best.cost);
        }
    }
}
