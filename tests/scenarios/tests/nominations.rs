//! Places that pods are promised on a node, and that others take before them.

use std::sync::Arc;

use plimsoll_core::action::{Answer, Order, Outcome, Purpose, Request, Write};
use plimsoll_core::engine::Input;
use plimsoll_core::ids::NodeName;
use plimsoll_core::model::{ClaimPhase, Object, OwnerKind, Pod, Version};
use plimsoll_core::time::{Span, Timestamp};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PodFixture, ZONE_1, cluster, instance_type, node, pod, pool,
};

use super::driven::{Driven, ordered, solve};

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
    let mut driven = Driven::start(fixture, Timestamp::from_millis(1_000_000_000));
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

    /// A pod that nobody planned is bound to the node.
    fn bind(&mut self, stranger: PodFixture) {
        let bound = stranger.with(|pod| {
            pod.node = Some(NodeName::from("n1"));
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
