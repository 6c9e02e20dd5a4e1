//! Spread, affinity and anti-affinity, counted in order.

use plimsoll_check::Rule;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{DefaultSpread, OwnerKind, PodPhase, WhenUnsatisfiable, WorkloadKind};
use plimsoll_oracles::fixture::*;

use crate::{breaks, passes};

/// Three nodes, one in each zone.
fn zonal() -> ClusterFixture {
    cluster()
        .node(node("n1").zone(ZONE_1))
        .node(node("n2").zone(ZONE_2))
        .node(node("n3").zone(ZONE_3))
}

/// Pods onto nodes in this order break these rules.
#[track_caller]
fn order(snapshot: &Snapshot, placements: &[(&str, &str)], rules: &[Rule]) {
    let placed = placements
        .iter()
        .fold(plan(snapshot), |plan, (pod, node)| plan.on(pod, node));
    breaks(snapshot, &placed.build(), rules);
}

#[test]
fn spread_depends_on_the_order_of_placements() {
    let snapshot = zonal()
        .pods(pod("web").spread(ZONE, 1).replicas(4))
        .snapshot();
    let good = [
        ("web-0", "n1"),
        ("web-1", "n2"),
        ("web-2", "n3"),
        ("web-3", "n1"),
    ];
    order(&snapshot, &good, &[]);
    let wrong = [
        ("web-0", "n1"),
        ("web-3", "n1"),
        ("web-1", "n2"),
        ("web-2", "n3"),
    ];
    order(&snapshot, &wrong, &[Rule::Spread]);
}

#[test]
fn spread_counts_running_pods_of_the_namespace_only() {
    let world = || {
        zonal().pod(
            pod("new")
                .only_labels(&[("app", "web")])
                .spread(ZONE, 1)
                .to("web"),
        )
    };
    let there =
        |change: fn(PodFixture) -> PodFixture| world().pod(change(pod("web").on("n1"))).snapshot();
    order(&there(|pod| pod), &[("new", "n1")], &[Rule::Spread]);
    order(&there(|pod| pod), &[("new", "n2")], &[]);
    let ended = there(|pod| pod.with(|pod| pod.phase = PodPhase::Succeeded));
    order(&ended, &[("new", "n1")], &[]);
    order(&there(|pod| pod.namespace("other")), &[("new", "n1")], &[]);
}

#[test]
fn domains_in_which_nothing_is_bought_do_not_count() {
    let both = [("web-0", "n1"), ("web-1", "n1")];
    let shop = cluster().types(ladder(1)).pool(pool("general"));
    for world in [cluster(), shop] {
        let world = world.node(node("n1").zone(ZONE_1));
        let world = world.pods(pod("web").spread(ZONE, 1).replicas(2));
        order(&world.clone().snapshot(), &both, &[]);
        let other = world.node(node("n2").zone(ZONE_2));
        order(&other.snapshot(), &both, &[Rule::Spread]);
    }
}

#[test]
fn nodes_that_the_plan_buys_for_others_are_domains() {
    let snapshot = cluster()
        .sells(instance_type("m").zones(&[ZONE_2]))
        .pool(pool("general").taint("x", "", NoSchedule))
        .node(node("n1").zone(ZONE_1))
        .pod(pod("other").tolerates("x", "", NoSchedule))
        .pods(pod("web").spread(ZONE, 1).replicas(2))
        .snapshot();
    let webs = plan(&snapshot).on("web-0", "n1").on("web-1", "n1");
    let other = webs.buy_for("general", &[("m", ZONE_2, OnDemand)], &["other"]);
    breaks(&snapshot, &other.build(), &[Rule::Spread]);
}

#[test]
fn nodes_without_the_key_of_another_constraint_do_not_count() {
    let world = |pod: PodFixture| {
        cluster()
            .node(node("n1").zone(ZONE_1).label("rack", "r1"))
            .node(node("n2").zone(ZONE_2))
            .pods(pod.replicas(2))
            .snapshot()
    };
    let both = [("web-0", "n1"), ("web-1", "n1")];
    let zonal = || pod("web").spread(ZONE, 1);
    order(&world(zonal()), &both, &[Rule::Spread]);
    order(&world(zonal().spread("rack", 1)), &both, &[]);
}

#[test]
fn too_few_domains_take_the_minimum_as_nothing() {
    let snapshot = |pod: PodFixture| {
        cluster()
            .node(node("n1").zone(ZONE_1))
            .pods(pod.replicas(2))
            .snapshot()
    };
    let both = [("web-0", "n1"), ("web-1", "n1")];
    order(&snapshot(pod("web").spread(ZONE, 1)), &both, &[]);
    let wide = snapshot(pod("web").spread(ZONE, 1).min_domains(2));
    order(&wide, &both, &[Rule::Spread]);
}

#[test]
fn a_pod_that_names_its_zone_is_compared_within_it() {
    let snapshot = zonal()
        .pods(pod("web").spread(ZONE, 1).select(ZONE, ZONE_1).replicas(3))
        .snapshot();
    order(
        &snapshot,
        &[("web-0", "n1"), ("web-1", "n1"), ("web-2", "n1")],
        &[],
    );
}

#[test]
fn host_spread_counts_from_the_fewest_on_a_host() {
    let both = [("web-0", "n1"), ("web-1", "n1")];
    let one = cluster().node(node("n1"));
    let one = one.pods(pod("web").spread(HOSTNAME, 1).replicas(2));
    order(&one.clone().snapshot(), &both, &[]);
    let two = one.node(node("n2").label("team", "a"));
    order(&two.snapshot(), &both, &[Rule::Spread]);
    let closed = cluster().node(node("n1").label("team", "b"));
    let closed = closed.node(node("n2").label("team", "a"));
    let own = pod("web").select("team", "b").spread(HOSTNAME, 1);
    order(&closed.pods(own.replicas(2)).snapshot(), &both, &[]);
}

#[test]
fn a_spread_without_conditions_counts_no_pod_and_asks_for_its_key() {
    let every = || plimsoll_model::LabelSelector::all(vec![]);
    let web = |key: &str| {
        let pods = pod("web").spread(key, 1).selector(every());
        zonal().pods(pods.replicas(2)).snapshot()
    };
    let together = [("web-0", "n1"), ("web-1", "n1")];
    order(&web(ZONE), &together, &[]);
    order(&web(HOSTNAME), &together, &[]);
    order(&web("unknown"), &together, &[Rule::Spread, Rule::Spread]);
}

#[test]
fn soft_spread_is_not_checked() {
    let snapshot = zonal()
        .pods(pod("web").prefers_spread(ZONE, 1).replicas(2))
        .snapshot();
    order(&snapshot, &[("web-0", "n1"), ("web-1", "n1")], &[]);
}

#[test]
fn revisions_spread_apart_from_each_other() {
    let revision = |name: &str, rev: &str| {
        let labels = [("app", "web"), ("rev", rev)];
        let pod = pod(name).only_labels(&labels).spread(ZONE, 1).to("web");
        pod.match_label_keys(&["rev"])
    };
    let snapshot = zonal()
        .pod(revision("a", "1"))
        .pod(revision("b", "2"))
        .pod(revision("c", "2"));
    let snapshot = snapshot.snapshot();
    order(&snapshot, &[("a", "n1"), ("b", "n1"), ("c", "n2")], &[]);
    order(
        &snapshot,
        &[("a", "n1"), ("b", "n1"), ("c", "n1")],
        &[Rule::Spread],
    );
}

#[test]
fn tainted_domains_count_unless_taints_are_honoured() {
    let world = |pod: PodFixture| {
        cluster()
            .node(node("n1").zone(ZONE_1))
            .node(node("n2").zone(ZONE_2).taint("x", "", NoSchedule))
            .pods(pod.replicas(2))
            .snapshot()
    };
    let both = [("web-0", "n1"), ("web-1", "n1")];
    order(&world(pod("web").spread(ZONE, 1)), &both, &[Rule::Spread]);
    order(
        &world(pod("web").spread(ZONE, 1).honors_taints()),
        &both,
        &[],
    );
}

#[test]
fn nodes_the_pod_could_not_use_count_only_when_affinity_is_ignored() {
    let world = |pod: PodFixture| {
        cluster()
            .node(node("n1").zone(ZONE_1).label("disk", "ssd"))
            .node(node("n2").zone(ZONE_2))
            .pods(pod.select("disk", "ssd").replicas(2))
            .snapshot()
    };
    let both = [("web-0", "n1"), ("web-1", "n1")];
    order(&world(pod("web").spread(ZONE, 1)), &both, &[]);
    order(
        &world(pod("web").spread(ZONE, 1).ignores_affinity()),
        &both,
        &[Rule::Spread],
    );
}

#[test]
fn pods_without_spread_get_the_clusters_own() {
    let default = DefaultSpread {
        max_skew: 1,
        topology_key: ZONE.into(),
        when_unsatisfiable: WhenUnsatisfiable::DoNotSchedule,
        min_domains: None,
    };
    let world = |world: ClusterFixture| {
        world
            .settings(|settings| settings.default_spread = vec![default.clone()])
            .pods(
                pod("web")
                    .owned_by(OwnerKind::ReplicaSet, "web")
                    .replicas(2),
            )
            .snapshot()
    };
    let both = [("web-0", "n1"), ("web-1", "n1")];
    order(&world(zonal()), &both, &[]);
    let served = world(zonal().service("web", &[("app", "web")]));
    order(&served, &both, &[Rule::Spread]);
    let owned = world(zonal().workload(WorkloadKind::ReplicaSet, "web", &[("app", "web")]));
    order(&owned, &both, &[Rule::Spread]);
}

#[test]
fn affinity_needs_its_target_first() {
    let snapshot = zonal()
        .pod(pod("db"))
        .pod(pod("web").affinity(ZONE).to("db"))
        .snapshot();
    order(&snapshot, &[("db", "n1"), ("web", "n1")], &[]);
    order(&snapshot, &[("db", "n1"), ("web", "n2")], &[Rule::Affinity]);
    order(&snapshot, &[("web", "n1"), ("db", "n1")], &[Rule::Affinity]);
}

#[test]
fn affinity_to_oneself_begins_once() {
    let snapshot = zonal()
        .pods(pod("web").affinity(ZONE).replicas(2))
        .snapshot();
    order(&snapshot, &[("web-0", "n2"), ("web-1", "n2")], &[]);
    order(
        &snapshot,
        &[("web-0", "n2"), ("web-1", "n1")],
        &[Rule::Affinity],
    );
}

#[test]
fn nothing_begins_again_elsewhere_even_where_its_selector_keeps_it_away() {
    let web = |name: &str, zone: &str| {
        let pod = pod(name).only_labels(&[("app", "web")]).select(ZONE, zone);
        pod.affinity(ZONE).to("web")
    };
    let snapshot = zonal()
        .pod(web("a", ZONE_1))
        .pod(web("b", ZONE_2))
        .snapshot();
    order(&snapshot, &[("a", "n1"), ("b", "n2")], &[Rule::Affinity]);
}

#[test]
fn several_affinity_terms_want_one_pod_that_matches_all() {
    let near = || {
        let pod = pod("web").affinity(ZONE).selecting(&[("app", "db")]);
        pod.affinity(HOSTNAME).selecting(&[("tier", "hot")])
    };
    let one_each = zonal()
        .pod(pod("db").on("n1"))
        .pod(pod("hot").only_labels(&[("tier", "hot")]).on("n1"))
        .pod(near());
    order(&one_each.snapshot(), &[("web", "n1")], &[Rule::Affinity]);
    let both = pod("db").label("tier", "hot");
    let snapshot = zonal().pod(both.on("n1")).pod(near()).snapshot();
    order(&snapshot, &[("web", "n1")], &[]);
    order(&snapshot, &[("web", "n2")], &[Rule::Affinity]);
}

#[test]
fn affinity_speaks_of_its_namespaces() {
    let db = || pod("db").namespace("data").on("n1");
    let near = |web: PodFixture| {
        zonal()
            .namespace("data", &[("kind", "db")])
            .pod(db())
            .pod(web)
            .snapshot()
    };
    let web = || pod("web").affinity(ZONE).to("db");
    order(&near(web()), &[("web", "n1")], &[Rule::Affinity]);
    order(&near(web().in_namespaces(&["data"])), &[("web", "n1")], &[]);
    let kind = |value| {
        let labels = labels(&[("kind", value)]);
        plimsoll_model::LabelSelector::match_labels(&labels)
    };
    order(
        &near(web().in_namespaces_like(kind("db"))),
        &[("web", "n1")],
        &[],
    );
    order(
        &near(web().in_namespaces_like(kind("web"))),
        &[("web", "n1")],
        &[Rule::Affinity],
    );
}

#[test]
fn anti_affinity_holds_both_ways() {
    let own = zonal()
        .pod(pod("db").on("n1"))
        .pod(pod("web").anti_affinity(ZONE).to("db"));
    let own = own.snapshot();
    order(&own, &[("web", "n1")], &[Rule::AntiAffinity]);
    order(&own, &[("web", "n2")], &[]);
    let theirs = zonal()
        .pod(pod("db").anti_affinity(ZONE).to("web").on("n1"))
        .pod(pod("web"));
    let theirs = theirs.snapshot();
    order(&theirs, &[("web", "n1")], &[Rule::AntiAffinity]);
    order(&theirs, &[("web", "n2")], &[]);
    let soft = zonal().pod(pod("db").prefers_anti_affinity(1, ZONE).to("web").on("n1"));
    order(&soft.pod(pod("web")).snapshot(), &[("web", "n1")], &[]);
}

#[test]
fn pods_asked_to_go_count_for_affinity_and_not_for_spread() {
    let leaving = |pod: PodFixture| pod.on("n1").with(|pod| pod.deleting = Some(pod.created));
    let avoided = zonal()
        .pod(leaving(pod("db")))
        .pod(pod("web").anti_affinity(HOSTNAME).to("db"));
    let avoiding = zonal()
        .pod(leaving(pod("db").anti_affinity(HOSTNAME).to("web")))
        .pod(pod("web"));
    for world in [avoided, avoiding] {
        let snapshot = world.snapshot();
        order(&snapshot, &[("web", "n1")], &[Rule::AntiAffinity]);
        order(&snapshot, &[("web", "n2")], &[]);
    }
    let followed = zonal()
        .pod(leaving(pod("db")))
        .pod(pod("web").affinity(ZONE).to("db"));
    order(&followed.snapshot(), &[("web", "n1")], &[]);
    let crowded = zonal().pod(leaving(pod("db"))).pod(
        pod("web")
            .only_labels(&[("app", "db")])
            .spread(ZONE, 1)
            .to("db"),
    );
    order(&crowded.snapshot(), &[("web", "n1")], &[]);
}

#[test]
fn host_anti_affinity_among_replicas() {
    let snapshot = zonal()
        .pods(pod("web").anti_affinity(HOSTNAME).replicas(2))
        .snapshot();
    order(
        &snapshot,
        &[("web-0", "n1"), ("web-1", "n1")],
        &[Rule::AntiAffinity],
    );
    order(&snapshot, &[("web-0", "n1"), ("web-1", "n2")], &[]);
}

const IN_1: (&str, &str, CapacityType) = ("fake-it-3", ZONE_1, OnDemand);
const IN_2: (&str, &str, CapacityType) = ("fake-it-3", ZONE_2, OnDemand);

fn shop() -> ClusterFixture {
    cluster().types(ladder(4)).pool(pool("general"))
}

/// Options of a claim, and the pod that it is for.
type Claim<'c> = (&'c [(&'c str, &'c str, CapacityType)], &'c str);

/// A claim of its own for each of two pods, that may turn out as any of its options.
fn apart<const N: usize>(snapshot: &Snapshot, claims: [Claim<'_>; N]) -> Plan {
    let bought = claims.iter().fold(plan(snapshot), |plan, (options, pod)| {
        plan.buy_for("general", options, &[pod])
    });
    bought.build()
}

#[test]
fn a_claim_that_may_turn_out_in_two_zones_blocks_both() {
    let snapshot = shop()
        .pods(pod("web").anti_affinity(ZONE).replicas(2))
        .snapshot();
    let decided = apart(&snapshot, [(&[IN_1], "web-0"), (&[IN_2], "web-1")]);
    passes(&snapshot, &decided);
    let open = apart(&snapshot, [(&[IN_1, IN_2], "web-0"), (&[IN_2], "web-1")]);
    breaks(&snapshot, &open, &[Rule::AntiAffinity]);
}

#[test]
fn one_pod_may_leave_its_zone_open_and_the_next_may_not_rely_on_it() {
    let snapshot = shop()
        .pods(pod("web").spread(ZONE, 1).replicas(2))
        .snapshot();
    let open = apart(&snapshot, [(&[IN_1, IN_2], "web-0"), (&[IN_2], "web-1")]);
    breaks(&snapshot, &open, &[Rule::Spread]);
    let decided = apart(&snapshot, [(&[IN_1], "web-0"), (&[IN_2], "web-1")]);
    passes(&snapshot, &decided);
}

#[test]
fn requirements_that_leave_the_zone_open_count_like_options() {
    let snapshot = shop()
        .pods(pod("web").spread(ZONE, 1).replicas(2))
        .snapshot();
    let mut plan = apart(&snapshot, [(&[IN_1], "web-0"), (&[IN_2], "web-1")]);
    plan.claims[0].requirements.remove(ZONE);
    breaks(&snapshot, &plan, &[Rule::Spread]);
}

#[test]
fn neighbours_on_one_claim_are_near_wherever_it_turns_out() {
    let snapshot = shop()
        .pod(pod("db"))
        .pod(pod("web").affinity(ZONE).to("db"))
        .snapshot();
    let together = plan(&snapshot).buy_for("general", &[IN_1, IN_2], &["db", "web"]);
    passes(&snapshot, &together.build());
    let open = apart(&snapshot, [(&[IN_1, IN_2], "db"), (&[IN_1], "web")]);
    breaks(&snapshot, &open, &[Rule::Affinity]);
}

#[test]
fn custom_labels_are_domains_when_a_pool_decides_them() {
    let snapshot = cluster()
        .types(ladder(4))
        .pool(pool("general").needs(is_in("shard", &["1", "2"])))
        .pods(pod("web").spread("shard", 1).replicas(3))
        .snapshot();
    let claims: [Claim<'_>; 3] = ["web-0", "web-1", "web-2"].map(|pod| (&[IN_1][..], pod));
    let mut plan = apart(&snapshot, claims);
    plan.claims[2].labels.insert("shard".into(), "2".into());
    breaks(&snapshot, &plan, &[Rule::Spread]);
    plan.claims[1].labels.insert("shard".into(), "2".into());
    passes(&snapshot, &plan);
}
