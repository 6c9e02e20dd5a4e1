//! Nodes that a spread constraint sees: node policies, selectors and affinities of the pod itself.

use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, market, of_web};

/// A label that pools and nodes of these tests use as a domain.
const SHELF: &str = "unscheduled";

fn shelved() -> PodFixture {
    pod("web").cpu(100).spread(SHELF, 1)
}

fn unscheduled(name: &str) -> NodeFixture {
    node(name).label(SHELF, name)
}

/// Of five pods one is placed while tainted domains count, and all once they do not.
#[track_caller]
fn closed_domains_count_unless_taints_are_honoured(cluster: &ClusterFixture) {
    let outcome = check(cluster.clone().pods(shelved().replicas(5)));
    assert_eq!(outcome.skew(SHELF, "web"), [1]);
    let outcome = check(cluster.clone().pods(shelved().honors_taints().replicas(5)));
    assert_eq!(outcome.skew(SHELF, "web"), [5]);
}

#[test]
fn domains_of_tainted_nodes_count_unless_taints_are_honoured() {
    let closed = |name| unscheduled(name).taint("closed", "yes", NoSchedule);
    let cluster = bare_market()
        .pool(pool("general").label(SHELF, "open"))
        .node(closed("left"))
        .node(closed("right"));
    closed_domains_count_unless_taints_are_honoured(&cluster);
}

#[test]
fn taints_that_only_prefer_to_keep_pods_away_are_honoured_by_no_constraint() {
    let cluster = bare_market()
        .pool(pool("general").label(SHELF, "open"))
        .node(
            unscheduled("left")
                .cpu(0)
                .taint("soft", "", PreferNoSchedule),
        );
    let outcome = check(cluster.pods(shelved().honors_taints().replicas(5)));
    assert_eq!(outcome.skew(SHELF, "web"), [1]);
}

#[test]
fn domains_of_tainted_pools_count_once_a_node_of_them_is_there() {
    let tainted = pool("tainted")
        .label(SHELF, "left")
        .taint("closed", "yes", NoSchedule);
    let cluster = bare_market()
        .pool(pool("general").label(SHELF, "open"))
        .pool(tainted);
    let outcome = check(cluster.clone().pods(shelved().replicas(5)));
    assert_eq!(outcome.skew(SHELF, "web"), [5]);
    let owner = pod("owner").tolerates("closed", "yes", NoSchedule);
    let there = cluster.pod(owner.select(SHELF, "left"));
    closed_domains_count_unless_taints_are_honoured(&there);
}

#[test]
fn domain_shared_by_tainted_pools_is_known_through_the_tolerated_one() {
    let cluster = bare_market()
        .pool(pool("general").label(SHELF, "open"))
        .pool(
            pool("blue")
                .needs(is_in(SHELF, &["left", "shared"]))
                .taint("colour", "blue", NoSchedule),
        )
        .pool(
            pool("green")
                .needs(is_in(SHELF, &["right", "shared"]))
                .taint("colour", "green", NoSchedule),
        );
    let pods = shelved()
        .honors_taints()
        .tolerates("colour", "blue", NoSchedule);
    let outcome = check(cluster.pods(pods.replicas(6)));
    assert_eq!(outcome.skew(SHELF, "web"), [2, 2, 2]);
    assert!(!outcome.agreed(|run| run.domains(SHELF, "web").contains_key("right")));
}

#[test]
fn domains_of_nodes_the_pod_cannot_use_count_only_if_affinity_is_ignored() {
    let cluster = bare_market()
        .pool(pool("general").label(SHELF, "open").label("side", "ours"))
        .node(unscheduled("left").label("side", "theirs"))
        .node(unscheduled("right").label("side", "theirs"));
    let pods = shelved().select("side", "ours");
    let outcome = check(
        cluster
            .clone()
            .pods(pods.clone().ignores_affinity().replicas(5)),
    );
    assert_eq!(outcome.skew(SHELF, "web"), [1]);
    let outcome = check(cluster.pods(pods.replicas(5)));
    assert_eq!(outcome.skew(SHELF, "web"), [5]);
}

#[test]
fn pods_on_nodes_outside_the_affinity_do_not_count() {
    let ours = |name: &str| pod(name).cpu(100).only_labels(&[("app", "web")]);
    let spread = |name: &str| ours(name).spread(ZONE, 1).selecting(&[("app", "web")]);
    let outcome = check(
        market()
            .pods(
                ours("heavy")
                    .cpu(900)
                    .select(ARCH, "arm64")
                    .select(ZONE, ZONE_1)
                    .replicas(4),
            )
            .pods(spread("light").select(ARCH, "amd64").replicas(3)),
    );
    assert_eq!(outcome.unplaced(), 0);
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 5]);
}

#[test]
fn pod_that_could_land_on_either_side_of_a_filter_counts_where_it_lands() {
    let sold =
        |name: &str, arch: &str, price| instance_type(name).arch(arch).price(price).zones(&ZONES);
    for (amd, arm) in [(1.0, 0.5), (0.5, 1.0)] {
        let heavy = pod("heavy").only_labels(&[("app", "web")]).cpu(900);
        let outcome = check(
            cluster()
                .sells(sold("amd", "amd64", amd))
                .sells(sold("arm", "arm64", arm))
                .pool(pool("general"))
                .pods(heavy.select(ZONE, ZONE_1).replicas(4))
                .pods(named("light").select(ARCH, "amd64").replicas(4)),
        );
        assert_eq!(outcome.unplaced(), 0);
        assert!(!outcome.agreed(|run| run.domains(ARCH, "web").contains_key("undecided")));
    }
}

fn web() -> PodFixture {
    pod("web").cpu(100).spread(ZONE, 1)
}

fn named(name: &str) -> PodFixture {
    of_web(name, |pod| pod.spread(ZONE, 1))
}

#[test]
fn node_selector_limits_the_domains_that_a_pod_compares() {
    let outcome = check(
        market()
            .pods(named("first").select(ZONE, ZONE_1).replicas(5))
            .pods(named("second").select(ZONE, ZONE_2).replicas(10)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [5, 10]);
}

#[test]
fn required_affinity_limits_the_domains() {
    let pods = web().needs(is_in(ZONE, &[ZONE_1, ZONE_2]));
    let outcome = check(market().pods(pods.replicas(10)));
    assert_eq!(outcome.skew(ZONE, "web"), [5, 5]);
}

#[test]
fn domains_open_again_for_pods_without_the_limit() {
    let narrow = named("narrow").needs(is_in(ZONE, &[ZONE_1, ZONE_2]));
    let wide = |name: &str| named(name).needs(is_in(ZONE, &ZONES));
    let outcome = check(market().pods(narrow.replicas(6)));
    assert_eq!(outcome.skew(ZONE, "web"), [3, 3]);
    let outcome = outcome.then([wide("wide")]);
    assert_eq!(outcome.skew(ZONE, "web"), [1, 3, 3]);
    let outcome = outcome.then(wide("wider").replicas(5));
    assert_eq!(outcome.skew(ZONE, "web"), [4, 4, 4]);
}

#[test]
fn zones_outside_the_selector_count_if_affinity_is_ignored() {
    let full = |zone| node(zone).zone(zone).cpu(0);
    let cluster = market().node(full(ZONE_1)).node(full(ZONE_2));
    let pods = web().select(ZONE, ZONE_1);
    let outcome = check(cluster.clone().pods(pods.replicas(3)));
    assert_eq!(outcome.unplaced(), 0);
    let outcome = check(cluster.pods(pods.ignores_affinity().replicas(3)));
    assert_eq!(outcome.skew(ZONE, "web"), [1]);
}

#[test]
fn preferred_affinity_does_not_limit_the_domains() {
    let pods = web().prefers(1, is_in(ZONE, &[ZONE_1, ZONE_2]));
    let outcome = check(market().pods(pods.replicas(6)));
    assert_eq!(outcome.skew(ZONE, "web"), [2, 2, 2]);
}

#[test]
fn capacity_types_follow_the_same_rules() {
    let named = |name: &str| of_web(name, |pod| pod.spread(CAPACITY_TYPE, 1));
    let outcome = check(
        market()
            .pods(named("spot").select(CAPACITY_TYPE, "spot").replicas(5))
            .pods(
                named("steady")
                    .select(CAPACITY_TYPE, "on-demand")
                    .replicas(10),
            ),
    );
    assert_eq!(outcome.skew(CAPACITY_TYPE, "web"), [5, 10]);
    let preferring = named("web").prefers(1, is_in(CAPACITY_TYPE, &["spot"]));
    let outcome = check(market().pods(preferring.replicas(6)));
    assert_eq!(outcome.skew(CAPACITY_TYPE, "web"), [3, 3]);
}

#[test]
fn volume_in_one_zone_does_not_hide_the_other_zones() {
    let running = ZONES.map(|zone| pod(zone).only_labels(&[("app", "web")]).on(zone));
    let cluster = ZONES
        .into_iter()
        .fold(market(), |all, zone| all.node(node(zone).zone(zone).cpu(0)));
    let outcome = check(
        cluster
            .bound_volume("data", "ebs.csi.aws.com", &[ZONE_1])
            .pods(running)
            .pod(web().min_domains(3).volume("data")),
    );
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_1], 2);
}
