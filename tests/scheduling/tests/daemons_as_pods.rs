//! Daemons as pods: those that come with a new node count for affinity, anti-affinity and spread over hosts.

use plimsoll_model::{ClaimPhase, OwnerKind};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, market};

/// A daemon that runs on every node which has no taint.
fn cache() -> PodFixture {
    pod("cache").cpu(100)
}

/// A pod that must not be where the daemon is.
fn loner(key: &str) -> PodFixture {
    pod("loner").cpu(100).anti_affinity(key).to("cache")
}

#[test]
fn nothing_is_bought_for_a_pod_that_must_not_be_where_every_daemon_is() {
    for key in [HOSTNAME, ZONE] {
        let outcome = check(market().daemon(&cache()).pod(loner(key)));
        assert_eq!((outcome.unplaced(), outcome.bought()), (1, 0), "{key}");
    }
}

#[test]
fn pool_that_the_daemon_does_not_tolerate_serves_a_pod_that_avoids_it() {
    let quiet = pool("quiet").taint("quiet", "", NoSchedule);
    let outcome = check(
        market()
            .pool(quiet)
            .daemon(&cache())
            .pod(loner(HOSTNAME).tolerates("quiet", "", NoSchedule)),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    assert_eq!(
        outcome.agreed(|run| run.plan().claims[0].pool.to_string()),
        "quiet"
    );
}

#[test]
fn type_on_which_the_daemon_does_not_run_serves_a_pod_that_avoids_it() {
    let outcome = check(
        market()
            .daemon(&cache().select(ARCH, "amd64"))
            .pod(loner(HOSTNAME)),
    );
    assert_eq!(outcome.domains(ARCH, "loner")["arm64"], 1);
}

#[test]
fn anti_affinity_of_a_daemon_keeps_pods_off_its_nodes() {
    let shy = pod("shy").cpu(100).anti_affinity(HOSTNAME).to("web");
    let cluster = market().daemon(&shy);
    let outcome = check(cluster.clone().pod(pod("web").cpu(100)));
    assert_eq!((outcome.unplaced(), outcome.bought()), (1, 0));
    let outcome = check(cluster.pod(pod("other").cpu(100)));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

#[test]
fn affinity_to_a_daemon_is_met_on_new_nodes_that_have_one() {
    for key in [HOSTNAME, ZONE] {
        let running = cache().owned_by(OwnerKind::DaemonSet, "cache").on("full");
        let near = pod("near").cpu(100).affinity(key).to("cache");
        let cluster = market()
            .node(node("full").zone(ZONE_1).cpu(100))
            .pod(running)
            .daemon(&cache().select(ARCH, "arm64"));
        let outcome = check(cluster.pod(near));
        assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1), "{key}");
    }
    let near = pod("near").cpu(100).affinity(HOSTNAME).to("cache");
    let outcome = check(market().daemon(&cache().select(ARCH, "arm64")).pod(near));
    assert_eq!(outcome.domains(ARCH, "near")["arm64"], 1);
}

#[test]
fn daemon_takes_a_place_of_a_spread_over_hosts() {
    let web = |skew| pod("web").cpu(100).spread(HOSTNAME, skew).replicas(2);
    let daemon = pod("agent").only_labels(&[("app", "web")]).cpu(100);
    let cluster = market().daemon(&daemon);
    let outcome = check(cluster.clone().pods(web(2)));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 2));
    let outcome = check(cluster.pods(web(1)));
    assert_eq!((outcome.unplaced(), outcome.bought()), (2, 0));
}

#[test]
fn daemon_that_is_to_come_to_a_node_on_its_way_counts_there() {
    let on_its_way = node("n1").managed("general").phase(ClaimPhase::Launched);
    let outcome = check(
        bare_market()
            .pool(pool("general"))
            .node(on_its_way.zone(ZONE_1))
            .daemon(&cache())
            .pod(loner(HOSTNAME)),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (1, 0));
}
