//! Host ports: which pods cannot share a host, and which daemons keep them off a type.

use plimsoll_model::{PackingMode, Protocol};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{check, market};

fn holder(name: &str, address: &str, port: u16, protocol: Protocol) -> PodFixture {
    pod(name).cpu(100).host_port(address, port, protocol)
}

#[test]
fn one_port_is_held_by_one_pod_per_host() {
    let outcome = check(market().pods(pod("web").cpu(100).port(80).replicas(3)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1]);
}

#[test]
fn ports_conflict_by_number_protocol_and_address() {
    let tcp = |address| holder("right", address, 80, Protocol::Tcp);
    let cases = [
        (tcp("10.0.0.1"), true),
        (tcp("10.0.0.2"), false),
        (tcp("0.0.0.0"), true),
        (tcp("::"), false),
        (holder("right", "10.0.0.1", 80, Protocol::Udp), false),
        (holder("right", "10.0.0.1", 81, Protocol::Tcp), false),
    ];
    for (right, conflict) in cases {
        let left = holder("left", "10.0.0.1", 80, Protocol::Tcp);
        let outcome = check(market().pod(left.clone()).pod(right.clone()));
        assert_eq!(outcome.apart(&["left", "right"]), conflict);
        assert_eq!(outcome.bought(), 1 + usize::from(conflict));
        let outcome = check(market().node(node("n1")).pod(left.on("n1")).pod(right));
        assert_eq!(outcome.bought(), usize::from(conflict));
    }
}

#[test]
fn pod_of_every_address_meets_pods_of_single_ones() {
    let one = |name, address| holder(name, address, 80, Protocol::Tcp);
    let outcome = check(
        market()
            .pod(one("a", "10.0.0.1"))
            .pod(one("b", "10.0.0.2"))
            .pod(one("c", "0.0.0.0")),
    );
    assert!(outcome.together(&["a", "b"]));
    assert!(outcome.apart(&["a", "c"]) && outcome.apart(&["b", "c"]));
}

#[test]
fn double_colon_is_an_address_like_any_other() {
    let one = |name, address| holder(name, address, 80, Protocol::Tcp);
    let cluster = |second| market().pod(one("a", "::")).pod(one("b", second));
    assert!(check(cluster("10.0.0.1")).together(&["a", "b"]));
    assert!(check(cluster("::")).apart(&["a", "b"]));
    assert!(check(cluster("0.0.0.0")).apart(&["a", "b"]));
}

#[test]
fn pod_holding_two_addresses_of_one_port_is_alone_with_itself() {
    let both = holder("both", "10.0.0.1", 80, Protocol::Tcp)
        .host_port("10.0.0.2", 80, Protocol::Tcp)
        .host_port("0.0.0.0", 81, Protocol::Tcp);
    let outcome = check(market().pod(both));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

#[test]
fn ports_taken_on_a_node_in_this_decision_count() {
    let outcome = check(
        market()
            .node(node("n1"))
            .pods(pod("web").cpu(100).port(80).replicas(2)),
    );
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1]);
    assert_eq!(outcome.bought(), 1);
}

#[test]
fn node_that_holds_the_port_is_skipped_only_by_pods_that_want_it() {
    let outcome = check(
        market()
            .node(node("n1"))
            .pod(pod("old").port(80).on("n1"))
            .pod(pod("web").cpu(100).port(80))
            .pod(pod("plain").cpu(100)),
    );
    assert_ne!(outcome.place("web").as_deref(), Some("n1"));
    assert_eq!(outcome.place("plain").as_deref(), Some("n1"));
}

#[test]
fn daemon_on_every_node_keeps_its_port() {
    let daemon = pod("daemon").port(80);
    let outcome = check(market().daemon(&daemon).pod(pod("web").cpu(100).port(80)));
    assert_eq!(outcome.waiting(), ["web"]);
}

#[test]
fn daemons_keep_their_port_only_on_types_they_run_on() {
    let outcome = check(
        cluster()
            .types(ladder(8))
            .pool(pool("general"))
            .daemon(&pod("large-daemon").port(8080).select("size", "large"))
            .daemon(&pod("small-daemon").port(8081).select("size", "small"))
            .pods(pod("web").cpu(100).port(8080).replicas(2)),
    );
    assert_eq!(outcome.skew("size", "web"), [2]);
    assert_eq!(outcome.domains("size", "web")["small"], 2);
    assert!(outcome.apart(&["web-0", "web-1"]));
}

#[test]
fn pods_with_ports_share_nodes_with_pods_that_have_none() {
    let outcome = check(
        market()
            .pods(pod("web").cpu(100).port(80).replicas(2))
            .pods(pod("plain").cpu(100).replicas(6)),
    );
    let by_price = outcome.under(PackingMode::Price).plan().claims.len();
    assert_eq!((outcome.unplaced(), by_price), (0, 2));
}
