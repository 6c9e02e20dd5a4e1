//! The worked expectations of the rule: what is approved, what is not, and that the size of a pool changes neither.

use consolidate_balanced::{Balanced, Options};
use plimsoll_sdk::consolidation::Verdict;
use plimsoll_sdk::testing::Fleet;

/// That many equal nodes at a dollar an hour with two ordinary pods each.
fn uniform(nodes: usize) -> Fleet {
    (0..nodes).fold(Fleet::new(), |fleet, number| {
        fleet.node(&format!("n{number}"), 1.0)
    })
}

fn verdict(fleet: &Fleet, factor: f64) -> Verdict {
    fleet.verdicts(&Balanced, &Options { factor })[0]
}

fn is_approved(fleet: &Fleet, factor: f64) -> bool {
    verdict(fleet, factor).value() > 0.0
}

#[test]
fn half_the_price_is_just_worth_it_in_a_uniform_pool_of_any_size() {
    for nodes in [1, 4, 40] {
        assert!(is_approved(&uniform(nodes).replace(&["n0"], &[0.5]), 2.0));
        assert!(!is_approved(&uniform(nodes).replace(&["n0"], &[0.51]), 2.0));
    }
}

#[test]
fn any_delete_is_worth_it_in_a_uniform_pool() {
    let value = verdict(&uniform(4).delete(&["n0", "n1"]), 2.0).value();
    assert!((value - (2.0 - 1.0)).abs() < 1e-12, "{value}");
}

#[test]
fn a_cheap_node_that_holds_much_stays() {
    let crowded = || uniform(9).node("crowded", 0.4).eviction_cost(6.0);
    // Saves 4.3 % and disturbs 20.6 %.
    assert!(!is_approved(&crowded().delete(&["crowded"]), 2.0));
    assert!(is_approved(&crowded().delete(&["crowded"]), 6.0));
}

#[test]
fn what_saves_nothing_is_refused_and_what_is_empty_goes() {
    let refused = verdict(&uniform(2).replace(&["n0"], &[1.0]), 2.0);
    assert_eq!((refused.value(), refused.reason().0), (0.0, 4));
    let empty = verdict(&uniform(2).empty(&["n0"]), 2.0);
    assert_eq!((empty.value(), empty.reason().0), (1.0, 1));
}

#[test]
fn every_pool_that_nodes_are_taken_from_has_to_approve() {
    let two = || {
        Fleet::new()
            .node("a1", 1.0)
            .node("a2", 1.0)
            .node("b1", 1.0)
            .pool("batch")
            .eviction_cost(38.0)
            .node("b2", 1.0)
            .pool("batch")
            .eviction_cost(0.0)
    };
    // The pool of a1 saves half and disturbs half; the pool of b1 saves half and disturbs nearly all.
    assert!(is_approved(&two().delete(&["a1"]), 2.0));
    assert!(is_approved(&two().delete(&["a1", "b1"]), 2.0));
    assert!(!is_approved(&two().delete(&["a1", "b1"]), 1.9));
}

#[test]
fn a_pool_whose_prices_nobody_knows_approves_of_nothing() {
    let free = Fleet::new().node("n0", 0.0).node("n1", 0.0);
    assert!(!is_approved(&free.delete(&["n0"]), 2.0));
}
