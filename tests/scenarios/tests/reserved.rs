//! Supply as an engine counts it while instances come and go: reservations, and limits of pools.

use std::sync::Arc;

use plimsoll_base::ids::ReservationId;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::Timestamp;
use plimsoll_engine::{Engine, Input};
use plimsoll_model::action::{Action, Answer, Outcome, Purpose, SolveRequest};
use plimsoll_model::{ClaimPhase, Object, Version};
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, ClusterFixture, OnDemand, ZONE_1, cluster, instance_type, node, pod,
    pool,
};

const RESERVATION: &str = "cr-1";

/// An engine that has seen all objects of a fixture.
fn found(fixture: ClusterFixture) -> Engine {
    let (objects, catalogues, settings) = fixture.parts();
    let mut engine = Engine::new(Arc::new(settings), Arc::new(catalogues), 1);
    let pools = objects.pools.iter().cloned().map(Object::Pool);
    let claims = objects.claims.iter().cloned().map(Object::Claim);
    let nodes = objects.nodes.iter().cloned().map(Object::Node);
    let pods = objects.pods.iter().cloned().map(Object::Pod);
    for object in pools.chain(claims).chain(nodes).chain(pods) {
        engine.handle(Input::Applied(object, Version::default()), at(0));
    }
    engine
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// Lets time pass until the engine asks for a plan.
fn asks_for_plan(engine: &mut Engine) -> (SolveRequest, Timestamp) {
    let mut next = engine.next_wake();
    while let Some(now) = next {
        let asked = engine.handle(Input::Tick, now).into_iter();
        let mut solves = asked.filter_map(|action| match action {
            Action::Solve(request) => Some(request),
            _ => None,
        });
        if let Some(request) = solves.next() {
            return (request, now);
        }
        next = engine.next_wake().filter(|next| *next > now);
    }
    unreachable!("pods wait, and no plan was asked for");
}

/// An instance out of a reservation that lists two more ends, the cloud lists three from then on, and only then does its claim go.
#[test]
fn the_slot_of_a_machine_that_has_ended_comes_back_once() {
    let sold = |remaining: u32| {
        let sold = instance_type("m7g.large").cpu(2000).memory_mib(8192);
        cluster().sells(sold.price(0.1).reserved(ZONE_1, RESERVATION, remaining))
    };
    let machine = node("n1")
        .managed("general")
        .of_type("m7g.large")
        .zone(ZONE_1);
    let machine = machine
        .label(CAPACITY_TYPE, "reserved")
        .label("karpenter.k8s.aws/capacity-reservation-id", RESERVATION)
        .phase(ClaimPhase::Launched)
        .deleting();
    let mut engine = found(sold(2).pool(pool("general")).node(machine));
    let mut asked = engine.handle(Input::Synced, at(1)).into_iter();
    let terminate = asked.find_map(|action| match action {
        Action::Do(order) if order.purpose == Purpose::Terminate => Some(order.id),
        _ => None,
    });
    let terminate = terminate.expect("its instance is ended");
    engine.handle(
        Input::Outcome(terminate, Outcome::Done(Answer::Gone)),
        at(2),
    );
    let (_, relisted, _) = sold(3).parts();
    engine.handle(Input::Catalogues(Arc::new(relisted)), at(3));
    let claim = engine.cluster().claims.objects().remove(0);
    engine.handle(
        Input::Deleted(Object::Claim(claim), Version::default()),
        at(4),
    );
    let (waiting, ..) = cluster().pod(pod("web").cpu(100)).parts();
    let waiting = Object::Pod(Arc::clone(&waiting.pods[0]));
    engine.handle(Input::Applied(waiting, Version::default()), at(5));
    let (request, _) = asks_for_plan(&mut engine);
    let left = request.snapshot.catalogues.reservations();
    assert_eq!(left.get(&ReservationId::from(RESERVATION)), Some(&3));
}

/// A node of the pool that no claim stands behind comes while a plan is made: with it the pool has all that its limits allow.
#[test]
fn nodes_without_a_claim_count_against_limits_when_a_plan_is_carried_out() {
    let sold = instance_type("m7g.large")
        .cpu(2000)
        .memory_mib(8192)
        .no_overhead();
    let asked_for = |comes: bool| {
        let limited = pool("general")
            .with(|pool| pool.limits = Some(Resources::new().with(ResourceName::Cpu, 3000)));
        let fixture = cluster().sells(sold.clone().price(0.1).offered(ZONE_1, OnDemand));
        let mut engine = found(fixture.pool(limited).pod(pod("web").cpu(1500)));
        engine.handle(Input::Synced, at(1));
        let (request, now) = asks_for_plan(&mut engine);
        let plan = plimsoll_schedule::plan(&request.snapshot);
        assert_eq!(plan.claims.len(), 1);
        if comes {
            let alone = node("alone")
                .label("karpenter.sh/nodepool", "general")
                .cpu(2000);
            let (objects, ..) = cluster().node(alone).parts();
            let alone = Object::Node(Arc::clone(&objects.nodes[0]));
            engine.handle(Input::Applied(alone, Version::default()), now);
        }
        let actions = engine.handle(Input::Solved(request.id, Box::new(plan)), now);
        let creates = |action: &&Action| matches!(action, Action::Do(order) if order.purpose == Purpose::Create);
        actions.iter().filter(creates).count()
    };
    assert_eq!((asked_for(false), asked_for(true)), (1, 0));
}
