//! The cloud's word on instances: which claims go, what people are told, and what is not bought for a while.

use std::sync::Arc;

use plimsoll_base::ids::ProviderId;
use plimsoll_base::labels::{CAPACITY_TYPE, INSTANCE_TYPE, ZONE};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_lifecycle::Interruption;
use plimsoll_model::action::{Action, Order, Purpose};
use plimsoll_model::catalogue::LAUNCH_ORDER_ANNOTATION;
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{NodeClaim, Object};
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, Spot, ZONE_1, cluster, instance_type, labels, node, pod, pool,
};

use super::identity::{World, purposes};
use super::naming::asked;

/// A cluster with a node of the type `small`, which is sold as spot alone, beside another type.
fn spot() -> ClusterFixture {
    let sold = |name: &str, cpu: i64, price: f64| {
        let listed = instance_type(name).cpu(cpu).memory_mib(8192).pods(110);
        let listed = listed.no_overhead().price(price);
        listed.offered(ZONE_1, Spot)
    };
    let world = cluster().sells(sold("small", 2000, 0.1));
    let world = world.sells(sold("large", 4000, 0.2)).pool(pool("general"));
    let n1 = node("n1").managed("general").of_type("small").zone(ZONE_1);
    let world = world.node(n1.label(CAPACITY_TYPE, "spot"));
    let bought = [
        (CAPACITY_TYPE, "spot"),
        (INSTANCE_TYPE, "small"),
        (ZONE, ZONE_1),
    ];
    world.with_claims(move |claim| claim.labels.extend(labels(&bought)))
}

fn objects() -> (Objects, ProviderId, Arc<NodeClaim>) {
    let (objects, ..) = spot().parts();
    let claim = Arc::clone(&objects.claims[0]);
    let instance = claim.provider_id.clone().expect("an instance");
    (objects, instance, claim)
}

/// Reasons of events after the cloud has said so, once for the claim and once for its node.
fn told(world: &mut World, instance: &ProviderId, says: Interruption) -> Vec<String> {
    let input = Input::Interrupted(instance.clone(), says);
    let actions = world.engine.handle(input, world.now);
    let reasons = actions.iter().filter_map(|action| match action {
        Action::Report(event) => Some(event.reason.to_string()),
        _ => None,
    });
    reasons.collect()
}

/// Types that are bought for a pod that comes so many seconds after the cloud has said so, and after the node has gone.
fn bought_after(says: Interruption, seconds: i64) -> Vec<&'static str> {
    let (objects, instance, claim) = objects();
    let (mut world, _) = World::on(&objects, spot(), 100);
    world.hear(Input::Interrupted(instance, says));
    world.miss(Object::Claim(claim));
    world.miss(Object::Node(Arc::clone(&objects.nodes[0])));
    world.wait(seconds);
    let (waiting, ..) = cluster().pod(pod("web").cpu(1900)).parts();
    let mut orders = world.see(Object::Pod(Arc::clone(&waiting.pods[0])));
    orders.extend(world.wait(15));
    let claim = asked(&orders).pop().expect("a claim");
    let order = &claim.annotations[LAUNCH_ORDER_ANNOTATION];
    let named = ["small", "large"].into_iter();
    named.filter(|name| order.contains(name)).collect()
}

fn goes(orders: &[Order]) -> bool {
    purposes(orders).contains(&Purpose::DeleteClaim)
}

#[test]
fn a_claim_goes_and_its_node_takes_no_pods_for_every_word_but_a_recommendation() {
    for says in [
        Interruption::SpotReclaimed,
        Interruption::ReservationReclaimed,
        Interruption::ScheduledChange,
        Interruption::Stopping,
        Interruption::Terminating,
        Interruption::ScheduledEvent,
        Interruption::RebalanceRecommended,
    ] {
        let (objects, instance, _) = objects();
        let (mut world, _) = World::on(&objects, spot(), 100);
        let orders = world.hear(Input::Interrupted(instance, says));
        assert_eq!(goes(&orders), says.ends_instance(), "{says:?}");
        let is_tainted = purposes(&orders).contains(&Purpose::Taint);
        assert_eq!(is_tainted, says.ends_instance(), "{says:?}");
    }
}

#[test]
fn nothing_is_waited_for_on_a_node_whose_checks_fail() {
    for says in [Interruption::InstanceImpaired, Interruption::SystemImpaired] {
        let (objects, instance, mut claim) = objects();
        let (mut world, _) = World::on(&objects, spot(), 100);
        let orders = world.hear(Input::Interrupted(instance, says));
        assert_eq!(purposes(&orders), [Purpose::MarkDeadline], "{says:?}");
        Arc::make_mut(&mut claim).drained_by = Some(world.now);
        let orders = world.see(Object::Claim(claim));
        assert!(goes(&orders), "{says:?}");
        assert!(purposes(&orders).contains(&Purpose::Taint), "{says:?}");
    }
}

#[test]
fn people_are_told_once_on_the_claim_and_on_its_node() {
    let (objects, instance, _) = objects();
    let (mut world, _) = World::on(&objects, spot(), 100);
    let recommended = told(&mut world, &instance, Interruption::RebalanceRecommended);
    assert_eq!(recommended, ["SpotRebalanceRecommendation"; 2]);
    let first = told(&mut world, &instance, Interruption::SpotReclaimed);
    let reasons = ["SpotInterrupted", "TerminatingOnInterruption"];
    assert_eq!(first[..4], [reasons, reasons].concat());
    assert_eq!(
        told(&mut world, &instance, Interruption::SpotReclaimed),
        [""; 0]
    );
    let unknown = ProviderId::from("fake:///other");
    assert_eq!(
        told(&mut world, &unknown, Interruption::SpotReclaimed),
        [""; 0]
    );
}

#[test]
fn spot_of_which_some_was_taken_back_is_not_bought_for_three_minutes() {
    let reclaimed = Interruption::SpotReclaimed;
    assert_eq!(bought_after(reclaimed, 0), ["large"]);
    assert_eq!(bought_after(reclaimed, 100), ["large"]);
    assert_eq!(bought_after(reclaimed, 181), ["small", "large"]);
    let ended = Interruption::Terminating;
    assert_eq!(bought_after(ended, 0), ["small", "large"]);
}

/// When the cloud first recommended to rebalance instances, as the next decision about disruption is told it: within a minute.
fn recommended_as_told(world: &mut World) -> Option<Vec<Timestamp>> {
    let end = world.now + Span::from_secs(60);
    while let Some(at) = world.engine.next_wake().filter(|at| *at <= end) {
        world.now = at.max(world.now + Span::from_millis(1));
        let actions = world.engine.handle(Input::Tick, world.now);
        let asked = actions.into_iter().find_map(|action| match action {
            Action::Consider(request) => Some(request),
            _ => None,
        });
        if let Some(request) = asked {
            let told = request
                .snapshot
                .activity
                .rebalance
                .values()
                .copied()
                .collect();
            let decision = plimsoll_disrupt::consider(&request.snapshot, &request.question);
            world.hear(Input::Considered(request.id, Box::new(decision)));
            return Some(told);
        }
    }
    None
}

#[test]
fn policies_are_told_at_once_and_once_what_the_cloud_recommends() {
    let (objects, instance, _) = objects();
    let (mut world, _) = World::on(&objects, spot(), 100);
    let (running, ..) = cluster().pod(pod("web").cpu(1900).on("n1")).parts();
    world.see(Object::Pod(Arc::clone(&running.pods[0])));
    while recommended_as_told(&mut world).is_some() {}
    let says = Interruption::RebalanceRecommended;
    let said = world.now;
    world.hear(Input::Interrupted(instance.clone(), says));
    assert_eq!(recommended_as_told(&mut world), Some(vec![said]));
    world.hear(Input::Interrupted(instance, says));
    assert_eq!(recommended_as_told(&mut world), None, "it is known");
}

/// Interruptions per day of each type, as the next decision is told them, after the cloud has said so.
fn told_to_policies(says: Interruption) -> Vec<(String, String)> {
    let (objects, instance, claim) = objects();
    let (mut world, _) = World::on(&objects, spot(), 100);
    let two_days = 2 * 24 * 3600;
    world.now = super::second(100 + two_days);
    world.hear(Input::Interrupted(instance, says));
    world.miss(Object::Claim(claim));
    world.miss(Object::Node(Arc::clone(&objects.nodes[0])));
    let (waiting, ..) = cluster().pod(pod("web").cpu(1900)).parts();
    world.see(Object::Pod(Arc::clone(&waiting.pods[0])));
    world.now = super::second(115 + two_days);
    let actions = world.engine.handle(Input::Tick, world.now);
    let asked = actions.iter().find_map(|action| match action {
        Action::Solve(request) => Some(&request.snapshot),
        _ => None,
    });
    let catalogue = &asked.expect("a decision").catalogues;
    let types = catalogue.of_others().types().iter();
    let rate = |rate: f32| format!("{rate:.1}");
    types
        .map(|own| {
            (
                own.name.to_string(),
                rate(own.offerings[0].interruptions_per_day),
            )
        })
        .collect()
}

#[test]
fn policies_are_told_how_often_the_cloud_takes_back_what_it_sold() {
    let told = |says| {
        let told = told_to_policies(says);
        let of = |name: &str| {
            told.iter()
                .find(|own| own.0 == name)
                .map(|own| own.1.clone())
        };
        (of("small"), of("large"))
    };
    let is = |small: &str| (Some(small.to_owned()), Some("0.0".to_owned()));
    // One of one node that was seen to run for two days.
    assert_eq!(told(Interruption::SpotReclaimed), is("0.5"));
    assert_eq!(told(Interruption::Terminating), is("0.0"));
    assert_eq!(told(Interruption::RebalanceRecommended), is("0.0"));
}
