//! Pod affinity: with whom, where a group begins, and in what order chains resolve.
//!
//! Groups that share a zone are placed whole in one decision; Karpenter needs one batch for the first pod and another
//! for its followers where the first one's zone is open.

use plimsoll_base::time::Timestamp;
use plimsoll_model::{LabelSelector, PackingMode};
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::mixed;
use plimsoll_scheduling_tests::{bare_market, check, market, of_web};

fn web() -> PodFixture {
    pod("web").cpu(100).affinity(HOSTNAME)
}

/// A pod that wants to be where `target` is.
fn follower(name: &str, key: &str, target: &str) -> PodFixture {
    pod(name).cpu(100).affinity(key).to(target)
}

/// K02.
#[test]
fn follower_joins_its_target_on_the_host() {
    let others = pod("other").cpu(100).spread(HOSTNAME, 1).replicas(10);
    let outcome = check(
        market()
            .pods(others)
            .pod(pod("target").cpu(50))
            .pod(follower("follower", HOSTNAME, "target")),
    );
    assert!(outcome.together(&["target", "follower"]));
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn pods_may_share_an_architecture_and_be_on_hosts_of_their_own() {
    let pods = |name: &str| of_web(name, |pod| pod.spread(HOSTNAME, 1)).cpu(2000);
    let outcome = check(
        market()
            .pod(pods("target").label("role", "first").select(ARCH, "arm64"))
            .pod(
                pods("follower")
                    .cpu(1000)
                    .affinity(ARCH)
                    .selecting(&[("role", "first")]),
            ),
    );
    assert!(outcome.apart(&["target", "follower"]));
    assert_eq!(outcome.domains(ARCH, "web")["arm64"], 2);
}

#[test]
fn group_that_selects_itself_shares_one_host() {
    let outcome = check(market().pods(web().replicas(3)));
    assert!(outcome.together(&["web-0", "web-1", "web-2"]));
}

#[test]
fn group_fills_its_first_host_and_no_other() {
    let outcome = check(market().pods(web().replicas(10)));
    assert_eq!((outcome.placed("web"), outcome.unplaced()), (5, 5));
    let outcome = outcome.then([]);
    assert_eq!((outcome.placed("web"), outcome.unplaced()), (0, 5));
}

#[test]
fn group_on_one_host_begins_no_other_in_another_zone() {
    let first = pod("first")
        .only_labels(&[("app", "web")])
        .affinity(HOSTNAME)
        .selecting(&[("app", "web")])
        .select(ZONE, ZONE_1);
    let outcome =
        check(market().pod(first)).then(web().needs(is_in(ZONE, &[ZONE_2, ZONE_3])).replicas(10));
    assert_eq!(outcome.unplaced(), 10);
}

#[test]
fn large_group_on_one_host_yields_no_guard() {
    let huge = instance_type("huge")
        .cpu(64_000)
        .memory_mib(65_536)
        .pods(300);
    let pods = web().owned_by(plimsoll_model::OwnerKind::ReplicaSet, "web");
    let outcome = check(
        cluster()
            .sells(huge)
            .pool(pool("general"))
            .pods(pods.replicas(150)),
    );
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

#[test]
fn group_on_one_host_does_not_spoil_the_packing_of_others() {
    let base = || {
        let huge = instance_type("huge")
            .cpu(64_000)
            .memory_mib(65_536)
            .pods(300);
        cluster()
            .types(ladder(16))
            .sells(huge)
            .pool(pool("general"))
    };
    let group = web().owned_by(plimsoll_model::OwnerKind::ReplicaSet, "web");
    let cost = |cluster| {
        let outcome = check(cluster);
        assert_eq!(outcome.unplaced(), 0);
        outcome.under(PackingMode::Price).plan().cost.planned
    };
    let alone = cost(base().pods(group.replicas(150)));
    let others = cost(mixed(base(), 60, 7));
    let both = cost(mixed(base(), 60, 7).pods(group.replicas(150)));
    assert!(
        both <= alone + others,
        "{both} for both, {alone} and {others} apart"
    );
}

#[test]
fn group_that_selects_itself_shares_one_zone() {
    let pods = pod("web").cpu(100).affinity(ZONE);
    let outcome = check(market().pods(pods.replicas(9)));
    assert_eq!(outcome.skew(ZONE, "web"), [9]);
}

#[test]
fn zone_of_a_group_obeys_what_its_pods_require() {
    let pods = pod("web")
        .cpu(100)
        .affinity(ZONE)
        .needs(is_in(ZONE, &[ZONE_3]));
    let outcome = check(market().pods(pods.replicas(3)));
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_3], 3);
}

#[test]
fn group_begins_no_other_where_its_pods_may_not_join_the_first() {
    let member = |name: &str, zone: &str| {
        pod(name)
            .cpu(100)
            .only_labels(&[("app", "web")])
            .affinity(ZONE)
            .selecting(&[("app", "web")])
            .select(ZONE, zone)
    };
    let outcome = check(
        market()
            .pod(member("left", ZONE_1))
            .pod(member("right", ZONE_2)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [1]);
    assert_eq!(outcome.unplaced(), 1);
}

/// Whichever of them the scheduler binds first, the other must have its place: the small pod may be in one zone alone, and the large one,
/// which would be planned first and into the same zone each time, may begin where it likes only while the small one is nowhere.
#[test]
fn pod_that_may_begin_alone_is_planned_after_the_others_that_it_selects() {
    let member = |name: &str, cpu: i64| pod(name).cpu(cpu).only_labels(&[("app", "web")]);
    for zone in [ZONE_1, ZONE_2, ZONE_3] {
        let begins = member("begins", 3000).affinity(ZONE);
        let outcome = check(
            market()
                .pod(begins.selecting(&[("app", "web")]))
                .pod(member("other", 100).select(ZONE, zone)),
        );
        assert_eq!(outcome.unplaced(), 0);
        assert_eq!(outcome.domains(ZONE, "web")[zone], 2, "{zone}");
    }
}

#[test]
fn preferred_affinity_gives_way_when_there_is_no_target() {
    let pods = pod("web")
        .cpu(100)
        .prefers_affinity(50, HOSTNAME)
        .to("missing");
    let outcome = check(market().pods(pods.replicas(2)));
    assert_eq!(outcome.unplaced(), 0);
}

#[test]
fn preferred_affinity_gives_way_to_required_spread() {
    let pods = pod("web")
        .cpu(100)
        .spread(HOSTNAME, 1)
        .prefers_affinity(50, HOSTNAME)
        .to("target");
    let outcome = check(market().pod(pod("target").cpu(500)).pods(pods.replicas(3)));
    assert!(outcome.apart(&["web-0", "web-1", "web-2"]));
}

#[test]
fn affinity_to_nobody_waits() {
    let outcome = check(market().pods(follower("web", HOSTNAME, "missing").replicas(3)));
    assert_eq!(outcome.unplaced(), 3);
}

#[test]
fn followers_join_at_once_a_target_without_a_fixed_zone() {
    let outcome = check(
        market()
            .pod(pod("target").cpu(500))
            .pods(follower("web", ZONE, "target").replicas(9)),
    );
    assert_eq!(outcome.unplaced(), 0);
    let zone = outcome.agreed(|run| run.domains(ZONE, "target"));
    let zones = outcome.agreed(|run| run.domains(ZONE, "web"));
    assert_eq!(
        zones.keys().collect::<Vec<_>>(),
        zone.keys().collect::<Vec<_>>()
    );
}

#[test]
fn followers_join_at_once_a_target_with_a_fixed_zone() {
    let outcome = check(
        market()
            .pod(pod("target").cpu(500).select(ZONE, ZONE_3))
            .pods(follower("web", ZONE, "target").replicas(9)),
    );
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_3], 9);
}

#[test]
fn followers_join_a_target_that_already_runs() {
    let outcome = check(
        market()
            .node(node("n1").zone(ZONE_2).cpu(0))
            .pod(pod("target").on("n1"))
            .pods(follower("web", ZONE, "target").replicas(3)),
    );
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_2], 3);
}

#[test]
fn target_goes_where_its_followers_can_come_too() {
    let outcome = check(
        market().pod(pod("target").cpu(500)).pod(
            follower("web", ZONE, "target")
                .cpu(400)
                .select(ZONE, ZONE_2),
        ),
    );
    let placed = outcome.agreed(|run| run.placed("target"));
    assert_eq!(placed, 1, "a target never waits for its followers");
    let price = outcome.under(PackingMode::Price);
    assert_eq!(price.waiting(), [""; 0], "both go to the follower's zone");
}

#[test]
fn target_stays_off_a_node_without_room_for_its_followers() {
    let outcome = check(
        market()
            .node(node("small").cpu(600))
            .pod(pod("target").cpu(500))
            .pod(follower("web", HOSTNAME, "target").cpu(400)),
    );
    let price = outcome.under(PackingMode::Price);
    assert_eq!(price.waiting(), [""; 0]);
    assert_eq!(price.place("web"), price.place("target"));
}

#[test]
fn followers_join_a_target_that_was_asked_to_go() {
    let target = pod("target").on("n1");
    let outcome = check(
        market()
            .node(node("n1").zone(ZONE_2).cpu(0))
            .pod(target.with(|pod| pod.deleting = Some(Timestamp::from_millis(1))))
            .pods(follower("web", ZONE, "target").replicas(3)),
    );
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_2], 3);
}

#[test]
fn chain_resolves_in_any_order() {
    let chain = [
        pod("db").cpu(100),
        follower("web", HOSTNAME, "db"),
        follower("cache", HOSTNAME, "web"),
        follower("ui", HOSTNAME, "cache"),
    ];
    for turn in 0..4 {
        let mut order = chain.clone();
        order.rotate_left(turn);
        let pods = order
            .into_iter()
            .enumerate()
            .map(|(at, pod)| pod.created(i64::try_from(at).unwrap()));
        let outcome = check(market().pods(pods));
        assert!(outcome.together(&["db", "web", "cache", "ui"]));
    }
}

#[test]
fn chain_that_depends_on_nothing_waits() {
    let outcome = check(
        market()
            .pod(follower("db", HOSTNAME, "missing"))
            .pod(follower("web", HOSTNAME, "db"))
            .pod(follower("cache", HOSTNAME, "web")),
    );
    assert_eq!(outcome.unplaced(), 3);
}

#[test]
fn circle_of_followers_waits() {
    let outcome = check(
        market()
            .pod(follower("hen", HOSTNAME, "egg"))
            .pod(follower("egg", HOSTNAME, "hen")),
    );
    assert_eq!(outcome.unplaced(), 2);
}

#[test]
fn target_in_another_namespace_needs_to_be_named() {
    let cluster = market()
        .namespace("default", &[])
        .namespace("other", &[("team", "x")])
        .pod(pod("target").namespace("other").cpu(500));
    let follower = || follower("web", HOSTNAME, "target");
    let missing = check(cluster.clone().pod(follower()));
    assert_eq!(missing.unplaced(), 1);
    let label = |value: &str| LabelSelector::match_labels(&labels(&[("team", value)]));
    let found = [
        follower().in_namespaces(&["other"]),
        follower().in_namespaces_like(LabelSelector::all(vec![])),
        follower().in_namespaces_like(label("x")),
    ];
    for pod in found {
        let outcome = check(cluster.clone().pod(pod));
        assert!(outcome.together(&["target", "web"]));
    }
    let unmatched = follower().in_namespaces_like(label("y"));
    assert_eq!(check(cluster.pod(unmatched)).unplaced(), 1);
}

#[test]
fn term_without_conditions_selects_every_pod_of_its_namespace() {
    let every = || LabelSelector::all(vec![]);
    let cluster = market()
        .node(node("n1").zone(ZONE_1))
        .pod(pod("old").on("n1"));
    let near = pod("near").cpu(100).affinity(HOSTNAME).selector(every());
    let outcome = check(cluster.clone().pod(near));
    assert_eq!(outcome.place("near").as_deref(), Some("n1"));
    let apart = pod("apart")
        .cpu(100)
        .anti_affinity(HOSTNAME)
        .selector(every());
    let outcome = check(cluster.pod(apart));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
}

/// A pod with two required terms: near the application `blue` on the host, and near the tier `front` in the zone.
fn near_both() -> PodFixture {
    follower("web", HOSTNAME, "blue")
        .affinity(ZONE)
        .selecting(&[("tier", "front")])
}

#[test]
fn several_affinity_terms_are_met_by_one_pod_that_matches_all() {
    let cluster = || market().node(node("n1").zone(ZONE_1).cpu(0));
    let one_each = cluster()
        .pod(pod("blue").on("n1"))
        .pod(pod("front").only_labels(&[("tier", "front")]).on("n1"));
    let room = || node("n2").zone(ZONE_1);
    let outcome = check(one_each.node(room()).pod(near_both().with_spec(|spec| {
        spec.affinity[0].topology_key = ZONE.into();
    })));
    assert_eq!((outcome.unplaced(), outcome.bought()), (1, 0));
    let both = pod("blue").label("tier", "front").cpu(100);
    let outcome = check(market().pod(both.created(1)).pod(near_both()));
    assert!(outcome.together(&["blue", "web"]));
}

#[test]
fn domains_of_several_keys_may_be_those_of_different_pods() {
    let both = |name: &str| pod(name).only_labels(&[("app", "blue"), ("tier", "front")]);
    let rack = |name: &str| node(name).label("rack", "r1");
    let outcome = check(
        market()
            .node(rack("n1").zone(ZONE_1).cpu(0))
            .node(node("n2").zone(ZONE_2).cpu(0))
            .node(rack("n3").zone(ZONE_2))
            .pods([both("first").on("n1"), both("second").on("n2")])
            .pod(
                follower("web", "rack", "blue")
                    .affinity(ZONE)
                    .selecting(&[("tier", "front")]),
            ),
    );
    assert_eq!(outcome.place("web").as_deref(), Some("n3"));
}

#[test]
fn pod_that_matches_one_of_its_terms_alone_begins_nothing() {
    let outcome = check(market().pod(pod("web").cpu(100).affinity(ZONE).affinity(ZONE).to("db")));
    assert_eq!(outcome.unplaced(), 1);
}

#[test]
fn group_of_a_zone_stays_within_the_pools_that_hold_it() {
    let pods = pod("web").cpu(100).affinity(ZONE);
    let outcome = check(
        bare_market()
            .pool(pool("left").zones(&[ZONE_1]).limit_nodes(1))
            .pool(pool("right").zones(&[ZONE_2]))
            .pods(pods.replicas(4)),
    );
    assert_eq!(outcome.skew(ZONE, "web"), [4]);
}
