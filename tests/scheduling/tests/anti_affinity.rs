//! Pod anti-affinity, in both directions.
//!
//! A new node's zone is decided when its first pod with a rule about zones is placed, so what Karpenter leaves for the
//! next batch is placed in the same decision.

use plimsoll_base::time::Timestamp;
use plimsoll_model::PackingMode;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{check, market};

/// A pod that keeps away from `from`.
fn shy(name: &str, key: &str, from: &str) -> PodFixture {
    pod(name).cpu(100).anti_affinity(key).to(from)
}

/// One node per zone, without room for anything that asks for cpu.
fn full_zones() -> ClusterFixture {
    ZONES
        .into_iter()
        .fold(market(), |all, zone| all.node(node(zone).zone(zone).cpu(0)))
}

/// K02.
#[test]
fn hosts_keep_them_apart_whichever_comes_first() {
    for (shy_cpu, other_cpu) in [(200, 100), (100, 200)] {
        let outcome = check(
            market()
                .pod(pod("other").cpu(other_cpu))
                .pod(shy("shy", HOSTNAME, "other").cpu(shy_cpu)),
        );
        assert!(outcome.apart(&["shy", "other"]));
    }
}

#[test]
fn pods_that_avoid_each_other_take_a_host_each() {
    let outcome = check(market().pods(shy("web", HOSTNAME, "web").replicas(5)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1, 1, 1]);
}

#[test]
fn pod_with_one_zone_to_go_to_gets_it_before_one_with_a_choice() {
    for zone in ZONES {
        let outcome = check(
            market()
                .pod(pod("large").cpu(1000))
                .pod(shy("shy", ZONE, "large").select(ZONE, zone)),
        );
        let price = outcome.under(PackingMode::Price);
        assert_eq!(price.waiting(), [""; 0], "{zone}");
    }
}

#[test]
fn pod_waits_when_every_zone_is_taken() {
    let running = ZONES.map(|zone| pod(zone).only_labels(&[("app", "other")]).on(zone));
    let outcome = check(full_zones().pods(running).pod(shy("shy", ZONE, "other")));
    assert_eq!(outcome.waiting(), ["shy"]);
}

#[test]
fn pod_waits_when_this_decision_takes_every_zone() {
    let takers = ZONES.map(|zone| {
        pod(zone)
            .only_labels(&[("app", "other")])
            .cpu(500)
            .select(ZONE, zone)
    });
    let outcome = check(market().pods(takers).pod(shy("shy", ZONE, "other")));
    assert_eq!(outcome.waiting(), ["shy"]);
}

#[test]
fn pod_goes_to_another_zone_than_a_target_of_the_same_decision() {
    for cpu in [50, 500] {
        let outcome = check(
            market()
                .pod(pod("other").cpu(cpu))
                .pod(shy("shy", ZONE, "other")),
        );
        assert_eq!(outcome.unplaced(), 0);
        let zones = outcome.agreed(|run| (run.domains(ZONE, "shy"), run.domains(ZONE, "other")));
        assert_ne!(zones.0, zones.1);
        assert!(!zones.0.contains_key("undecided") && !zones.1.contains_key("undecided"));
    }
}

#[test]
fn key_that_a_node_lacks_keeps_no_pod_off_it() {
    let outcome = check(
        market()
            .pod(pod("other").cpu(500))
            .pod(shy("shy", "unknown", "other")),
    );
    assert_eq!(outcome.unplaced(), 0);
    let racked = market().node(node("n1").zone(ZONE_1).label("rack", "r1").cpu(200));
    let outcome = check(
        racked
            .pod(pod("other").on("n1"))
            .pod(shy("shy", "rack", "other")),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

#[test]
fn architectures_keep_them_apart() {
    let outcome = check(
        market()
            .pod(pod("other").cpu(500).select(ARCH, "arm64"))
            .pod(shy("shy", ARCH, "other")),
    );
    assert_eq!(outcome.domains(ARCH, "shy")["amd64"], 1);
}

#[test]
fn preferred_rule_gives_way() {
    let running = ZONES.map(|zone| pod(zone).only_labels(&[("app", "other")]).on(zone));
    let pods = pod("shy")
        .cpu(100)
        .prefers_anti_affinity(10, ZONE)
        .to("other");
    let outcome = check(full_zones().pods(running).pods(pods.replicas(3)));
    assert_eq!(outcome.placed("shy"), 3);
}

#[test]
fn preferred_rule_holds_where_it_can() {
    let pods = pod("web").cpu(100).prefers_anti_affinity(10, HOSTNAME);
    let outcome = check(market().pods(pods.replicas(3)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1]);
}

#[test]
fn required_rule_of_others_keeps_a_pod_without_rules_out() {
    let keepers = ZONES.map(|zone| shy(zone, ZONE, "guest").cpu(500).select(ZONE, zone));
    let outcome = check(market().pods(keepers).pod(pod("guest").cpu(100)));
    assert_eq!(outcome.waiting(), ["guest"]);
}

#[test]
fn preferred_rule_of_others_keeps_nobody_out() {
    let keepers = ZONES.map(|zone| {
        pod(zone)
            .cpu(500)
            .prefers_anti_affinity(10, ZONE)
            .to("guest")
            .select(ZONE, zone)
    });
    let outcome = check(market().pods(keepers).pod(pod("guest").cpu(100)));
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn required_rule_of_running_pods_keeps_a_pod_out() {
    let keepers = ZONES.map(|zone| shy(zone, ZONE, "guest").cpu(0).on(zone));
    let outcome = check(
        full_zones()
            .pods(keepers.clone())
            .pod(pod("guest").cpu(100)),
    );
    assert_eq!(outcome.waiting(), ["guest"]);
    let two = keepers.into_iter().take(2);
    let outcome = check(full_zones().pods(two).pod(pod("guest").cpu(100)));
    assert_eq!(outcome.domains(ZONE, "guest")[ZONE_3], 1);
}

#[test]
fn preferred_rule_of_running_pods_keeps_nobody_out() {
    let keepers = ZONES.map(|zone| {
        pod(zone)
            .prefers_anti_affinity(10, ZONE)
            .to("guest")
            .on(zone)
    });
    let outcome = check(full_zones().pods(keepers).pod(pod("guest").cpu(100)));
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn host_of_a_running_keeper_is_not_used() {
    let keeper = shy("keeper", HOSTNAME, "guest").on("n1");
    let outcome = check(
        market()
            .node(node("n1").zone(ZONE_1))
            .pod(keeper)
            .pod(pod("guest").cpu(100)),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

#[test]
fn pod_that_was_asked_to_go_keeps_apart_in_both_directions_until_it_is_gone() {
    let leaving = |pod: PodFixture| {
        let world = market().node(node("n1").zone(ZONE_1));
        world.pod(
            pod.on("n1")
                .with(|pod| pod.deleting = Some(Timestamp::from_millis(1))),
        )
    };
    let avoided = leaving(pod("other")).pod(shy("web", HOSTNAME, "other"));
    let avoiding = leaving(shy("other", HOSTNAME, "web")).pod(pod("web").cpu(100));
    for cluster in [avoided, avoiding] {
        let outcome = check(cluster);
        assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    }
}

#[test]
fn rule_of_another_namespace_does_not_reach_a_pod() {
    let keeper = shy("keeper", HOSTNAME, "guest").namespace("other").on("n1");
    let outcome = check(
        market()
            .node(node("n1").zone(ZONE_1))
            .pod(keeper)
            .pod(pod("guest").cpu(100)),
    );
    assert_eq!(outcome.place("guest").as_deref(), Some("n1"));
}

/// K02.
#[test]
fn pods_that_avoid_each_other_fill_every_zone_at_once_and_then_wait() {
    let outcome = check(market().pods(shy("web", ZONE, "web").replicas(10)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 1]);
    assert_eq!(outcome.unplaced(), 7);
    let outcome = outcome.then([]);
    assert_eq!(outcome.unplaced(), 7);
}

#[test]
fn keeper_that_does_not_match_itself_may_be_many_on_one_host() {
    let outcome = check(
        market()
            .pods(shy("keeper", HOSTNAME, "guest").replicas(3))
            .pod(pod("guest").cpu(50)),
    );
    assert!(outcome.together(&["keeper-0", "keeper-1", "keeper-2"]));
    assert_eq!(outcome.bought(), 2);
}
