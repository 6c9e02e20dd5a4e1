//! Claims, pools and nodes of classes that another provider serves are left alone, whatever becomes of them; nodes that others hold on to
//! are waited for.

use std::sync::Arc;

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::labels::EXCLUDED_FROM_LOAD_BALANCERS;
use plimsoll_base::time::Span;
use plimsoll_engine::Input;
use plimsoll_model::action::{Action, Answer, Purpose};
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{
    ClaimPhase, ClassRef, ConditionType, DesiredCondition, Effect, NodeClaim, Object, Stamp,
    Version,
};
use plimsoll_oracles::fixture::{
    Amounts, ClusterFixture, OnDemand, ZONE_1, cluster, instance_type, node, pool,
};

use super::identity::{World, purposes};
use super::second;

/// Label of nodes of a class that we serve.
const OURS: &str = "karpenter.k8s.aws/ec2nodeclass";

fn theirs() -> ClassRef {
    ClassRef {
        group: "cloud.example".into(),
        kind: "OtherNodeClass".into(),
        name: "default".into(),
    }
}

/// A claim without a node, of a class that another provider serves, after some other change.
fn claim(phase: ClaimPhase, change: impl FnOnce(&mut NodeClaim)) -> Objects {
    let fixture = node("n1").managed("general").phase(phase);
    let (mut objects, ..) = cluster().node(fixture).parts();
    let own = Arc::make_mut(&mut objects.claims[0]);
    own.class = theirs();
    own.labels.remove(OURS);
    change(own);
    for node in &mut objects.nodes {
        Arc::make_mut(node).labels.remove(OURS);
    }
    objects
}

fn ordered(objects: &Objects) -> Vec<Purpose> {
    let (mut world, mut orders) = World::finding(objects);
    orders.extend(world.wait(7200));
    purposes(&orders)
}

#[test]
fn nothing_is_done_about_a_claim_of_others() {
    let nothing = |_: &mut NodeClaim| {};
    assert_eq!(ordered(&claim(ClaimPhase::Created, nothing)), []);
    assert_eq!(ordered(&claim(ClaimPhase::Launched, nothing)), []);
    let expires = |claim: &mut NodeClaim| claim.expire_after = Some(Span::from_secs(1));
    assert_eq!(ordered(&claim(ClaimPhase::Initialized, expires)), []);
    let goes = |claim: &mut NodeClaim| claim.deleting = Some(second(90));
    assert_eq!(ordered(&claim(ClaimPhase::Launched, goes)), []);
    let bare = |claim: &mut NodeClaim| claim.held = false;
    assert_eq!(ordered(&claim(ClaimPhase::Created, bare)), []);
}

#[test]
fn a_node_of_others_that_goes_is_not_drained() {
    let mut objects = claim(ClaimPhase::Initialized, |_| {});
    let node = Arc::make_mut(&mut objects.nodes[0]);
    (node.held, node.deleting) = (true, Some(second(90)));
    assert_eq!(ordered(&objects), []);
    // Nor is it once its claim is gone; ours would be.
    objects.claims.clear();
    assert_eq!(ordered(&objects), []);
    let labels = &mut Arc::make_mut(&mut objects.nodes[0]).labels;
    labels.insert(OURS.into(), "default".into());
    assert_eq!(ordered(&objects)[0], Purpose::Taint);
}

#[test]
fn a_claim_of_others_is_unknown_and_its_node_is_like_any() {
    let objects = claim(ClaimPhase::Initialized, |_| {});
    let (world, _) = World::finding(&objects);
    let snapshot = world.engine.snapshot(second(100));
    assert_eq!(snapshot.nodes.len(), 1);
    assert!(snapshot.nodes[0].node.is_some() && !snapshot.nodes[0].is_managed());
}

#[test]
fn a_claim_stays_while_others_hold_on_to_its_node_though_the_machine_is_gone() {
    let fixture =
        node("n1")
            .managed("general")
            .taint("karpenter.sh/disrupted", "", Effect::NoSchedule);
    let fixture = fixture
        .phase(ClaimPhase::Initialized)
        .label(EXCLUDED_FROM_LOAD_BALANCERS, "karpenter");
    let (mut objects, ..) = cluster().node(fixture).parts();
    let stamp = Stamp {
        created: second(0),
        now: second(60),
        generation: 1,
        deleting: true,
    };
    let say = |claim: &mut Arc<NodeClaim>, own: &[ConditionType]| {
        let said: Vec<_> = own.iter().copied().map(DesiredCondition::holds).collect();
        let conditions = &mut Arc::make_mut(claim).conditions;
        conditions.say(&said, ConditionType::OF_CLAIMS, &stamp);
    };
    let mut claim = Arc::clone(&objects.claims[0]);
    Arc::make_mut(&mut claim).deleting = Some(second(0));
    let drained = [ConditionType::Drained, ConditionType::VolumesDetached];
    say(&mut claim, &drained);
    objects.claims = vec![Arc::clone(&claim)];
    let node = Arc::make_mut(&mut objects.nodes[0]);
    (node.held, node.deleting) = (true, Some(second(0)));
    let mut node = Arc::clone(&objects.nodes[0]);
    let (mut world, orders) = World::finding(&objects);
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
    let orders = world.answer(&orders[0], Answer::Gone);
    assert_eq!(purposes(&orders), [Purpose::ReleaseNode]);
    world.answer(&orders[0], Answer::Nothing);
    // Ours was not the last finalizer.
    Arc::make_mut(&mut node).held = false;
    let orders = world.see(Object::Node(Arc::clone(&node)));
    assert_eq!(purposes(&orders), [Purpose::MarkTerminating]);
    world.answer(&orders[0], Answer::Nothing);
    say(&mut claim, &[ConditionType::InstanceTerminating]);
    assert_eq!(purposes(&world.see(Object::Claim(claim))), []);
    let orders = world.miss(Object::Node(node));
    assert_eq!(purposes(&orders), [Purpose::ReleaseClaim]);
}

fn sold() -> ClusterFixture {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let small = small.no_overhead().price(0.1).offered(ZONE_1, OnDemand);
    cluster()
        .sells(small)
        .settings(|it| it.static_capacity = true)
}

#[test]
fn a_static_pool_of_others_is_not_filled() {
    let made = |class: Option<ClassRef>| {
        let base = pool("base").replicas(3).with(|pool| {
            if let Some(class) = class {
                pool.class = class;
            }
        });
        let (objects, ..) = sold().pool(base).parts();
        let (mut world, mut orders) = World::on(&Objects::default(), sold(), 100);
        let pool = Input::Applied(Object::Pool(Arc::clone(&objects.pools[0])), Version(1));
        for action in world.engine.handle(pool, second(100)) {
            match action {
                Action::Do(order) if order.purpose == Purpose::MarkStatus => {}
                Action::Do(order) => orders.push(*order),
                Action::Report(event) if event.reason == EventReason::NodeClassNotServed => {}
                other => panic!("nothing is to be told: {other:?}"),
            }
        }
        purposes(&orders).len()
    };
    assert_eq!(made(Some(theirs())), 0);
    assert_eq!(made(None), 3);
}
