//! The same decision made twice asks for the same claim, and what is there already is taken in place of another instance.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, Uid};
use plimsoll_engine::Input;
use plimsoll_model::action::{Answer, Order, Outcome, Purpose, Request, Write};
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{NodeClaim, Object, Version};
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, OnDemand, ZONE_1, cluster, instance_type, pod, pool,
};

use super::identity::{World, purposes};

/// Instances for two pods each, and dearer ones for one.
pub(super) fn sold() -> ClusterFixture {
    let sold = |name: &str, cpu: i64, price: f64| {
        let listed = instance_type(name).cpu(cpu).memory_mib(8192).pods(110);
        let listed = listed.no_overhead().price(price);
        listed.offered(ZONE_1, OnDemand)
    };
    let world = cluster().sells(sold("tiny", 1000, 0.06));
    let world = world.sells(sold("small", 2000, 0.1));
    world.settings(|it| it.static_capacity = true)
}

/// Pods that wait, of these names.
pub(super) fn waiting(names: &[&str]) -> Objects {
    let world = sold().pool(pool("general"));
    let pods = names.iter().map(|name| pod(name).cpu(900).memory_mib(64));
    pods.fold(world, ClusterFixture::pod).parts().0
}

/// Claims asked for, by name.
pub(super) fn asked(orders: &[Order]) -> Vec<NodeClaim> {
    let claims = orders.iter().filter_map(|order| match &order.request {
        Request::Write(Write::CreateClaim { claim, .. }) => Some(NodeClaim::clone(claim)),
        _ => None,
    });
    let mut claims: Vec<NodeClaim> = claims.collect();
    claims.sort_by(|a, b| a.name.cmp(&b.name));
    claims
}

fn names(orders: &[Order]) -> Vec<ClaimName> {
    let claims = asked(orders).into_iter();
    claims.map(|claim| claim.name).collect()
}

/// Orders of an engine that finds these objects at a second.
pub(super) fn decided(objects: &Objects, at: i64) -> (World, Vec<Order>) {
    let (mut world, mut orders) = World::on(objects, sold(), at);
    orders.extend(world.wait(15));
    (world, orders)
}

/// The claim as the API server has made it.
pub(super) fn made(claim: &NodeClaim, uid: &str) -> Arc<NodeClaim> {
    Arc::new(NodeClaim {
        uid: Uid::from(uid),
        ..claim.clone()
    })
}

#[test]
fn the_same_decision_made_twice_asks_for_the_same_claims() {
    let mut objects = waiting(&["a", "b", "c", "d", "e"]);
    let (_, first) = decided(&objects, 100);
    assert_eq!(names(&first).len(), 3);
    objects.pods.reverse();
    let (_, again) = decided(&objects, 5000);
    assert_eq!(names(&again), names(&first));
}

#[test]
fn names_depend_on_the_uids_of_pool_and_pods() {
    let objects = waiting(&["a", "b"]);
    let (_, own) = decided(&objects, 100);
    let with = |change: fn(&mut Objects)| {
        let mut other = objects.clone();
        change(&mut other);
        names(&decided(&other, 100).1)
    };
    let of_pool = with(|it| Arc::make_mut(&mut it.pools[0]).uid = Uid::from("other"));
    let of_least = with(|it| Arc::make_mut(&mut it.pods[0]).uid = Uid::from("0"));
    let of_other = with(|it| Arc::make_mut(&mut it.pods[1]).uid = Uid::from("zz"));
    assert_ne!(of_pool, names(&own));
    assert_ne!(of_least, names(&own));
    assert_eq!(of_other, names(&own), "the least uid alone counts");
}

#[test]
fn a_claim_that_is_there_already_is_the_one_that_was_asked_for() {
    let (mut world, orders) = decided(&waiting(&["a", "b"]), 100);
    let claims = asked(&orders);
    assert_eq!(claims.len(), 1);
    let there = made(&claims[0], "theirs");
    world.version += 1;
    let answer = Answer::Object(Object::Claim(there), Version(world.version));
    let mut orders = world.answer(&orders[0], answer);
    orders.extend(world.wait(30));
    assert_eq!(asked(&orders), [], "no pod waits for another");
    assert_eq!(orders[0].purpose, Purpose::MarkLaunching);
    let uids: Vec<_> = orders
        .iter()
        .filter_map(|order| order.uid.clone())
        .collect();
    assert!(uids.iter().all(|uid| uid.as_str() == "theirs"), "{uids:?}");
}

#[test]
fn what_another_claim_of_that_name_has_no_room_for_is_planned_anew() {
    // Somebody decided for one pod, before the other was seen.
    let (_, earlier) = decided(&waiting(&["a"]), 100);
    let (mut world, orders) = decided(&waiting(&["a", "b"]), 101);
    assert_eq!(names(&earlier), names(&orders));
    let there = made(&asked(&earlier)[0], "theirs");
    world.version += 1;
    let answer = Answer::Object(Object::Claim(there), Version(world.version));
    let mut orders = world.answer(&orders[0], answer);
    orders.extend(world.wait(30));
    let more = names(&orders);
    assert_eq!(
        more.len(),
        1,
        "one pod has no place: {:?}",
        purposes(&orders)
    );
    assert_ne!(more, names(&earlier));
}

#[test]
fn the_next_attempt_for_a_pod_has_another_name_while_the_last_is_going() {
    let (mut world, orders) = decided(&waiting(&["a"]), 100);
    let first = asked(&orders)[0].clone();
    let mut going = made(&first, "1");
    Arc::make_mut(&mut going).deleting = Some(world.now);
    let mut orders = world.see(Object::Claim(Arc::clone(&going)));
    orders.extend(world.wait(30));
    let second = names(&orders);
    assert!(second.len() == 1 && second[0] != first.name, "{second:?}");
    // Who finds the objects after a restart decides the same.
    let mut objects = waiting(&["a"]);
    objects.claims.push(going);
    assert_eq!(names(&decided(&objects, 900).1), second);
}

#[test]
fn a_creation_that_nobody_answered_is_asked_for_under_the_same_name() {
    let (mut world, orders) = decided(&waiting(&["a"]), 100);
    let first = names(&orders);
    let mut again = world.hear(Input::Outcome(orders[0].id, Outcome::Unknown));
    again.extend(world.wait(5));
    let read = again.iter().find_map(|order| match &order.request {
        Request::Write(Write::ReadClaim(name)) => Some((order.clone(), name.clone())),
        _ => None,
    });
    let (order, name) = read.expect("it is read back");
    assert_eq!([name], first[..]);
    let mut again = world.answer(&order, Answer::Absent);
    again.extend(world.wait(60));
    assert_eq!(names(&again), first);
}

#[test]
fn nodes_of_a_static_pool_are_numbered() {
    let objects = |replicas| sold().pool(pool("base").replicas(replicas)).parts().0;
    let (_, three) = decided(&objects(3), 100);
    let (_, five) = decided(&objects(5), 700);
    let (three, five) = (asked(&three), names(&five));
    assert_eq!((three.len(), five.len()), (3, 5));
    assert!(three.iter().all(|claim| five.contains(&claim.name)));
    // The number of one that is gone is taken again, and no other.
    let mut left = objects(3);
    left.claims = three[1..]
        .iter()
        .map(|claim| made(claim, claim.name.as_str()))
        .collect();
    assert_eq!(names(&decided(&left, 900).1), [three[0].name.clone()]);
}
