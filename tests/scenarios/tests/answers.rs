//! Answers that an engine gets: decisions that could not be made, and orders that were outrun, put off or refused. Each has its own consequence,
//! and none of them is another plan of the same.

use std::sync::Arc;

use super::driven::{Driven, consider, ordered, solve};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::Effect::NoSchedule;
use plimsoll_model::action::{Action, ObjectKey, Order, Outcome, Purpose, Reason};
use plimsoll_model::{ClaimPhase, DISRUPTED_TAINT, Object, Version};
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, OnDemand, ZONE_1, cluster, instance_type, node, pod, pool,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn create(action: Action) -> Option<Box<Order>> {
    ordered(action, Purpose::Create)
}

fn terminate(action: Action) -> Option<Box<Order>> {
    ordered(action, Purpose::Terminate)
}

fn sold() -> ClusterFixture {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let small = small.no_overhead().price(0.1);
    cluster().sells(small.offered(ZONE_1, OnDemand))
}

/// Pods that wait, each for a node of its own.
fn waiting(count: usize) -> Driven {
    let pods = (0..count).map(|number| pod(&format!("web-{number}")).cpu(1800));
    Driven::start(sold().pool(pool("general")).pods(pods), at(0))
}

#[test]
fn a_plan_that_cannot_be_made_is_asked_for_again_ever_later() {
    let mut driven = waiting(1);
    let mut pauses = Vec::new();
    let mut last = None;
    for _ in 0..4 {
        let request = driven
            .next(Span::from_secs(600), solve)
            .expect("a question");
        pauses.extend(last.map(|last| driven.now.since(last).millis()));
        driven.hand_in(Input::Unsolved(request.id + 7));
        assert!(
            driven.next(Span::from_secs(60), solve).is_none(),
            "another's"
        );
        last = Some(driven.now);
        driven.hand_in(Input::Unsolved(request.id));
    }
    assert_eq!(pauses, [5000, 10_000, 20_000]);
    driven.plan();
    assert!(driven.next(Span::ZERO, create).is_some());
}

#[test]
fn a_decision_on_disruption_that_cannot_be_made_is_asked_for_again_ever_later() {
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
        pool.disruption.budgets.clear();
    });
    let empty = node("n1").managed("general").phase(ClaimPhase::Initialized);
    let mut driven = Driven::start(sold().pool(general).node(empty), at(1_000_000));
    let mut pauses = Vec::new();
    let mut last = None;
    for _ in 0..4 {
        let request = driven.next(Span::from_secs(900), consider);
        let id = request.expect("a question").id;
        pauses.extend(last.map(|last| driven.now.since(last).millis()));
        driven.hand_in(Input::Unconsidered(id + 7));
        driven.hand_in(Input::Unconsidered(id));
        last = Some(driven.now);
    }
    assert_eq!(pauses, [5000, 10_000, 20_000]);
}

#[test]
fn what_the_api_server_will_not_have_is_told_on_the_pool_and_not_planned_again() {
    let mut driven = waiting(1);
    driven.plan();
    let mut attempts = 0;
    let mut told = 0;
    while let Some(order) = driven.next(Span::from_secs(90), create) {
        attempts += 1;
        assert!(
            driven.now < at(1000),
            "it is given up after a quarter of an hour"
        );
        let refused = Reason::Rejected("exceeded quota".to_owned());
        driven.hand_in(Input::Outcome(order.id, Outcome::Refused(refused)));
        assert!(driven.actions.iter().all(|it| solve(it.clone()).is_none()));
        for event in driven.reports("FailedCreate") {
            assert_eq!(event.object, ObjectKey::Pool("general".into()));
            assert_eq!(event.message, "exceeded quota");
            told += 1;
        }
        if driven.now > at(800) {
            break;
        }
    }
    assert!((14..=24).contains(&attempts), "{attempts} with back-off");
    assert_eq!(told, attempts);
}

#[test]
fn an_order_that_was_outrun_is_given_again_at_once_and_one_put_off_when_it_may() {
    let after = |outcome: Outcome| {
        let mut driven = waiting(1);
        driven.plan();
        let first = driven.next(Span::ZERO, create).expect("an order");
        let given = driven.now;
        driven.hand_in(Input::Outcome(first.id, outcome));
        let next = driven.next(Span::from_secs(30), create).expect("another");
        assert_ne!(next.id, first.id);
        driven.now.since(given).millis()
    };
    assert_eq!(after(Outcome::Conflict), 20);
    let throttled = |after| Outcome::Refused(Reason::Throttled(after));
    assert_eq!(after(throttled(Some(Span::from_secs(7)))), 7000);
    assert_eq!(after(throttled(None)), 1000);
}

#[test]
fn pods_without_a_place_are_told_why_once_and_no_more_than_a_hundred_at_a_time() {
    let pods = (0..150).map(|number| pod(&format!("huge-{number}")).cpu(64_000));
    let mut driven = Driven::start(sold().pool(pool("general")).pods(pods), at(0));
    driven.plan();
    let told = driven.reports("FailedScheduling");
    assert_eq!(told.len(), 100);
    assert!(
        told[0].message.contains("too little cpu"),
        "{}",
        told[0].message
    );
    let (objects, ..) = cluster().pod(pod("late").cpu(64_000)).parts();
    let late = Object::Pod(Arc::clone(&objects.pods[0]));
    driven.hand_in(Input::Applied(late, Version(2)));
    driven.plan();
    assert_eq!(driven.reports("FailedScheduling").len(), 51);
}

#[test]
fn a_node_whose_claim_is_not_seen_is_kept_while_claims_cannot_be_read_or_the_view_is_stale() {
    let pairs = [
        (Input::UnreadableClaims(1), Input::UnreadableClaims(0)),
        (Input::Stale(vec!["NodeClaim".into()]), Input::Fresh),
    ];
    for (blind, sighted) in pairs {
        let mut driven = Driven::start(sold(), at(1000));
        driven.hand_in(blind);
        let ours = node("n1").label("karpenter.k8s.aws/ec2nodeclass", "default");
        let left = ours.with(|node| {
            node.held = true;
            node.provider_id = Some("made-up://n1".into());
        });
        let (objects, ..) = cluster()
            .node(left.deleting().taint(DISRUPTED_TAINT, "", NoSchedule))
            .parts();
        let left = Object::Node(Arc::clone(&objects.nodes[0]));
        driven.hand_in(Input::Applied(left, Version(2)));
        let within = Span::from_secs(600);
        assert!(
            driven.next(within, terminate).is_none(),
            "its claim may be there"
        );
        driven.hand_in(sighted);
        assert!(driven.next(within, terminate).is_some());
    }
}
