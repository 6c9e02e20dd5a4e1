//! Daemons as pods that others keep away from, are near to, or share a spread with.

use plimsoll_check::Rule;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::*;

use crate::breaks;

/// One type on amd64, one on arm64, and a daemon that runs where `cache` says.
fn sold(cache: &PodFixture) -> ClusterFixture {
    cluster()
        .sells(instance_type("amd").zones(&[ZONE_1]))
        .sells(instance_type("arm").arch("arm64").zones(&[ZONE_1]))
        .pool(pool("general"))
        .daemon(cache)
}

/// The same with a pod that waits.
fn world(cache: &PodFixture, web: PodFixture) -> Snapshot {
    sold(cache).pod(web).snapshot()
}

/// A node of one type for the pod `web`, or one that may turn out as either, breaks these rules.
#[track_caller]
fn on(snapshot: &Snapshot, types: &[&str], rules: &[Rule]) {
    let options: Vec<_> = types.iter().map(|name| (*name, ZONE_1, OnDemand)).collect();
    let bought = plan(snapshot).buy_for("general", &options, &["web"]);
    let plan = bought.daemons(&snapshot.daemon_sets[0].pod.requests);
    breaks(snapshot, &plan.build(), rules);
}

#[test]
fn a_pod_keeps_off_the_daemons_of_a_new_node() {
    let cache = pod("cache").cpu(10).select(ARCH, "amd64");
    for key in [HOSTNAME, ZONE] {
        let snapshot = world(&cache, pod("web").anti_affinity(key).to("cache"));
        on(&snapshot, &["amd"], &[Rule::AntiAffinity]);
        on(&snapshot, &["amd", "arm"], &[Rule::AntiAffinity]);
        on(&snapshot, &["arm"], &[]);
    }
}

#[test]
fn a_daemon_keeps_pods_off_its_new_node() {
    let cache = pod("cache").cpu(10).select(ARCH, "amd64");
    let shy = cache.anti_affinity(HOSTNAME).to("web");
    let snapshot = world(&shy, pod("web"));
    on(&snapshot, &["amd"], &[Rule::AntiAffinity]);
    on(&snapshot, &["arm"], &[]);
}

#[test]
fn affinity_to_a_daemon_holds_where_it_is_certain_to_come() {
    let cache = pod("cache").cpu(10).select(ARCH, "amd64");
    let snapshot = world(&cache, pod("web").affinity(HOSTNAME).to("cache"));
    on(&snapshot, &["amd"], &[]);
    on(&snapshot, &["amd", "arm"], &[Rule::Affinity]);
    on(&snapshot, &["arm"], &[Rule::Affinity]);
}

#[test]
fn a_daemon_takes_a_place_of_a_spread() {
    let cache = pod("cache").only_labels(&[("app", "web")]).cpu(10);
    let cache = cache.select(ARCH, "amd64");
    let beside_a_node_without = |most: u32| {
        let sold = sold(&cache).node(node("n1").label(ARCH, "arm64"));
        sold.pod(pod("web").spread(HOSTNAME, most)).snapshot()
    };
    on(&beside_a_node_without(1), &["amd"], &[Rule::Spread]);
    on(&beside_a_node_without(2), &["amd"], &[]);
}

#[test]
fn a_daemon_that_is_still_to_come_counts_on_a_node_there() {
    let snapshot = cluster()
        .node(node("n1"))
        .daemon(&pod("cache").cpu(10))
        .pod(pod("web").anti_affinity(HOSTNAME).to("cache"))
        .snapshot();
    breaks(
        &snapshot,
        &plan(&snapshot).on("web", "n1").build(),
        &[Rule::AntiAffinity],
    );
}
