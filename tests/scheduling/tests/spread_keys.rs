//! Spread over other keys than the zone, and over several keys at once.

use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, bare_market, check, market};

fn web(key: &str) -> PodFixture {
    pod("web").cpu(100).spread(key, 1)
}

/// Difference between the fullest and the emptiest of `domains` domains.
fn gap(outcome: &Outcome, key: &str, domains: usize) -> usize {
    outcome.agreed(|run| {
        let counts = run.skew(key, "web");
        let least = if counts.len() < domains { 0 } else { counts[0] };
        counts.last().copied().unwrap_or(0) - least
    })
}

#[test]
fn capacity_types_are_balanced() {
    let outcome = check(market().pods(web(CAPACITY_TYPE).replicas(4)));
    assert_eq!(outcome.skew(CAPACITY_TYPE, "web"), [2, 2]);
}

#[test]
fn only_capacity_types_of_the_pool_count() {
    let pool = pool("general").capacity_types(&[OnDemand]);
    let outcome = check(
        bare_market()
            .pool(pool)
            .pods(web(CAPACITY_TYPE).replicas(4)),
    );
    assert_eq!(outcome.skew(CAPACITY_TYPE, "web"), [4]);
}

/// One pod on a spot node in zone 1 that has no more room, and a pool of instances on demand.
fn one_on_spot() -> ClusterFixture {
    bare_market()
        .pool(pool("general").capacity_types(&[OnDemand]))
        .node(node("n1").zone(ZONE_1).label(CAPACITY_TYPE, "spot").cpu(0))
        .pod(pod("old").only_labels(&[("app", "web")]).on("n1"))
}

#[test]
fn hard_spread_over_capacity_types_blocks() {
    let outcome = check(one_on_spot().pods(web(CAPACITY_TYPE).replicas(5)));
    assert_eq!(outcome.skew(CAPACITY_TYPE, "web"), [1, 2]);
    assert_eq!(outcome.unplaced(), 3);
}

#[test]
fn soft_spread_over_capacity_types_is_given_up() {
    let pods = pod("web").cpu(100).prefers_spread(CAPACITY_TYPE, 1);
    let outcome = check(one_on_spot().pods(pods.replicas(5)));
    assert_eq!(outcome.skew(CAPACITY_TYPE, "web"), [1, 5]);
}

#[test]
fn pod_that_cannot_use_a_node_does_not_see_its_capacity_type() {
    let pods = web(CAPACITY_TYPE).needs(is_in(ZONE, &[ZONE_2]));
    let outcome = check(one_on_spot().pods(pods.replicas(5)));
    assert_eq!(outcome.skew(CAPACITY_TYPE, "web"), [1, 5]);
}

#[test]
fn architecture_is_a_domain_like_any_other() {
    let cluster = bare_market()
        .pool(pool("general").needs(is_in(ARCH, &["arm64"])))
        .node(node("n1").zone(ZONE_1).cpu(0))
        .pod(pod("old").only_labels(&[("app", "web")]).on("n1"));
    let outcome = check(cluster.clone().pods(web(ARCH).replicas(5)));
    assert_eq!(outcome.skew(ARCH, "web"), [1, 2]);
    let elsewhere = web(ARCH).needs(is_in(ZONE, &[ZONE_2]));
    let outcome = check(cluster.pods(elsewhere.replicas(5)));
    assert_eq!(outcome.skew(ARCH, "web"), [1, 5]);
}

#[test]
fn operating_systems_of_one_type_are_domains() {
    let outcome = check(market().pods(web(OS).replicas(6)));
    assert_eq!(outcome.skew(OS, "web"), [2, 2, 2]);
}

#[test]
fn hosts_and_zones_hold_together_over_batches() {
    let pods = |count| web(ZONE).spread(HOSTNAME, 3).replicas(count);
    let mut outcome = check(market().pods(pods(2)));
    for (count, zones) in [(3, [1, 2, 2]), (5, [3, 3, 4]), (11, [7, 7, 7])] {
        let batch: Vec<PodFixture> = pods(21).skip(21 - count).map(fresh(count)).collect();
        outcome = outcome.then(batch);
        assert_eq!(outcome.skew(ZONE, "web"), zones);
        assert!(
            outcome
                .runs()
                .iter()
                .all(|run| run.skew(HOSTNAME, "web").last() <= Some(&3))
        );
    }
}

/// Renames pods of a batch so that they differ from those of other batches.
fn fresh(batch: usize) -> impl Fn(PodFixture) -> PodFixture {
    move |fixture| {
        fixture.with(|pod| {
            pod.uid = format!("{}-{batch}", pod.uid).as_str().into();
            pod.name.name = format!("{}-{batch}", pod.name.name).into();
        })
    }
}

fn grows_within_skew(pods: &PodFixture, keys: &[(&str, usize)]) {
    let mut outcome = check(market().pods(pods.replicas(2)));
    for count in [3, 5, 11] {
        outcome = outcome.then(pods.replicas(count).map(fresh(count)));
        assert_eq!(outcome.unplaced(), 0);
        for (key, domains) in keys {
            assert!(gap(&outcome, key, *domains) <= 1, "{key} is balanced");
        }
    }
}

#[test]
fn capacity_types_and_hosts_hold_together() {
    grows_within_skew(
        &web(CAPACITY_TYPE).spread(HOSTNAME, 1),
        &[(CAPACITY_TYPE, 2), (HOSTNAME, 1)],
    );
}

#[test]
fn zones_and_capacity_types_hold_together() {
    grows_within_skew(
        &web(ZONE).spread(CAPACITY_TYPE, 1),
        &[(ZONE, 3), (CAPACITY_TYPE, 2)],
    );
}

#[test]
fn zones_capacity_types_and_hosts_hold_together() {
    grows_within_skew(
        &web(ZONE).spread(CAPACITY_TYPE, 1).spread(HOSTNAME, 3),
        &[(ZONE, 3), (CAPACITY_TYPE, 2)],
    );
}

#[test]
fn custom_label_split_over_two_pools_gives_a_ratio() {
    let outcome = check(
        bare_market()
            .pool(
                pool("spot")
                    .capacity_types(&[Spot])
                    .needs(is_in("share", &["2", "3", "4", "5"])),
            )
            .pool(
                pool("steady")
                    .capacity_types(&[OnDemand])
                    .needs(is_in("share", &["1"])),
            )
            .pods(web("share").replicas(20)),
    );
    assert_eq!(outcome.skew("share", "web"), [4, 4, 4, 4, 4]);
    assert_eq!(outcome.skew(CAPACITY_TYPE, "web"), [4, 16]);
}

#[test]
fn zone_of_a_pool_without_any_limit_left_is_no_domain() {
    let outcome = check(
        bare_market()
            .pool(pool("open").zones(&[ZONE_1, ZONE_2]))
            .pool(pool("excluded").zones(&[ZONE_3]).limit_cpu(0))
            .pods(web(ZONE).replicas(10)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [5, 5]);
}

#[test]
fn node_that_lacks_the_key_of_another_constraint_is_no_domain() {
    let rack = |name: &str, zone| node(name).zone(zone).label("rack", name).cpu(400);
    let cluster = || {
        cluster()
            .node(rack("r1", ZONE_1))
            .node(rack("r2", ZONE_1))
            .node(node("bare").zone(ZONE_3))
    };
    let both = web(ZONE).spread("rack", 1).replicas(4);
    let outcome = check(cluster().pods(both));
    assert_eq!(outcome.skew("rack", "web"), [2, 2]);
    let one = web(ZONE)
        .select("rack", "r1")
        .ignores_affinity()
        .replicas(4);
    let outcome = check(cluster().pods(one));
    assert_eq!(outcome.unplaced(), 3, "without the rack's constraint it is");
    let soft = web(ZONE).prefers_spread("rack", 1).select("rack", "r1");
    let outcome = check(cluster().pods(soft.replicas(4)));
    assert_eq!(
        outcome.unplaced(),
        0,
        "the selector keeps the bare node out"
    );
}

#[test]
fn revisions_spread_apart_from_each_other() {
    let revision = |name: &str| {
        pod(name)
            .only_labels(&[("app", "web"), ("revision", name)])
            .spread(HOSTNAME, 1)
            .selecting(&[("app", "web")])
            .match_label_keys(&["revision"])
            .replicas(2)
    };
    let outcome = check(market().pods(revision("old")).pods(revision("new")));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [2, 2]);
}

#[test]
fn match_label_key_that_the_pod_lacks_is_ignored() {
    let pods = pod("web")
        .spread(HOSTNAME, 1)
        .match_label_keys(&["revision"]);
    let outcome = check(market().pods(pods.replicas(4)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1, 1]);
}

#[test]
fn domains_that_only_nodes_have_serve_pods_there() {
    let rack = |name: &str| node(name).label("rack", name).cpu(400);
    let outcome = check(
        market()
            .node(rack("left"))
            .node(rack("right"))
            .pods(web("rack").replicas(9)),
    );
    assert_eq!(outcome.skew("rack", "web"), [4, 4]);
    assert_eq!((outcome.unplaced(), outcome.bought()), (1, 0));
}
