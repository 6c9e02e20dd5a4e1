//! Counts of claims: each is counted once, however its making or going is seen, and by the cause that was decided.

use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::time::Span;
use plimsoll_engine::CommandKind;
use plimsoll_lifecycle::DeletionCause;
use plimsoll_model::action::{Answer, Purpose, Request, Write};
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{ClaimPhase, DisruptionReason, NodeClaim, Object, OwnerKind, Version};
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, ClusterFixture, NodeFixture, OnDemand, ZONE_1, cluster, instance_type,
    node, pod, pool,
};

use super::identity::World;
use super::second;

fn sold() -> ClusterFixture {
    let small = instance_type("small").cpu(4000).price(0.1);
    cluster().sells(small.offered(ZONE_1, OnDemand))
}

fn ours(phase: ClaimPhase) -> NodeFixture {
    let node = node("n1").managed("general").of_type("small").zone(ZONE_1);
    node.label(CAPACITY_TYPE, "on-demand").phase(phase)
}

fn found(node: NodeFixture, change: impl Fn(&mut NodeClaim)) -> Objects {
    let world = sold().pool(pool("general")).node(node).with_claims(change);
    world.parts().0
}

/// Claims that were asked to go, by cause, pool and capacity type.
fn deleted(world: &World) -> Vec<(DeletionCause, String, String, u64)> {
    let deleted = world.engine.counts().deleted.iter();
    let row = |((cause, pool, capacity_type), count): (&(_, _, Arc<str>), &u64)| {
        let pool: &PoolName = pool;
        (*cause, pool.to_string(), capacity_type.to_string(), *count)
    };
    deleted.map(row).collect()
}

fn expires(claim: &mut NodeClaim) {
    claim.expire_after = Some(Span::from_secs(60));
}

#[test]
fn a_claim_that_we_asked_to_go_counts_once_it_is_seen_to() {
    let objects = found(ours(ClaimPhase::Initialized), expires);
    let (mut world, orders) = World::on(&objects, sold(), 100);
    let is_asked = |purpose| purpose == Purpose::DeleteClaim;
    assert!(orders.iter().any(|order| is_asked(order.purpose)));
    assert_eq!(deleted(&world), [], "it is not seen to go");
    let mut claim = NodeClaim::clone(&objects.claims[0]);
    claim.deleting = Some(second(101));
    let claim = Arc::new(claim);
    for _ in 0..2 {
        world.see(Object::Claim(Arc::clone(&claim)));
    }
    world.miss(Object::Claim(claim));
    let expired = (
        DeletionCause::Expired,
        "general".to_owned(),
        "on-demand".to_owned(),
        1,
    );
    assert_eq!(deleted(&world), [expired]);
}

#[test]
fn a_claim_that_goes_between_two_looks_counts_as_well() {
    let objects = found(ours(ClaimPhase::Initialized), expires);
    let (mut world, _) = World::on(&objects, sold(), 100);
    world.miss(Object::Claim(Arc::clone(&objects.claims[0])));
    assert_eq!(deleted(&world).len(), 1);
}

#[test]
fn a_claim_that_others_asked_to_go_counts_for_nothing() {
    let objects = found(ours(ClaimPhase::Initialized), |_| {});
    let (mut world, _) = World::on(&objects, sold(), 100);
    let mut claim = NodeClaim::clone(&objects.claims[0]);
    claim.deleting = Some(second(101));
    world.see(Object::Claim(Arc::new(claim)));
    assert_eq!(deleted(&world), []);
}

#[test]
fn a_claim_that_was_asked_for_counts_when_it_is_there() {
    let objects = sold()
        .pool(pool("general"))
        .pod(pod("web").cpu(1000))
        .parts()
        .0;
    let (mut world, mut orders) = World::on(&objects, sold(), 100);
    orders.extend(world.wait(30));
    let mut creates = orders.iter().filter_map(|order| match &order.request {
        Request::Write(Write::CreateClaim { claim, .. }) => Some((order, claim)),
        _ => None,
    });
    let (order, claim) = creates.next().expect("a claim is asked for");
    let created = |world: &World| -> Vec<(Option<DisruptionReason>, u64)> {
        let created = world.engine.counts().created.iter();
        created
            .map(|(kind, count)| (kind.replaces, *count))
            .collect()
    };
    assert_eq!(created(&world), []);
    let mut made = NodeClaim::clone(claim);
    made.uid = "made".into();
    let made = Arc::new(made);
    let answer = Answer::Object(Object::Claim(Arc::clone(&made)), Version(world.version + 1));
    world.answer(order, answer);
    world.see(Object::Claim(made));
    assert_eq!(created(&world), [(None, 1)]);
}

const EMPTY: CommandKind = CommandKind {
    reason: DisruptionReason::Empty,
    replaces: false,
    is_multi: false,
};

#[test]
fn a_command_counts_when_it_begins_for_itself_and_for_its_pool() {
    let objects = found(ours(ClaimPhase::Initialized), |_| {});
    let (mut world, _) = World::on(&objects, sold(), 100);
    let (empty, nodes) = world.engine.eligible()[0];
    assert_eq!((empty, nodes), (DisruptionReason::Empty, 1));
    assert!(world.engine.counts().commands.is_empty());
    world.wait(60);
    let counts = world.engine.counts();
    assert_eq!(counts.commands.get(&EMPTY), Some(&1));
    let of_pool = counts.commands_by_pool.get(&("general".into(), EMPTY));
    assert_eq!(of_pool, Some(&1));
    assert!(counts.unconfirmed.is_empty());
}

#[test]
fn a_command_that_no_longer_holds_counts_and_begins_nothing() {
    let objects = found(ours(ClaimPhase::Initialized), |_| {});
    let (mut world, _) = World::on(&objects, sold(), 100);
    world.wait(5);
    let web = pod("web").cpu(100).on("n1");
    let web = web.owned_by(OwnerKind::ReplicaSet, "web");
    let pods = cluster().pod(web).parts().0.pods;
    world.see(Object::Pod(Arc::clone(&pods[0])));
    world.wait(60);
    let counts = world.engine.counts();
    assert_eq!(counts.unconfirmed.get(&EMPTY), Some(&1));
    assert!(counts.commands.is_empty(), "{counts:?}");
}
