//! Places that pods are promised on a node, and that others take before them.

use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::NOMINATION_WINDOW;
use plimsoll_engine::Input;
use plimsoll_lifecycle::UNREGISTERED_TAINT;
use plimsoll_model::action::{
    Action, Answer, Order, Outcome, Purpose, Request, SolveRequest, Write,
};
use plimsoll_model::{
    ClaimPhase, Effect, Node, NodeConditions, Object, OwnerKind, Pod, Readiness, Version,
};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PodFixture, ZONE, ZONE_1, ZONE_2, cluster, instance_type, node, pod, pool,
};

use super::driven::{Driven, consider, ordered, solve};

const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);
/// Less than any promise lasts.
const SOON: Span = Span::from_secs(3);

fn of(app: &str, milli: i64) -> PodFixture {
    let pod = pod(&format!("{app}-1")).cpu(milli);
    pod.owned_by(OwnerKind::ReplicaSet, app)
}

/// A node of four processors on which a large and a small pod have just been promised their places, with the orders to nominate them.
fn promised() -> (Driven, Vec<Order>) {
    promised_where(true)
}

/// The same under a scheduler that honours nominations, or does not.
fn promised_where(honoured: bool) -> (Driven, Vec<Order>) {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2);
    let free = node("n1").managed("general").of_type("four").cpu(4000);
    let free = free.memory_mib(16_384).pods(110);
    let fixture = cluster().pool(pool("general"));
    let fixture = fixture.sells(sold.offered(ZONE_1, OnDemand));
    let fixture = fixture.node(free.phase(ClaimPhase::Initialized));
    let fixture = fixture.pods([of("large", 3000), of("small", 900)]);
    let fixture = fixture.settings(|settings| settings.nominations = honoured);
    let mut driven = Driven::start(fixture, NOW);
    driven.plan();
    let orders = std::mem::take(&mut driven.actions).into_iter();
    let orders = orders.filter_map(|action| ordered(action, Purpose::Nominate));
    (driven, orders.map(|order| *order).collect())
}

/// The pod that an order is about, as it is once the order is carried out.
fn nominated(driven: &Driven, order: &Order) -> Arc<Pod> {
    let nominates = match &order.request {
        Request::Write(Write::Nominate { pod, node, .. }) => Some((pod, node)),
        _ => None,
    };
    let (pod, node) = nominates.expect("it nominates a pod");
    let pod = driven.engine.cluster().pods.get(pod).expect("it is there");
    let mut pod = Pod::clone(pod);
    pod.nominated.clone_from(node);
    Arc::new(pod)
}

impl Driven {
    fn see(&mut self, pod: Arc<Pod>, version: u64) {
        self.hand_in(Input::Applied(Object::Pod(pod), Version(version)));
    }

    /// A pod that was not planned is bound to the node.
    fn bind(&mut self, stranger: PodFixture) {
        self.bind_to("n1", stranger);
    }

    /// A pod is bound to a node.
    fn bind_to(&mut self, node: &str, pod: PodFixture) {
        let bound = pod.with(|pod| {
            pod.node = Some(NodeName::from(node));
            pod.unschedulable = false;
        });
        let (objects, ..) = cluster().pod(bound).parts();
        self.see(Arc::clone(&objects.pods[0]), 50);
    }
}

#[test]
fn a_place_that_another_pod_takes_is_taken_back_and_planned_anew_at_once() {
    let (mut driven, orders) = promised();
    assert_eq!(orders.len(), 2);
    for order in &orders {
        let pod = nominated(&driven, order);
        let done = Answer::Object(Object::Pod(pod), Version(2));
        driven.hand_in(Input::Outcome(order.id, Outcome::Done(done)));
    }
    driven.bind(of("stranger", 1500));
    let withdraw = driven.next(SOON, |action| ordered(action, Purpose::Withdraw));
    let withdraw = withdraw.expect("the large one has no place any more");
    let pod = nominated(&driven, &withdraw);
    assert_eq!(&*pod.name.name, "large-1");
    let done = Answer::Object(Object::Pod(pod), Version(60));
    driven.hand_in(Input::Outcome(withdraw.id, Outcome::Done(done)));
    let request = driven.next(SOON, solve).expect("it asks anew");
    let asking = request.snapshot.pods.iter();
    let asking = asking.filter(|pod| pod.node.is_none());
    let asking: Vec<&str> = asking.map(|pod| &*pod.name.name).collect();
    assert_eq!(asking, ["large-1"], "the small one keeps its place");
}

#[test]
fn nobody_is_nominated_where_the_scheduler_does_not_honour_it() {
    let (mut driven, orders) = promised_where(false);
    assert_eq!(orders, []);
    assert!(
        driven.next(SOON, solve).is_none(),
        "what was promised stands"
    );
    driven.bind(of("stranger", 1500));
    let request = driven.next(SOON, solve).expect("one has no place now");
    let asking = request.snapshot.pods.iter();
    let asking = asking.filter(|pod| pod.node.is_none());
    let asking: Vec<&str> = asking.map(|pod| &*pod.name.name).collect();
    assert_eq!(asking, ["large-1"]);
}

#[test]
fn a_place_is_kept_while_all_that_was_promised_fits() {
    let (mut driven, _) = promised();
    driven.bind(of("stranger", 100));
    let withdraw = |action| ordered(action, Purpose::Withdraw);
    assert!(driven.next(SOON, withdraw).is_none());
    assert!(driven.next(SOON, solve).is_none());
}

/// Claims that the next look at disruption skips, since pods are on their way to them.
fn awaiting(driven: &mut Driven) -> usize {
    let request = driven.next(Span::from_secs(15), consider).expect("a look");
    request.snapshot.activity.promised.len()
}

#[test]
fn a_node_to_which_nobody_is_on_the_way_any_more_may_go_before_its_promises_lapse() {
    let bind = |driven: &mut Driven, app: &str, milli| driven.bind(of(app, milli));
    let (mut driven, _) = promised();
    bind(&mut driven, "large", 3000);
    assert_eq!(awaiting(&mut driven), 1, "the small one is on its way");

    let (mut driven, _) = promised();
    bind(&mut driven, "large", 3000);
    bind(&mut driven, "small", 900);
    for name in ["large-1", "small-1"] {
        let name = ObjectName::new("default", name);
        let pod = driven.engine.cluster().pods.get(&name);
        let pod = pod.cloned().expect("it is there");
        driven.hand_in(Input::Deleted(Object::Pod(pod), Version(70)));
    }
    assert_eq!(awaiting(&mut driven), 0);
    assert!(driven.now < NOW + NOMINATION_WINDOW);
}

#[test]
fn a_nomination_that_is_still_being_written_is_taken_back_once_it_is_there() {
    let (mut driven, orders) = promised();
    driven.bind(of("stranger", 1500));
    let withdraw = |action| ordered(action, Purpose::Withdraw);
    assert!(
        driven.next(SOON, withdraw).is_none(),
        "there is nothing yet"
    );
    for order in &orders {
        let pod = nominated(&driven, order);
        let done = Answer::Object(Object::Pod(pod), Version(2));
        driven.hand_in(Input::Outcome(order.id, Outcome::Done(done)));
    }
    let withdraw = driven.next(SOON, withdraw).expect("nobody else would");
    let pod = nominated(&driven, &withdraw);
    assert_eq!(&*pod.name.name, "large-1");
}

#[test]
fn a_nomination_to_another_node_than_the_last_one_asked_for_is_taken_back_too() {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2);
    let own = |name| {
        let own = node(name).managed("general").of_type("four").cpu(4000);
        own.memory_mib(16_384).pods(110)
    };
    let large = |name| pod(name).cpu(3000).owned_by(OwnerKind::ReplicaSet, "large");
    let fixture = cluster().pool(pool("general"));
    let fixture = fixture.sells(sold.offered(ZONE_1, OnDemand));
    let fixture = fixture.node(own("n1")).node(own("n2"));
    let fixture = fixture.pods([large("large-1"), large("large-2")]);
    let fixture = fixture.settings(|settings| settings.nominations = true);
    let mut driven = Driven::start(fixture, NOW);
    driven.plan();
    let orders = driven.nominations(Span::ZERO);
    let order = orders.iter().find(|order| {
        let pod = nominated(&driven, order);
        &*pod.name.name == "large-1"
    });
    let order = order.expect("both are nominated").clone();
    let pod = nominated(&driven, &order);
    let (here, there) = match pod.nominated.as_ref().map(NodeName::as_str) {
        Some("n1") => ("n1", "n2"),
        _ => ("n2", "n1"),
    };
    // Before the write has ended the other pod takes its place, and then a stranger the place that it could have instead.
    driven.bind_to(here, large("large-2"));
    driven.bind_to(there, of("stranger", 1500));
    let done = Answer::Object(Object::Pod(pod), Version(60));
    driven.hand_in(Input::Outcome(order.id, Outcome::Done(done)));
    let withdraw = driven.next(SOON, |action| ordered(action, Purpose::Withdraw));
    assert!(withdraw.is_some(), "it has no place on either");
}

/// Pods that want to be where the others of their kind are: one was bound in the second zone, where there is no more room, before those of
/// whom each was promised a node in the first. They asked for these nodes one after the other.
fn parted() -> Driven {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2).zones(&[ZONE_1, ZONE_2]);
    let own = |name: &str, zone: &str| {
        let own = node(name).managed("general").of_type("four").cpu(4000);
        let own = own.memory_mib(16_384).pods(110).zone(zone);
        own.phase(ClaimPhase::Initialized)
    };
    let fixture = cluster().pool(pool("general")).sells(sold);
    let fixture = fixture.node(own("n1", ZONE_1)).node(own("n2", ZONE_1));
    let fixture = fixture.node(own("n3", ZONE_2));
    let fixture = fixture.pod(together(1)).pod(of("stranger", 3900).on("n3"));
    let fixture = fixture.settings(|settings| settings.nominations = true);
    let mut driven = Driven::start(fixture, NOW);
    driven.plan();
    assert!(
        driven.asked(Span::from_secs(7)).is_none(),
        "it has its promise"
    );
    let (objects, ..) = cluster().pod(together(2)).parts();
    driven.see(Arc::clone(&objects.pods[0]), 40);
    driven.plan();
    driven.bind_to("n3", together(0).cpu(100));
    driven
}

impl Driven {
    /// The next question about waiting pods, under a scheduler that tries every nomination at once, in vain, and drops it.
    fn asked(&mut self, within: Span) -> Option<SolveRequest> {
        let end = self.now + within;
        loop {
            for action in std::mem::take(&mut self.actions) {
                match action {
                    Action::Solve(request) => return Some(request),
                    Action::Do(order) if order.purpose == Purpose::Nominate => {
                        let version = self.now.millis().unsigned_abs();
                        self.drop_at_once(&[*order], version);
                    }
                    _ => {}
                }
            }
            let wake = self.engine.next_wake().filter(|wake| *wake < end)?;
            self.now = wake.max(self.now + Span::from_millis(1));
            self.hand_in(Input::Tick);
        }
    }
}

fn together(number: usize) -> PodFixture {
    let pod = pod(&format!("together-{number}")).cpu(3000);
    let pod = pod.label("app", "together").affinity(ZONE).to("together");
    pod.owned_by(OwnerKind::ReplicaSet, "together")
}

#[test]
fn pods_that_were_planned_where_the_others_are_not_are_planned_anew_together() {
    let mut driven = parted();
    let request = driven.asked(Span::from_secs(30));
    let request = request.expect("their time is over");
    let asking = request.snapshot.pods.iter();
    let asking = asking.filter(|pod| pod.node.is_none());
    let mut asking: Vec<&str> = asking.map(|pod| &*pod.name.name).collect();
    asking.sort_unstable();
    assert_eq!(asking, ["together-1", "together-2"]);
    let plan = plimsoll_schedule::plan(&request.snapshot);
    let zones: Vec<&str> = plan
        .claims
        .iter()
        .map(|claim| &*claim.options[0].zone)
        .collect();
    assert_eq!(zones, [ZONE_2, ZONE_2], "{plan:?}");
}

/// A launched claim on which two pods are planned, its node, which was made just now and is not ready, and the orders to nominate them.
fn coming_up() -> (Driven, Node, Vec<Order>) {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2);
    let own = || {
        let own = node("n1").of_type("four").cpu(4000).memory_mib(16_384);
        own.pods(110).with(|node| node.created = NOW)
    };
    let fixture = cluster().pool(pool("general"));
    let fixture = fixture.sells(sold.offered(ZONE_1, OnDemand));
    let claim = own().managed("general").phase(ClaimPhase::Launched);
    let fixture = fixture
        .node(claim)
        .pods([of("large", 3000), of("small", 900)]);
    let fixture = fixture.settings(|settings| settings.nominations = true);
    let mut driven = Driven::start(fixture, NOW);
    driven.plan();
    let came = own().taint(UNREGISTERED_TAINT, "", Effect::NoExecute);
    let came = came.with(|node| {
        node.conditions = NodeConditions::of(Readiness::NotReady, NOW);
        node.created = driven.now;
    });
    let (objects, ..) = cluster().node(came).parts();
    let came = Node::clone(&objects.nodes[0]);
    driven.come(came.clone(), 1);
    let orders = driven.nominations(Span::ZERO);
    (driven, came, orders)
}

impl Driven {
    fn come(&mut self, node: Node, version: u64) {
        self.hand_in(Input::Applied(
            Object::Node(Arc::new(node)),
            Version(version),
        ));
    }

    /// Orders to nominate, since the last look and within a time.
    pub(crate) fn nominations(&mut self, within: Span) -> Vec<Order> {
        let end = self.now + within;
        while let Some(wake) = self.engine.next_wake().filter(|wake| *wake < end) {
            self.now = wake.max(self.now + Span::from_millis(1));
            self.hand_in(Input::Tick);
        }
        let actions = std::mem::take(&mut self.actions).into_iter();
        let orders = actions.filter_map(|action| ordered(action, Purpose::Nominate));
        orders.map(|order| *order).collect()
    }

    /// Carries nominations out, which the scheduler then drops.
    fn drop_at_once(&mut self, orders: &[Order], version: u64) {
        for order in orders {
            let mut pod = nominated(self, order);
            let done = Answer::Object(Object::Pod(Arc::clone(&pod)), Version(version));
            self.hand_in(Input::Outcome(order.id, Outcome::Done(done)));
            Arc::make_mut(&mut pod).nominated = None;
            self.see(pod, version + 1);
        }
    }
}

#[test]
fn what_is_dropped_while_a_node_comes_up_is_nominated_again_when_it_can_join() {
    let (mut driven, mut came, orders) = coming_up();
    assert_eq!(orders.len(), 2);
    driven.drop_at_once(&orders, 10);
    assert_eq!(
        driven.nominations(Span::from_secs(2)),
        [],
        "the node cannot be used yet"
    );
    came.conditions = NodeConditions::of(Readiness::Ready, driven.now);
    driven.come(came, 2);
    assert_eq!(driven.nominations(Span::from_secs(2)).len(), 2);
}

#[test]
fn a_node_is_let_in_after_nine_seconds_however_often_nominations_are_dropped() {
    let (mut driven, came, orders) = coming_up();
    let made = came.created;
    driven.drop_at_once(&orders, 10);
    let joined = driven.next(Span::from_secs(60), |action| {
        ordered(action, Purpose::Register)
    });
    assert!(joined.is_some());
    assert_eq!(driven.now, made + Span::from_secs(9));
}

#[test]
fn a_node_whose_pods_have_gone_is_let_in_at_once() {
    let (mut driven, mut came, orders) = coming_up();
    let pods: Vec<Arc<Pod>> = orders
        .iter()
        .map(|order| nominated(&driven, order))
        .collect();
    driven.drop_at_once(&orders, 10);
    came.conditions = NodeConditions::of(Readiness::Ready, driven.now);
    driven.come(came, 2);
    let joins = |action| ordered(action, Purpose::Register);
    assert!(
        driven.next(Span::from_secs(2), joins).is_none(),
        "it waits for them"
    );
    for pod in pods {
        driven.hand_in(Input::Deleted(Object::Pod(pod), Version(20)));
    }
    let joined = driven.next(Span::from_millis(10), joins);
    assert!(joined.is_some(), "nobody is left to wait for");
}

fn many(name: &str) -> PodFixture {
    pod(name).cpu(125).owned_by(OwnerKind::ReplicaSet, "many")
}

/// Two nodes that have come and are ready in the moment in which a large workload was planned on both; what was ordered when they came.
fn two_for_many() -> (Driven, Vec<Action>) {
    two_for(64)
}

/// The same for a workload of so many pods, of which 64 fit on the two.
fn two_for(count: usize) -> (Driven, Vec<Action>) {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2);
    let own = |name: &str| {
        let own = node(name).of_type("four").cpu(4000).memory_mib(16_384);
        own.pods(110).with(|node| node.created = NOW)
    };
    let launched = |name: &str| own(name).managed("general").phase(ClaimPhase::Launched);
    let pods = (0..count).map(|number| many(&format!("many-{number:04}")));
    let fixture = cluster().pool(pool("general"));
    let fixture = fixture.sells(sold.offered(ZONE_1, OnDemand));
    let fixture = fixture.node(launched("n1")).node(launched("n2")).pods(pods);
    let fixture = fixture.settings(|settings| settings.nominations = true);
    let mut driven = Driven::start(fixture, NOW);
    driven.plan();
    driven.actions.clear();
    for name in ["n1", "n2"] {
        let came = own(name).taint(UNREGISTERED_TAINT, "", Effect::NoExecute);
        let now = driven.now;
        let came = came.with(|node| {
            node.conditions = NodeConditions::of(Readiness::Ready, now);
            node.created = now;
        });
        let (objects, ..) = cluster().node(came).parts();
        driven.come(Node::clone(&objects.nodes[0]), 1);
    }
    let ordered = std::mem::take(&mut driven.actions);
    (driven, ordered)
}

#[test]
fn nodes_that_come_while_their_large_workload_rests_are_let_in_after_the_next_look() {
    let (mut driven, at_once) = two_for_many();
    let joins = |action| ordered(action, Purpose::Register);
    assert_eq!(at_once.into_iter().filter_map(joins).count(), 0);
    let orders = driven.nominations(Span::from_millis(150));
    assert_eq!(orders.len(), 64, "those on both nodes");
    for order in &orders {
        let pod = nominated(&driven, order);
        let done = Answer::Object(Object::Pod(pod), Version(9));
        driven.hand_in(Input::Outcome(order.id, Outcome::Done(done)));
    }
    let joined = driven.next(Span::from_millis(150), joins);
    assert!(joined.is_some(), "its pods are nominated");
}

#[test]
fn a_place_whose_nomination_is_being_written_is_given_to_no_pod_that_comes_later() {
    let (mut driven, _) = two_for_many();
    assert_eq!(driven.nominations(Span::from_millis(150)).len(), 64);
    let (objects, ..) = cluster().pod(many("many-0000a")).parts();
    driven.see(Arc::clone(&objects.pods[0]), 30);
    assert_eq!(driven.nominations(Span::from_millis(500)), []);
}

#[test]
fn where_more_pods_wait_than_could_be_nominated_in_time_their_nodes_wait_for_none() {
    let (mut driven, _) = two_for(1_501);
    let joined = driven.next(Span::from_millis(150), |action| {
        ordered(action, Purpose::Register)
    });
    assert!(joined.is_some());
    assert_eq!(driven.nominations(Span::from_secs(1)), []);
}
