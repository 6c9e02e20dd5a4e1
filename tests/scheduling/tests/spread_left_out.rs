//! Pods under a hard spread that a plan would leave out for the sake of domains or hosts in which no node comes to be, and pods that a
//! hard spread of others counts.

use plimsoll_model::PackingMode;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::check;

fn four() -> TypeFixture {
    let four = instance_type("four").no_overhead().cpu(4000);
    four.memory_mib(16_384).pods(20).price(0.2)
}

/// What is sold in two zones, and a node in the first that anything fits on.
fn free_in_zone_1() -> ClusterFixture {
    let free = node("free").zone(ZONE_1).cpu(16_000).memory_mib(65_536);
    cluster()
        .sells(four().offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand))
        .node(free.pods(50))
}

#[test]
fn hosts_that_no_pool_can_make_hold_no_pod_back() {
    let there = |name: &str| {
        let there = node(name).cpu(4000).memory_mib(16_384).pods(20);
        there.label("shelf", "top")
    };
    let web = || pod("web").cpu(100).spread(HOSTNAME, 1);
    let both = cluster().node(there("left")).node(there("right"));
    let outcome = check(both.pods(web().replicas(5)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [2, 3]);
}

#[test]
fn a_zone_for_which_its_limits_leave_no_node_holds_no_pod_back() {
    let web = || pod("web").cpu(100).spread(ZONE, 1);
    let taking = || pod("taking").cpu(3950).select(NODEPOOL, "general");
    let limited = |nodes: i64| free_in_zone_1().pool(pool("general").limit_nodes(nodes));
    let first = taking()
        .select(ZONE, ZONE_1)
        .with_spec(|spec| spec.priority = 10);
    let outcome = check(limited(1).pod(first).pods(web().replicas(3)));
    assert_eq!(outcome.unplaced(), 0);
    assert_eq!(outcome.skew(ZONE, "web"), [3]);
    let outcome = check(limited(1).pods(web().replicas(3)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 2], "a node in the second");
}

#[test]
fn a_node_of_another_pod_is_held_to_a_zone_where_that_lets_a_pod_in() {
    let own = |name: &str| pool(name).taint("team", name, NoSchedule);
    let of = |name: &str| pod(name).cpu(3000).tolerates("team", name, NoSchedule);
    let only = own("a").needs(is_in(ZONE, &[ZONE_1]));
    let sold = four().offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand);
    let both = cluster().sells(sold).pool(only).pool(own("b"));
    let spread = of("a").spread(ZONE, 1);
    let outcome = check(both.pods(spread.replicas(2)).pod(of("b")));
    assert_eq!(outcome.unplaced(), 0);
    assert_eq!(outcome.domain_names(ZONE, "b"), [ZONE_1]);
}

#[test]
fn pods_that_a_hard_spread_of_others_counts_keep_off_its_hosts_while_they_can() {
    let there = |name: &str| node(name).cpu(4000).memory_mib(16_384).pods(20);
    let selecting = [("tier", "front")];
    let web = pod("web").cpu(500).label("tier", "front");
    let web = web.spread(HOSTNAME, 1).selecting(&selecting);
    let other = || pod("other").cpu(100).label("tier", "front");
    let both = cluster().node(there("left")).node(there("right"));
    let outcome = check(both.clone().pod(web.clone()).pod(other()));
    assert!(outcome.apart(&["web", "other"]));
    let one = cluster().node(there("left"));
    let outcome = check(one.pod(web.clone()).pod(other()));
    assert_eq!(outcome.unplaced(), 0, "where there is no other place");
    let sold = both.sells(four().offered(ZONE_1, OnDemand));
    let outcome = check(
        sold.pool(pool("general"))
            .pod(web)
            .pods(other().replicas(3)),
    );
    let run = outcome.under(PackingMode::Price);
    assert!((0..3).all(|at| run.place(&format!("other-{at}")) != run.place("web")));
}
