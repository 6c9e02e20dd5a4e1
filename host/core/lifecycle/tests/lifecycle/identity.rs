//! An object is told by its uid from others that bear its name before or after it.
//!
//! Deletion and creation between two looks count as both: nothing that was noted, promised or answered of the first object holds for
//! the next.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ProviderId, Uid};
use plimsoll_base::labels::EXCLUDED_FROM_LOAD_BALANCERS;
use plimsoll_base::labels::Labels;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::Cluster;
use plimsoll_engine::{Engine, Input};
use plimsoll_model::action::{
    Action, Answer, ClaimLaunch, CloudCall, LaunchAnswer, LaunchBatch, LaunchedInstance, ObjectKey,
    Order, Outcome, Purpose, Request, Write,
};
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{ClaimPhase, Effect, Node, NodeClaim, Object, Pod, Taint, Version};
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, ClusterFixture, OnDemand, ZONE_1, cluster, instance_type, node, pod,
    pool, taint,
};

use super::second;

/// An engine that has found some objects, at a clock and a version that only grow.
pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) version: u64,
    pub(super) now: Timestamp,
    /// Lists of instances that were asked for, which have nothing to do with most tests.
    pub(super) lists: Vec<Order>,
    /// Statuses and hashes that were to be written, likewise.
    pub(super) written: Vec<Order>,
}

impl World {
    pub(super) fn finding(objects: &Objects) -> (Self, Vec<Order>) {
        Self::on(objects, cluster(), 100)
    }

    /// On a provider that sells what a cluster does, under its settings, at a second, which is the engine's seed as well.
    pub(super) fn on(objects: &Objects, world: ClusterFixture, at: i64) -> (Self, Vec<Order>) {
        let (_, catalogues, settings) = world.parts();
        let mut world = Self {
            engine: Engine::new(Arc::new(settings), Arc::new(catalogues), at.unsigned_abs()),
            version: 0,
            now: second(at),
            lists: Vec::new(),
            written: Vec::new(),
        };
        for object in objects.iter() {
            world.see(object);
        }
        let orders = world.hear(Input::Synced);
        (world, orders)
    }

    pub(super) fn hear(&mut self, input: Input) -> Vec<Order> {
        let mut orders = Vec::new();
        for action in self.engine.handle(input, self.now) {
            match action {
                Action::Do(order) if order.purpose == Purpose::List => self.lists.push(*order),
                Action::Do(order) => match order.purpose {
                    Purpose::MarkStatus | Purpose::MarkHash => self.written.push(*order),
                    _ => orders.push(*order),
                },
                Action::Solve(request) => {
                    let plan = plimsoll_schedule::plan(&request.snapshot);
                    orders.extend(self.hear(Input::Solved(request.id, Box::new(plan))));
                }
                Action::Consider(request) => {
                    let decision = plimsoll_disrupt::consider(&request.snapshot, &request.question);
                    let considered = Input::Considered(request.id, Box::new(decision));
                    orders.extend(self.hear(considered));
                }
                _ => {}
            }
        }
        orders
    }

    pub(super) fn see(&mut self, object: impl Into<Object>) -> Vec<Order> {
        self.version += 1;
        self.hear(Input::Applied(object.into(), Version(self.version)))
    }

    pub(super) fn miss(&mut self, object: impl Into<Object>) -> Vec<Order> {
        self.version += 1;
        self.hear(Input::Deleted(object.into(), Version(self.version)))
    }

    pub(super) fn answer(&mut self, order: &Order, answer: Answer) -> Vec<Order> {
        self.hear(Input::Outcome(order.id, Outcome::Done(answer)))
    }

    /// Orders given within so many seconds if nothing else happens.
    pub(super) fn wait(&mut self, seconds: i64) -> Vec<Order> {
        let end = self.now + Span::from_secs(seconds);
        let mut orders = Vec::new();
        while let Some(at) = self.engine.next_wake().filter(|at| *at <= end) {
            self.now = at.max(self.now + Span::from_millis(1));
            orders.extend(self.hear(Input::Tick));
        }
        self.now = end;
        orders.extend(self.hear(Input::Tick));
        orders
    }
}

pub(super) fn purposes(orders: &[Order]) -> Vec<Purpose> {
    orders.iter().map(|order| order.purpose).collect()
}

/// A claim whose node has never come, asked to go.
fn going(uid: &str) -> Arc<NodeClaim> {
    let fixture = node("n1").managed("general").phase(ClaimPhase::Launched);
    let mut claim = Arc::clone(&cluster().node(fixture).parts().0.claims[0]);
    let own = Arc::make_mut(&mut claim);
    own.uid = Uid::from(uid);
    own.provider_id = Some(ProviderId::from(format!("fake:///of-{uid}")));
    own.deleting = Some(second(99));
    claim
}

/// The same without an instance that it knows of, and with a launch of its own.
fn launching(mut claim: Arc<NodeClaim>) -> Arc<NodeClaim> {
    let own = Arc::make_mut(&mut claim);
    own.provider_id = None;
    let batch = LaunchBatch::new([&own.uid], 1, 0);
    own.annotations.extend(batch.to_annotations());
    claim
}

fn only(claim: &Arc<NodeClaim>) -> Objects {
    Objects {
        claims: vec![Arc::clone(claim)],
        ..Objects::default()
    }
}

/// The instance that an order ends.
fn ended(order: &Order) -> Option<&str> {
    match &order.request {
        Request::Cloud(CloudCall::Terminate { instance }) => Some(instance.as_str()),
        _ => None,
    }
}

#[test]
fn what_the_cloud_said_of_a_claim_is_not_said_of_its_successor() {
    let (mut world, orders) = World::finding(&only(&going("a")));
    let released = world.answer(&orders[0], Answer::Gone);
    assert_eq!(purposes(&released), [Purpose::ReleaseClaim]);
    assert_eq!(released[0].uid, Some(Uid::from("a")));
    // Between two looks it went, and another of its name came.
    let orders = world.see(Object::Claim(going("b")));
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
    assert_eq!(ended(&orders[0]), Some("fake:///of-b"));
}

#[test]
fn a_late_answer_about_a_claim_is_not_taken_for_its_successor() {
    let (mut world, orders) = World::finding(&only(&going("a")));
    let own = world.see(Object::Claim(going("b")));
    assert_ne!(orders[0].id, own[0].id, "an attempt is a claim's own");
    assert_eq!(purposes(&world.answer(&orders[0], Answer::Gone)), []);
    let released = world.answer(&own[0], Answer::Gone);
    assert_eq!(purposes(&released), [Purpose::ReleaseClaim]);
    assert_eq!(released[0].uid, Some(Uid::from("b")));
}

#[test]
fn a_late_deletion_of_a_claim_leaves_its_successor() {
    let (mut world, _) = World::finding(&only(&going("a")));
    world.see(Object::Claim(going("b")));
    world.miss(Object::Claim(going("a")));
    let name = ClaimName::from("claim-n1");
    let uid = |world: &World| {
        let claims = &world.engine.cluster().claims;
        claims.get(&name).map(|claim| claim.uid.clone())
    };
    assert_eq!(uid(&world), Some(Uid::from("b")));
    world.miss(Object::Claim(going("b")));
    assert_eq!(uid(&world), None);
}

#[test]
fn an_older_word_about_a_predecessor_changes_nothing() {
    let mut cluster = Cluster::default();
    cluster.apply(Object::Claim(going("b")), Version(7));
    cluster.apply(Object::Claim(going("a")), Version(5));
    let claim = cluster.claims.get(&ClaimName::from("claim-n1"));
    assert_eq!(claim.map(|claim| claim.uid.as_str()), Some("b"));
}

/// An empty node that is to go and waits for its taint, and the claim whose it is.
fn emptied() -> (World, Arc<Node>, Arc<NodeClaim>) {
    let small = instance_type("small").cpu(4000).memory_mib(8192).pods(110);
    let small = small.no_overhead().price(0.1).offered(ZONE_1, OnDemand);
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
        pool.disruption.budgets.clear();
    });
    let n1 = node("n1").managed("general").of_type("small").zone(ZONE_1);
    let n1 = n1.label(CAPACITY_TYPE, "on-demand");
    let sold = cluster().sells(small).pool(general).node(n1);
    let (objects, ..) = sold.clone().parts();
    let (mut world, mut orders) = World::on(&objects, sold, 100);
    orders.extend(world.wait(300));
    // There is no answer, so that it is asked for again.
    let said = |own: &Purpose| matches!(own, Purpose::Taint | Purpose::MarkDisruption);
    assert!(purposes(&orders).iter().all(said));
    assert!(!orders.is_empty());
    let mut node = Arc::clone(&objects.nodes[0]);
    Arc::make_mut(&mut node).taints.push(leaving());
    (world, node, Arc::clone(&objects.claims[0]))
}

#[test]
fn a_command_about_a_claim_is_not_carried_out_on_its_successor() {
    let (mut world, tainted, claim) = emptied();
    let orders = world.see(Object::Node(Arc::clone(&tainted)));
    assert_eq!(purposes(&orders), [Purpose::DeleteClaim]);
    assert_eq!(orders[0].uid, Some(claim.uid.clone()));

    let (mut world, tainted, mut other) = emptied();
    Arc::make_mut(&mut other).uid = Uid::from("other");
    let mut orders = world.see(Object::Claim(other));
    orders.extend(world.see(Object::Node(tainted)));
    let goes = |order: &Order| order.purpose == Purpose::DeleteClaim;
    assert!(!orders.iter().any(goes), "{:?}", purposes(&orders));
    // No command moves it any more: its taint is taken off.
    assert!(purposes(&orders).contains(&Purpose::Untaint));
}

#[test]
fn nothing_is_launched_for_a_claim_without_our_finalizer() {
    let fixture = node("n1").managed("general").phase(ClaimPhase::Created);
    let mut claim = Arc::clone(&cluster().node(fixture).parts().0.claims[0]);
    Arc::make_mut(&mut claim).held = false;
    let (_, orders) = World::finding(&only(&claim));
    assert_eq!(purposes(&orders), [Purpose::Hold]);
}

#[test]
fn a_claim_without_a_pool_is_served() {
    let mut claim = going("a");
    let own = Arc::make_mut(&mut claim);
    own.pool = plimsoll_base::ids::PoolName::default();
    let (_, orders) = World::finding(&only(&claim));
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
    Arc::make_mut(&mut claim).deleting = None;
    Arc::make_mut(&mut claim).expire_after = Some(Span::from_secs(90));
    let (_, orders) = World::finding(&only(&claim));
    assert_eq!(orders[0].purpose, Purpose::DeleteClaim);
}

fn leaving() -> Taint {
    taint("karpenter.sh/disrupted", "", Effect::NoSchedule)
}

/// A node says that it goes: to the scheduler and to load balancers.
fn leave(node: &mut Node) {
    node.taints.push(leaving());
    let key = EXCLUDED_FROM_LOAD_BALANCERS;
    node.labels.insert(key.into(), "karpenter".into());
}

/// A node of ours with a pod, and no claim.
fn left(asked_to_go: bool) -> (Arc<Node>, Arc<Pod>) {
    let fixture = node("n1").label("karpenter.k8s.aws/ec2nodeclass", "default");
    let fixture = fixture.with(|node| node.held = true);
    let (objects, ..) = cluster().node(fixture).pod(pod("p1").on("n1")).parts();
    let mut node = Arc::clone(&objects.nodes[0]);
    Arc::make_mut(&mut node).deleting = asked_to_go.then(|| second(99));
    (node, Arc::clone(&objects.pods[0]))
}

#[test]
fn a_node_without_a_claim_is_drained_and_let_go_once_its_machine_is_gone() {
    let (mut node, pod) = left(true);
    let objects = Objects {
        nodes: vec![Arc::clone(&node)],
        pods: vec![Arc::clone(&pod)],
        ..Objects::default()
    };
    let (mut world, orders) = World::finding(&objects);
    assert_eq!(purposes(&orders), [Purpose::Taint]);
    Arc::make_mut(&mut node).taints.push(leaving());
    let orders = world.see(Object::Node(Arc::clone(&node)));
    assert_eq!(purposes(&orders), [Purpose::Evict]);
    world.answer(&orders[0], Answer::Nothing);
    world.miss(Object::Pod(pod));
    let orders = world.wait(10);
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
    assert_eq!(orders[0].object, ObjectKey::Node(NodeName::from("n1")));
    world.answer(&orders[0], Answer::Ending);
    let orders = world.wait(10);
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
    let orders = world.answer(&orders[0], Answer::Gone);
    assert_eq!(purposes(&orders), [Purpose::ReleaseNode]);
    assert_eq!(orders[0].uid, Some(node.uid.clone()));
    world.answer(&orders[0], Answer::Nothing);
    world.miss(Object::Node(node));
    assert_eq!(purposes(&world.wait(600)), []);
}

#[test]
fn a_silent_node_without_a_claim_is_let_go_with_its_pods_once_its_machine_is_gone() {
    let (mut node, pod) = left(true);
    let own = Arc::make_mut(&mut node);
    leave(own);
    own.conditions = plimsoll_model::NodeConditions::default();
    let objects = Objects {
        nodes: vec![Arc::clone(&node)],
        pods: vec![pod],
        ..Objects::default()
    };
    let (mut world, orders) = World::finding(&objects);
    assert_eq!(purposes(&orders), [Purpose::Find, Purpose::Evict]);
    let orders = world.answer(&orders[0], Answer::Absent);
    assert_eq!(purposes(&orders), [Purpose::ReleaseNode]);
}

#[test]
fn a_node_without_a_claim_that_nobody_asked_to_go_is_left_alone() {
    let (node, pod) = left(false);
    let objects = Objects {
        nodes: vec![node],
        pods: vec![pod],
        ..Objects::default()
    };
    let (mut world, orders) = World::finding(&objects);
    assert_eq!(purposes(&orders), []);
    assert_eq!(purposes(&world.wait(600)), []);
}

#[test]
fn a_node_goes_with_its_claim_and_by_itself_once_that_is_gone() {
    let (node, _) = left(true);
    let mut claim = going("a");
    Arc::make_mut(&mut claim).provider_id = node.provider_id.clone();
    let objects = Objects {
        nodes: vec![Arc::clone(&node)],
        claims: vec![Arc::clone(&claim)],
        ..Objects::default()
    };
    let (mut world, orders) = World::finding(&objects);
    // The claim's instance ends first: its node has not joined.
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
    let orders = world.miss(Object::Claim(claim));
    assert_eq!(purposes(&orders), [Purpose::Taint]);
    let of_node = |order: &Order| matches!(order.request, Request::Write(Write::ChangeNode(..)));
    assert!(orders.iter().all(of_node));
}

#[test]
fn a_node_that_was_made_again_is_another() {
    let (mut node, _) = left(true);
    leave(Arc::make_mut(&mut node));
    let objects = Objects {
        nodes: vec![Arc::clone(&node)],
        ..Objects::default()
    };
    let (mut world, mut orders) = World::finding(&objects);
    orders.extend(world.wait(10));
    assert_eq!(purposes(&orders), [Purpose::Terminate]);
    let orders = world.answer(&orders[0], Answer::Gone);
    assert_eq!(purposes(&orders), [Purpose::ReleaseNode]);
    let mut other = Arc::clone(&node);
    Arc::make_mut(&mut other).uid = Uid::from("other");
    let own = world.see(Object::Node(Arc::clone(&other)));
    assert_eq!(
        purposes(&own),
        [Purpose::Terminate],
        "its instance was not asked about"
    );
    assert_eq!(own[0].uid, Some(Uid::from("other")));
}

#[test]
fn a_machine_found_for_a_going_claim_is_the_claim_s_own() {
    let claim = launching(going("a"));
    let (mut world, orders) = World::finding(&only(&claim));
    assert_eq!(purposes(&orders), [Purpose::Find]);
    let machine = LaunchedInstance {
        provider_id: ProviderId::from("fake:///late"),
        labels: Labels::new(),
        annotations: Labels::new(),
        capacity: Resources::new(),
        allocatable: Resources::new(),
        image: None,
        launched: None,
    };
    // The claim goes meanwhile, and another of its name comes.
    let other = launching(going("b"));
    let own = world.see(Object::Claim(other));
    assert_eq!(purposes(&own), [Purpose::Find]);
    let found = |became: ClaimLaunch| {
        Answer::Launched(LaunchAnswer {
            claims: vec![became],
            exhausted: Vec::new(),
        })
    };
    let late = ClaimLaunch::Instance(Box::new(machine));
    world.answer(&orders[0], found(late));
    let orders = world.answer(&own[0], found(ClaimLaunch::Absent));
    assert_eq!(purposes(&orders), [Purpose::ReleaseClaim]);
}
