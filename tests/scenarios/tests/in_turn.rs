//! Pods under a hard spread, which the scheduler refuses while more of them are nominated to their node than the skew allows.

use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::action::{Answer, Outcome, Request, Write};
use plimsoll_model::{ClaimPhase, Object, OwnerKind, Pod, Version};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PodFixture, ZONE, ZONE_1, ZONE_2, cluster, instance_type, node, pod, pool,
};

use super::driven::Driven;

const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);
const SOON: Span = Span::from_millis(500);

/// Six pods for two nodes in two zones, once they are planned.
fn planned(pods: impl Fn(PodFixture) -> PodFixture) -> Driven {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2);
    let sold = sold.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand);
    let free = |name: &str, zone: &str| {
        let free = node(name).managed("general").of_type("four").zone(zone);
        let free = free.cpu(4000).memory_mib(16_384).pods(110);
        free.phase(ClaimPhase::Initialized)
    };
    let own = pods(pod("web").cpu(500).owned_by(OwnerKind::ReplicaSet, "web"));
    let fixture = cluster().pool(pool("general")).sells(sold);
    let fixture = fixture
        .node(free("n1", ZONE_1))
        .node(free("n2", ZONE_2))
        .pods(own.replicas(6))
        .settings(|settings| settings.nominations = true);
    let mut driven = Driven::start(fixture, NOW);
    driven.plan();
    driven
}

/// Nominations written within half a second, each of which is carried out: pods with their nodes.
fn nominated(driven: &mut Driven) -> Vec<(ObjectName, NodeName)> {
    let mut result = Vec::new();
    for order in driven.nominations(SOON) {
        let nominates = match &order.request {
            Request::Write(Write::Nominate { pod, node, .. }) => node.clone().map(|it| (pod, it)),
            _ => None,
        };
        let (pod, node) = nominates.expect("it nominates a pod");
        let written = changed(driven, pod, |pod| pod.nominated = Some(node.clone()));
        let done = Answer::Object(written, Version(10));
        driven.hand_in(Input::Outcome(order.id, Outcome::Done(done)));
        result.push((pod.clone(), node.clone()));
    }
    result
}

fn changed(driven: &Driven, name: &ObjectName, change: impl Fn(&mut Pod)) -> Object {
    let found = driven.engine.cluster().pods.get(name);
    let mut pod = Pod::clone(found.expect("it is there"));
    change(&mut pod);
    Object::Pod(Arc::new(pod))
}

#[test]
fn the_next_pod_under_a_hard_spread_is_nominated_once_one_before_it_is_bound() {
    let mut driven = planned(|pod| pod.spread(ZONE, 1));
    let mut bound = 0;
    for round in 0..3 {
        let orders = nominated(&mut driven);
        let mut nodes: Vec<&str> = orders.iter().map(|(_, node)| node.as_str()).collect();
        nodes.sort_unstable();
        assert_eq!(nodes, ["n1", "n2"], "round {round}");
        for (pod, node) in &orders {
            let there = changed(&driven, pod, |pod| pod.node = Some(node.clone()));
            driven.hand_in(Input::Applied(there, Version(20 + bound)));
            bound += 1;
        }
    }
    assert_eq!(bound, 6);
}

#[test]
fn a_pod_that_is_gone_makes_room_for_the_next_nomination() {
    let mut driven = planned(|pod| pod.spread(ZONE, 1));
    let orders = nominated(&mut driven);
    let (pod, node) = &orders[0];
    let gone = changed(&driven, pod, |_| {});
    driven.hand_in(Input::Deleted(gone, Version(30)));
    let next = nominated(&mut driven);
    let nodes: Vec<&NodeName> = next.iter().map(|(_, node)| node).collect();
    assert_eq!(nodes, [node]);
}

#[test]
fn as_many_as_the_skew_allows_are_nominated_at_once_and_all_where_nothing_is_hard() {
    let mut two = planned(|pod| pod.spread(ZONE, 2));
    assert_eq!(nominated(&mut two).len(), 4);
    let mut all = planned(|pod| pod.prefers_spread(ZONE, 1));
    assert_eq!(nominated(&mut all).len(), 6);
}
