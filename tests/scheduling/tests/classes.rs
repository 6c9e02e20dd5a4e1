//! Classes of nodes that differ in their kubelet settings: every pool's nodes have the room that its own class leaves.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::resources::ResourceName;
use plimsoll_check::Rule;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::{ClaimPhase, PackingMode};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, Run, check};

/// A type of 8 cores and 16 GiB for 58 pods.
fn roomy() -> TypeFixture {
    let sold = instance_type("m").cpu(8000).memory_mib(16_384).pods(58);
    sold.no_overhead().price(1.0).offered(ZONE_1, OnDemand)
}

/// The same where the kubelet takes four pods and keeps two cores and 4 GiB back.
fn lean() -> TypeFixture {
    let kept = roomy().pods(4).overhead(ResourceName::Cpu, 2000);
    kept.overhead(ResourceName::Memory, 4096 * MEBIBYTE)
}

/// A pool of each class, called as its class.
fn market() -> ClusterFixture {
    let sold = cluster().sells(roomy()).class_sells("lean", lean());
    let sold = sold.pool(pool("roomy").class("roomy"));
    let sold = sold.pool(pool("lean").class("lean"));
    sold.settings(|settings| settings.guards.replicas_apart_from = u32::MAX)
}

/// Pods of a pool.
fn pods(of: &str, cpu: i64, count: usize) -> impl Iterator<Item = PodFixture> + use<> {
    let one = pod(of).cpu(cpu).memory_mib(64).select(NODEPOOL, of);
    one.replicas(count)
}

/// How many nodes are bought for each pool.
fn bought(outcome: &Outcome) -> Vec<(String, usize)> {
    outcome.agreed(|run| {
        let mut result = BTreeMap::new();
        for claim in &run.plan().claims {
            *result.entry(claim.pool.to_string()).or_insert(0) += 1;
        }
        result.into_iter().collect()
    })
}

fn counted(pools: [(&str, usize); 2]) -> Vec<(String, usize)> {
    let owned = |(pool, count): (&str, usize)| (pool.to_owned(), count);
    pools.map(owned).to_vec()
}

#[test]
fn nodes_of_each_pool_hold_as_many_pods_as_its_own_class_allows() {
    let wanted = pods("roomy", 100, 9).chain(pods("lean", 100, 9));
    let outcome = check(market().pods(wanted));
    assert_eq!(outcome.unplaced(), 0);
    assert_eq!(bought(&outcome), counted([("lean", 3), ("roomy", 1)]));
}

#[test]
fn cores_that_a_kubelet_keeps_are_not_for_pods() {
    let wanted = pods("roomy", 2000, 4).chain(pods("lean", 2000, 4));
    let outcome = check(market().pods(wanted));
    assert_eq!(bought(&outcome), counted([("lean", 2), ("roomy", 1)]));
    // Carried out, the nodes are as large as they were planned: more of the same need more nodes.
    let later = outcome.then(pods("lean", 2000, 2));
    assert_eq!((later.unplaced(), later.bought()), (0, 0));
    let later = later.then(pods("lean", 2000, 1));
    assert_eq!((later.unplaced(), later.bought()), (0, 1));
}

#[test]
fn a_pod_goes_to_the_pool_whose_class_leaves_room_for_it() {
    let heavy = market().pool(pool("first").class("lean").weight(10));
    let outcome = check(heavy.pod(pod("big").cpu(7000)));
    outcome.agreed(|run| assert_eq!(run.plan().claims[0].pool.as_str(), "roomy"));
    let outcome = check(market().pod(pod("big").cpu(7000).select(NODEPOOL, "lean")));
    assert_eq!(outcome.unplaced(), 1);
}

/// Nodes bought for five pods beside a claim in flight of a pool and a class.
fn beside_a_claim(pool: &str, class: &str) -> usize {
    let claim = node("n1")
        .managed(pool)
        .class(class)
        .of_type("m")
        .zone(ZONE_1);
    let claim = claim.label(CAPACITY_TYPE, "on-demand");
    let claim = claim.phase(ClaimPhase::Created);
    let (mut objects, catalogues, settings) = market().node(claim).pods(pods(pool, 100, 5)).parts();
    let unread = Arc::make_mut(&mut objects.claims[0]);
    (unread.capacity, unread.allocatable) = Default::default();
    let run = Run::new(objects, &catalogues, &settings, PackingMode::Price);
    assert_eq!(run.plan().unplaced, []);
    run.plan().claims.len()
}

#[test]
fn a_claim_in_flight_counts_with_what_its_own_class_leaves() {
    assert_eq!(beside_a_claim("roomy", "roomy"), 0);
    assert_eq!(beside_a_claim("lean", "lean"), 1, "it takes four of five");
    assert_eq!(
        beside_a_claim("roomy", "lean"),
        1,
        "its pool has another class by now"
    );
    assert_eq!(beside_a_claim("lean", "roomy"), 0);
}

#[test]
fn the_checker_goes_by_the_class_of_the_pool() {
    let snapshot = |of| market().pods(pods(of, 100, 5)).snapshot();
    for (of, fits) in [("roomy", true), ("lean", false)] {
        let snapshot = snapshot(of);
        let names: Vec<String> = snapshot
            .pods
            .iter()
            .map(|pod| pod.name.name.to_string())
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let made = plan(&snapshot)
            .buy_for(of, &[("m", ZONE_1, OnDemand)], &names)
            .build();
        let findings = plimsoll_check::check(&snapshot, &made);
        let over = findings.iter().any(|finding| finding.rule == Rule::Room);
        assert_eq!(over, !fits, "{of}: {findings:#?}");
    }
}

#[test]
fn limits_are_charged_with_what_nodes_of_the_class_have() {
    let limited = |class: &str| {
        let devices = ResourceName::from("example.com/device");
        let own = roomy().amount(devices.clone(), 1);
        let fixture = cluster().sells(roomy()).class_sells("lean", own);
        let pool = pool("general").class(class).limit(devices, 1);
        let outcome = check(fixture.pool(pool).pods(pod("web").cpu(6000).replicas(2)));
        outcome.unplaced()
    };
    assert_eq!((limited("roomy"), limited("lean")), (0, 1));
}

#[test]
fn what_a_class_is_not_sold_its_pools_do_not_buy() {
    let small = || {
        instance_type("small")
            .cpu(1000)
            .price(0.01)
            .offered(ZONE_2, OnDemand)
    };
    let wanted = pods("roomy", 100, 1).chain(pods("lean", 100, 1));
    let fixture = market().sells(small()).pods(wanted);
    let (objects, all, settings) = fixture.parts();
    let only = all.of_others().with_types([lean().build()]);
    let classes = [(class("lean"), Arc::new(only))];
    let catalogues = Catalogues::new(Arc::clone(all.of_others()), classes);
    for packing in [PackingMode::Price, PackingMode::Compatible] {
        let run = Run::new(objects.clone(), &catalogues, &settings, packing);
        let mut bought: Vec<(String, String)> = Vec::new();
        for claim in &run.plan().claims {
            let named = claim
                .options
                .iter()
                .map(|option| option.instance_type.to_string());
            bought.extend(named.map(|name| (claim.pool.to_string(), name)));
        }
        bought.sort();
        let lean_ones = bought.iter().filter(|(pool, _)| pool == "lean");
        let lean_ones: Vec<&str> = lean_ones.map(|(_, name)| name.as_str()).collect();
        assert_eq!(lean_ones, ["m"], "{packing:?}");
        assert!(
            bought.contains(&("roomy".to_owned(), "small".to_owned())),
            "{packing:?}: {bought:?}"
        );
        assert_eq!(
            run.domains(ZONE, "lean").into_keys().collect::<Vec<_>>(),
            [ZONE_1]
        );
    }
}

#[test]
fn zones_that_a_class_is_not_sold_are_none_to_spread_over() {
    let everywhere = roomy().offered(ZONE_2, OnDemand);
    let fixture = cluster().sells(everywhere).class_sells("lean", lean());
    let spread = |class: &str| {
        let fixture = fixture.clone().pool(pool("general").class(class));
        check(fixture.pods(pod("web").cpu(100).spread(ZONE, 1).replicas(4))).skew(ZONE, "web")
    };
    assert_eq!(spread("roomy"), [2, 2]);
    assert_eq!(spread("lean"), [4]);
}

#[test]
fn policies_are_shown_a_type_once_for_each_size_that_classes_have_it_in() {
    let shown = |fixture: ClusterFixture| {
        let snapshot = fixture.pod(pod("web").cpu(100)).snapshot();
        let prepared = plimsoll_schedule::prepare(&snapshot);
        let question = prepared.question().expect("there is something to buy");
        let mut pods = question.tables.catalogue.t_pods.clone();
        pods.sort_unstable();
        pods
    };
    assert_eq!(shown(market()), [4, 58]);
    let same = cluster().sells(roomy()).class_sells("lean", roomy());
    let same = same
        .pool(pool("roomy").class("roomy"))
        .pool(pool("lean").class("lean"));
    assert_eq!(shown(same), [58]);
}

#[test]
fn overlays_change_what_the_class_of_a_pool_lists() {
    let cheap = overlay("cheap")
        .needs(is_in(NODEPOOL, &["lean"]))
        .price(0.5);
    let snapshot = market().overlay(cheap).snapshot();
    let overlaid = snapshot.overlaid();
    let sold = |pool: &str| {
        let sold = overlaid.of(&pool.into()).get("m").expect("it is sold");
        (
            sold.offerings[0].price.dollars(),
            sold.capacity.get(&ResourceName::Pods),
        )
    };
    assert_eq!(sold("lean"), (0.5, 4));
    assert_eq!(sold("roomy"), (1.0, 58));
}
