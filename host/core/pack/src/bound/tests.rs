//! The bound is never above what a fleet can cost, and its proof cannot be bent.

use crate::tests::exhaustive::{cheapest, random_problem};
use crate::tests::{add_class, add_demand, open_problem, problem};
use crate::{BoundViolation, ExistingNode, bound};

#[test]
fn no_fleet_is_cheaper_than_the_bound() {
    let (mut bounds, mut optima) = (0, 0);
    for seed in 0..2000 {
        let problem = random_problem(seed, seed % 2 == 0);
        let Some(optimum) = cheapest(&problem, |kind| kind.list_price) else {
            continue;
        };
        let bound = bound(&problem);
        assert_eq!(bound.verify(&problem), Ok(bound.list_price));
        assert!(
            bound.list_price <= optimum,
            "seed {seed}: bound {} above optimum {optimum}",
            bound.list_price
        );
        bounds += bound.list_price;
        optima += optimum;
    }
    assert!(
        bounds * 2 > optima,
        "bounds {bounds} say little of {optima}"
    );
}

#[test]
fn a_liquid_demand_is_bounded_exactly() {
    // 30 of the first axis and 20 of the second: ten of kind 1 and five of kind 0, at 2 and 3.
    let kinds: [(i64, &[i64]); 2] = [(3, &[2, 2]), (2, &[2, 1])];
    let problem = open_problem(&kinds, &[(&[1, 1], 20), (&[1, 0], 10)]);
    assert_eq!(bound(&problem).list_price, 35);
}

#[test]
fn room_on_existing_nodes_lowers_the_bound() {
    let mut problem = open_problem(&[(3, &[1])], &[(&[1], 10)]);
    assert_eq!(bound(&problem).list_price, 30);
    let classes = problem.classes[0].kinds.clone();
    for _ in 0..2 {
        problem.existing.push(ExistingNode {
            free: [2].into(),
            classes: classes.clone(),
        });
    }
    assert_eq!(bound(&problem).list_price, 18);
}

#[test]
fn a_pinned_class_pays_its_own_kinds_price() {
    let mut problem = problem(&[(3, &[1]), (5, &[1])]);
    let pinned = add_class(&mut problem, &[1], &[]);
    let free = add_class(&mut problem, &[0, 1], &[]);
    add_demand(&mut problem, pinned, &[1], 10);
    add_demand(&mut problem, free, &[1], 10);
    assert_eq!(bound(&problem).list_price, 80);
}

#[test]
fn a_value_raised_in_the_proof_is_refused() {
    let problem = open_problem(&[(3, &[1])], &[(&[1], 10)]);
    let mut bound = bound(&problem);
    bound.axis_values[0][0] += 1 << super::FRACTION_BITS;
    assert_eq!(
        bound.verify(&problem),
        Err(BoundViolation::KindUndervalued {
            kind: 0,
            list_price: 3
        })
    );
}
