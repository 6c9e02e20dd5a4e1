//! Policies that change while pods wait: what was left without a place is planned again at once, though nothing in the cluster has changed.

use super::driven::{Driven, consider, solve};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, OnDemand, ZONE_1, cluster, instance_type, node, pod, pool,
};

const HOUR: Span = Span::from_secs(3_600);

/// Pods that a plan has left without a place, in a cluster in which nothing changes.
fn left_without_a_place() -> Driven {
    let small = instance_type("small").cpu(2_000).memory_mib(8_192);
    let world = cluster().sells(small.price(0.1).offered(ZONE_1, OnDemand));
    let pods = (0..29).map(|number| pod(&format!("web-{number}")).cpu(64_000));
    let start = Timestamp::from_millis(1_000_000);
    let mut driven = Driven::start(world.pool(pool("general")).pods(pods), start);
    driven.plan();
    assert!(driven.next(HOUR, solve).is_none(), "nothing has changed");
    driven
}

#[test]
fn other_policies_are_asked_at_once_about_all_that_waits() {
    for change in [Input::PoliciesChanged, Input::Replan] {
        let mut driven = left_without_a_place();
        let changed = driven.now;
        driven.hand_in(change);
        let request = driven.next(Span::ZERO, solve).expect("a question");
        assert_eq!(driven.now, changed, "no more pods are waited for");
        let waiting = request.snapshot.pods.iter();
        assert_eq!(waiting.filter(|pod| pod.node.is_none()).count(), 29);
        driven.plan_of(&request);
        assert!(driven.next(HOUR, solve).is_none(), "one change, one plan");
    }
}

#[test]
fn a_change_while_a_plan_is_made_is_planned_for_after_it() {
    let mut driven = left_without_a_place();
    driven.hand_in(Input::PoliciesChanged);
    let first = driven.next(Span::ZERO, solve).expect("a question");
    driven.hand_in(Input::PoliciesChanged);
    assert!(driven.next(HOUR, solve).is_none(), "one plan at a time");
    driven.plan_of(&first);
    assert!(driven.next(Span::ZERO, solve).is_some());
}

/// A pass that was asked for under the policies of before says nothing of what those that came meanwhile would find.
#[test]
fn savings_are_looked_for_again_when_policies_changed_during_a_pass() {
    let large = instance_type("large").cpu(8_000).memory_mib(32_768);
    let world = cluster()
        .sells(large.price(0.4).offered(ZONE_1, OnDemand))
        .pool(pool("general").with(|pool| pool.disruption.consolidate_after = Some(Span::ZERO)));
    let node = node("n1").managed("general").of_type("large").zone(ZONE_1);
    let node = node.label(CAPACITY_TYPE, "on-demand").cpu(8_000);
    let world = world.node(node.memory_mib(32_768));
    let world = world.pod(pod("web").cpu(6_000).on("n1"));
    let passes = |changes: bool| {
        let mut driven = Driven::start(world.clone(), Timestamp::from_millis(1_000_000));
        let first = driven.next(HOUR, consider).expect("a pass");
        if changes {
            driven.hand_in(Input::PoliciesChanged);
        }
        driven.hand_in(Input::Considered(first.id, Box::default()));
        driven.next(Span::from_secs(5), consider).is_some()
    };
    assert!(!passes(false), "nothing was found, and nothing has changed");
    assert!(passes(true));
}
