//! Spread that the cluster asks for on behalf of pods that have none of their own.

use plimsoll_base::labels::LabelKey;
use plimsoll_model::{DefaultSpread, OwnerKind, WhenUnsatisfiable, WorkloadKind};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, bare_market, market};

/// Plans without guards, one of which keeps replicas apart by itself.
fn check(cluster: ClusterFixture) -> Outcome {
    plimsoll_scheduling_tests::check(cluster.settings(|settings| settings.guards.enabled = false))
}

fn constraint(key: &str, when_unsatisfiable: WhenUnsatisfiable) -> DefaultSpread {
    DefaultSpread {
        max_skew: 1,
        topology_key: LabelKey::from(key),
        when_unsatisfiable,
        min_domains: None,
    }
}

fn hard(cluster: ClusterFixture, key: &str) -> ClusterFixture {
    with_default(cluster, constraint(key, WhenUnsatisfiable::DoNotSchedule))
}

fn with_default(cluster: ClusterFixture, default: DefaultSpread) -> ClusterFixture {
    cluster.settings(|settings| settings.default_spread.push(default))
}

/// Pods of one ReplicaSet.
fn web() -> PodFixture {
    pod("web").cpu(100).owned_by(OwnerKind::ReplicaSet, "web")
}

fn replica_set(cluster: ClusterFixture, name: &str) -> ClusterFixture {
    cluster.workload(WorkloadKind::ReplicaSet, name, &[("app", name)])
}

#[test]
fn zones_and_hosts_are_spread_by_default() {
    let cluster = replica_set(market(), "web").pods(web().replicas(4));
    let outcome = check(hard(cluster.clone(), ZONE));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 2]);
    let outcome = check(hard(cluster, HOSTNAME));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1, 1]);
}

#[test]
fn nothing_is_spread_without_a_default() {
    let outcome = check(replica_set(market(), "web").pods(web().replicas(4)));
    assert_eq!(outcome.bought(), 1);
}

#[test]
fn own_constraint_wins() {
    let pods = web().spread(ZONE, 4).replicas(4);
    let outcome = check(hard(replica_set(market(), "web"), HOSTNAME).pods(pods));
    assert!(outcome.runs().iter().all(|run| run.plan().claims.len() < 4));
}

#[test]
fn minimum_of_domains_is_carried() {
    let default = DefaultSpread {
        min_domains: Some(3),
        ..constraint(ZONE, WhenUnsatisfiable::DoNotSchedule)
    };
    let cluster = bare_market().pool(pool("two").zones(&[ZONE_1, ZONE_2]));
    let cluster = replica_set(with_default(cluster, default), "web");
    let outcome = check(cluster.pods(web().replicas(3)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1]);
}

/// A zone whose one `web` pod holds the others back, and a pool of another zone.
fn lopsided() -> ClusterFixture {
    bare_market()
        .pool(pool("rest").zones(&[ZONE_2]))
        .node(node("n1").zone(ZONE_1).cpu(0))
        .pod(pod("old").only_labels(&[("app", "web")]).on("n1"))
}

#[test]
fn hard_default_is_not_exceeded() {
    let cluster = hard(replica_set(lopsided(), "web"), ZONE);
    let outcome = check(cluster.pods(web().replicas(5)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 2]);
}

#[test]
fn soft_default_is_given_up() {
    let soft = constraint(ZONE, WhenUnsatisfiable::ScheduleAnyway);
    let cluster = with_default(replica_set(lopsided(), "web"), soft);
    let outcome = check(cluster.pods(web().replicas(5)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 5]);
}

#[test]
fn pods_of_nobody_are_not_spread() {
    let loners = [
        pod("web").cpu(100),
        pod("web").cpu(100).owned_by(OwnerKind::Job, "web"),
        pod("web").cpu(100).owned_by(OwnerKind::ReplicaSet, "gone"),
    ];
    for loner in loners {
        let cluster = replica_set(market(), "other").service("other", &[("app", "other")]);
        let outcome = check(hard(cluster, HOSTNAME).pods(loner.replicas(4)));
        assert_eq!(outcome.bought(), 1);
    }
}

#[test]
fn service_alone_suffices() {
    let cluster = market().service("web", &[("app", "web")]);
    let outcome = check(hard(cluster, HOSTNAME).pods(pod("web").cpu(100).replicas(3)));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1]);
}

#[test]
fn service_without_conditions_contributes_nothing() {
    let cluster = market().service("all", &[]);
    let outcome = check(hard(cluster, HOSTNAME).pods(pod("web").cpu(100).replicas(3)));
    assert_eq!(outcome.bought(), 1);
}

#[test]
fn workloads_are_spread_independently() {
    let cluster = replica_set(replica_set(market(), "web"), "api");
    let api = pod("api").cpu(100).owned_by(OwnerKind::ReplicaSet, "api");
    let outcome = check(
        hard(cluster, HOSTNAME)
            .pods(web().replicas(3))
            .pods(api.replicas(3)),
    );
    assert_eq!(outcome.bought(), 3);
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1, 1, 1]);
}

/// Two pods of one revision of `web`, with the ReplicaSet of that name.
fn revision(name: &str) -> impl Iterator<Item = PodFixture> + use<> {
    pod(name)
        .cpu(100)
        .only_labels(&[("app", "web"), ("revision", name)])
        .owned_by(OwnerKind::ReplicaSet, name)
        .replicas(2)
}

/// How two revisions of `web`, two pods each, are spread over hosts.
fn skew_of_revisions(cluster: ClusterFixture) -> Vec<usize> {
    let cluster = hard(cluster, HOSTNAME).pods(revision("old"));
    check(cluster.pods(revision("new"))).skew(HOSTNAME, "web")
}

#[test]
fn revisions_are_spread_independently() {
    let set = |cluster: ClusterFixture, name: &str| {
        let selector = [("app", "web"), ("revision", name)];
        cluster.workload(WorkloadKind::ReplicaSet, name, &selector)
    };
    assert_eq!(skew_of_revisions(set(set(market(), "old"), "new")), [2, 2]);
}

#[test]
fn service_over_revisions_does_not_join_them() {
    let set = |cluster: ClusterFixture, name: &str| {
        cluster.workload(WorkloadKind::ReplicaSet, name, &[("revision", name)])
    };
    let cluster = set(set(market(), "old"), "new").service("web", &[("app", "web")]);
    assert_eq!(skew_of_revisions(cluster), [2, 2]);
}

#[test]
fn running_pods_count_through_the_deduced_selector() {
    let cluster = replica_set(market(), "web")
        .node(node("n1").zone(ZONE_1).cpu(0))
        .node(node("n2").zone(ZONE_2).cpu(0))
        .pod(pod("first").only_labels(&[("app", "web")]).on("n1"))
        .pod(pod("second").only_labels(&[("app", "web")]).on("n2"));
    let outcome = check(hard(cluster, ZONE).pods(web().replicas(1)));
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_3], 1);
}

#[test]
fn controller_overwrites_what_services_say_and_a_set_adds_to_it() {
    let labelled = |kind| {
        pod("web")
            .cpu(100)
            .only_labels(&[("app", "web"), ("tier", "x")])
            .owned_by(kind, "web")
            .replicas(3)
    };
    let cluster = |kind| {
        hard(market(), HOSTNAME)
            .workload(kind, "web", &[("app", "none")])
            .service("web", &[("app", "web")])
    };
    let overwritten = check(
        cluster(WorkloadKind::ReplicationController)
            .pods(labelled(OwnerKind::ReplicationController)),
    );
    assert_eq!(overwritten.bought(), 1, "the selector matches no pod");
    let clash = check(cluster(WorkloadKind::ReplicaSet).pods(labelled(OwnerKind::ReplicaSet)));
    assert_eq!(clash.bought(), 1, "the selector matches no pod");
    let set = hard(market(), HOSTNAME)
        .workload(WorkloadKind::StatefulSet, "web", &[("tier", "x")])
        .service("web", &[("app", "web")])
        .pods(labelled(OwnerKind::StatefulSet));
    assert_eq!(check(set).skew(HOSTNAME, "web"), [1, 1, 1]);
}
