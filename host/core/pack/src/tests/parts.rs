//! Parts of a problem that share nothing cost together what each costs alone; what they share is never overdrawn.

use plimsoll_base::bits::Bits;

use super::exhaustive::random_problem;
use super::{add_class, add_demand, packed, problem};
use crate::{Class, Problem, SpendLimit, bound, pack};

/// Two problems as one, in which neither has anything of the other.
fn beside(left: &Problem, right: &Problem) -> Problem {
    let mut both = left.clone();
    let (kinds, classes) = (left.kinds.len(), left.classes.len());
    let (rules, supplies) = (left.rules.len(), left.supplies.len());
    let moved = |rows: &Bits, by: usize| rows.iter().map(|row| row + by).collect::<Bits>();
    both.kinds
        .extend(right.kinds.iter().cloned().map(|mut kind| {
            kind.supply = kind.supply.map(|supply| supply + supplies);
            kind
        }));
    both.classes.extend(right.classes.iter().map(|class| {
        let mut memberships = class.memberships.clone();
        for membership in &mut memberships {
            membership.rule += rules;
        }
        Class {
            kinds: moved(&class.kinds, kinds),
            memberships,
        }
    }));
    both.demands
        .extend(right.demands.iter().cloned().map(|mut demand| {
            demand.class += classes;
            demand
        }));
    both.existing
        .extend(right.existing.iter().cloned().map(|mut node| {
            node.classes = moved(&node.classes, classes);
            node
        }));
    both.rules.extend_from_slice(&right.rules);
    both.supplies.extend_from_slice(&right.supplies);
    both
}

#[test]
fn problems_beside_one_another_cost_what_each_costs_alone() {
    let (mut together, mut alone) = ((0, 0), (0, 0));
    for seed in 0..300 {
        let parts = [
            random_problem(2 * seed, seed % 2 == 0),
            random_problem(2 * seed + 1, seed % 3 == 0),
        ];
        let both = beside(&parts[0], &parts[1]);
        let packing = packed(&both);
        together.0 += packing.unplaced_count();
        together.1 += packing.price(&both);
        for part in &parts {
            let packing = packed(part);
            alone.0 += packing.unplaced_count();
            alone.1 += packing.price(part);
        }
        let bound_of_both = bound(&both);
        assert_eq!(bound_of_both.verify(&both), Ok(bound_of_both.list_price));
        // Each is rounded by itself.
        let bounds: i64 = parts.iter().map(|part| bound(part).list_price).sum();
        assert!(
            (bound_of_both.list_price - bounds).abs() <= 2,
            "seed {seed}"
        );
    }
    assert!(together.0 <= alone.0);
    assert!(
        together.1 * 1000 <= alone.1 * 1001,
        "{together:?} beside {alone:?}"
    );
}

/// Two classes with a kind each, at prices 3 and 5, that draw on one limit of so many units; each asks for so many nodes.
fn under_one_limit(units: i64, nodes: u32) -> Problem {
    let mut problem = problem(&[(3, &[1]), (5, &[1])]);
    problem.spend_limits.push(SpendLimit {
        remaining: [units].into(),
    });
    for kind in [0, 1] {
        problem.kinds[kind].spends = Some((0, [1].into()));
        let class = add_class(&mut problem, &[kind], &[]);
        add_demand(&mut problem, class, &[1], nodes);
    }
    problem
}

#[test]
fn parts_that_together_take_more_than_a_limit_leaves_share_it() {
    for (units, placed) in [(8, 8), (7, 7), (3, 3), (0, 0)] {
        let problem = under_one_limit(units, 4);
        let packing = pack(&problem, 100);
        assert_eq!(super::verify(&problem, &packing), Ok(()), "{units} left");
        assert_eq!(packing.node_count(), placed, "{units} left");
    }
}

#[test]
fn parts_that_together_take_more_than_a_supply_has_share_it() {
    let mut problem = problem(&[(1, &[1]), (5, &[1]), (1, &[1]), (5, &[1])]);
    problem.supplies = vec![3];
    for (reserved, other) in [(0, 1), (2, 3)] {
        problem.kinds[reserved].supply = Some(0);
        let class = add_class(&mut problem, &[reserved, other], &[]);
        add_demand(&mut problem, class, &[1], 2);
    }
    let packing = packed(&problem);
    assert_eq!((packing.node_count(), packing.price(&problem)), (4, 8));
}
