//! Nodes there are, nodes in flight, and deleting nodes, as places for pods.

use plimsoll_base::labels::{INITIALIZED, REGISTERED};
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::{
    ClaimPhase, DisruptionLimit, DoNotDisrupt, OwnerKind, Pod, PodDisruptionBudget, PodPhase,
};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, market, of_web};

fn web() -> PodFixture {
    pod("web").cpu(100)
}

/// One of our nodes, of a type that is sold.
fn ours(name: &str) -> NodeFixture {
    node(name)
        .managed("general")
        .of_type("default-instance-type")
        .zone(ZONE_1)
        .label(CAPACITY_TYPE, "on-demand")
}

#[test]
fn later_pod_uses_the_room_that_is_left() {
    let outcome = check(market().pod(pod("first").cpu(100))).then([web()]);
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 0));
    let outcome = outcome.then([pod("third")
        .cpu(100)
        .needs(is_in(ARCH, &["amd64", "arm64"]))]);
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 0));
}

#[test]
fn new_node_is_bought_where_the_one_there_does_not_do() {
    let cluster = market().node(ours("n1").cpu(200));
    let others = [
        web().cpu(300),
        web().select(ZONE, ZONE_2),
        web().select(ARCH, "arm64"),
    ];
    for pod in others {
        let outcome = check(cluster.clone().pod(pod));
        assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    }
    let leaving = market().node(ours("n1").deleting());
    assert_eq!(check(leaving.pod(web())).bought(), 1);
}

#[test]
fn node_on_its_way_takes_pods_in_every_phase() {
    for phase in [
        ClaimPhase::Created,
        ClaimPhase::Launched,
        ClaimPhase::Registered,
        ClaimPhase::Initialized,
    ] {
        let outcome = check(market().node(ours("n1").phase(phase)).pod(web()));
        assert_eq!((outcome.unplaced(), outcome.bought()), (0, 0), "{phase:?}");
    }
}

#[test]
fn claim_without_a_machine_takes_pods_of_the_one_zone_it_requires() {
    use plimsoll_base::labels::LabelKey;
    use plimsoll_base::requirement::Requirement;
    let (mut objects, catalogues, settings) = market()
        .node(ours("n1").phase(ClaimPhase::Created))
        .pod(web().select(ZONE, ZONE_1))
        .parts();
    let mut claim = plimsoll_model::NodeClaim::clone(&objects.claims[0]);
    claim.labels.remove(ZONE);
    let zone = |zones: &[&str]| Requirement::one_of(LabelKey::from(ZONE), zones.iter().copied());
    for (zones, bought) in [(&[ZONE_1][..], 0), (&[ZONE_1, ZONE_2][..], 1)] {
        claim.requirements.replace(zone(zones));
        objects.claims = vec![std::sync::Arc::new(claim.clone())];
        let run = plimsoll_scheduling_tests::Run::new(
            objects.clone(),
            &catalogues,
            &settings,
            plimsoll_model::PackingMode::Price,
        );
        assert_eq!(run.plan().claims.len(), bought, "{zones:?}");
    }
}

#[test]
fn zones_fill_up_on_nodes_there_are() {
    let spread = |name: &str| of_web(name, |pod| pod.spread(ZONE, 1));
    let outcome = check(market().pods(spread("first").replicas(4)));
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 2]);
    let outcome = outcome.then(spread("second").replicas(5));
    assert_eq!(outcome.skew(ZONE, "web"), [3, 3, 3]);
    assert_eq!(outcome.bought(), 0);
}

#[test]
fn hosts_of_a_spread_are_bought_although_others_have_room() {
    let spread = |name: &str| of_web(name, |pod| pod.spread(HOSTNAME, 1));
    let outcome =
        check(market().pods(spread("first").replicas(4))).then(spread("second").replicas(5));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 5));
    assert_eq!(outcome.skew(HOSTNAME, "web"), [1; 9]);
}

#[test]
fn taints_of_a_settling_node_are_not_seen_until_it_has_settled() {
    let passing = [
        ("node.kubernetes.io/not-ready", NoExecute),
        ("node.kubernetes.io/not-ready", NoSchedule),
        ("node.kubernetes.io/unreachable", NoSchedule),
        ("node.cloudprovider.kubernetes.io/uninitialized", NoSchedule),
        ("karpenter.sh/unregistered", NoExecute),
        ("readiness.k8s.io/network", NoSchedule),
    ];
    for (key, effect) in passing {
        let with_taint = ours("n1").taint(key, "", effect);
        let settling = with_taint.clone().phase(ClaimPhase::Registered);
        assert_eq!(
            check(market().node(settling).pod(web())).bought(),
            0,
            "{key}"
        );
        assert_eq!(
            check(market().node(with_taint).pod(web())).bought(),
            1,
            "{key}"
        );
    }
}

#[test]
fn startup_taints_are_not_seen_until_the_node_has_settled() {
    let with_taint = ours("n1").startup_taint("starting", "yes", NoSchedule);
    let settling = with_taint.clone().phase(ClaimPhase::Registered);
    assert_eq!(check(market().node(settling).pod(web())).bought(), 0);
    assert_eq!(check(market().node(with_taint).pod(web())).bought(), 1);
}

#[test]
fn taints_of_others_nodes_are_always_seen() {
    let not_ready = node("n1").taint("node.kubernetes.io/not-ready", "", NoExecute);
    assert_eq!(check(market().node(not_ready).pod(web())).bought(), 1);
    let custom = ours("n1")
        .phase(ClaimPhase::Registered)
        .taint("team", "x", NoSchedule);
    assert_eq!(check(market().node(custom.clone()).pod(web())).bought(), 1);
    let tolerating = web().tolerates("team", "x", NoSchedule);
    assert_eq!(check(market().node(custom).pod(tolerating)).bought(), 0);
}

#[test]
fn daemons_that_run_already_are_not_reserved_for_again() {
    let daemon = pod("daemon").cpu(1000);
    let running = |name: &str| {
        pod(name)
            .cpu(1000)
            .owned_by(OwnerKind::DaemonSet, "daemon")
            .on("n1")
    };
    let cluster = market().daemon(&daemon).node(ours("n1").cpu(4000));
    assert_eq!(check(cluster.clone().pod(web().cpu(3000))).bought(), 0);
    assert_eq!(check(cluster.clone().pod(web().cpu(3001))).bought(), 1);
    let cluster = cluster.pod(running("daemon-a"));
    assert_eq!(check(cluster.clone().pod(web().cpu(3000))).bought(), 0);
    let cluster = cluster.pod(running("daemon-b"));
    assert_eq!(check(cluster.clone().pod(web().cpu(2000))).bought(), 0);
    assert_eq!(check(cluster.pod(web().cpu(2001))).bought(), 1);
}

#[test]
fn daemons_of_settled_nodes_are_reserved_for_and_leave_no_trace_in_claims() {
    let daemon = pod("daemon")
        .cpu(1000)
        .needs(is_in(INITIALIZED, &["true"]))
        .needs(is_in(REGISTERED, &["true"]));
    let outcome = check(market().daemon(&daemon).pod(web()));
    for run in outcome.runs() {
        let claim = &run.plan().claims[0];
        assert_eq!(claim.requests.get(&ResourceName::Cpu), 1100);
        for key in [INITIALIZED, REGISTERED] {
            assert!(claim.requirements.get(key).is_none());
            assert!(!claim.labels.contains_key(key));
        }
    }
}

#[test]
fn daemon_that_cannot_run_on_a_node_is_reserved_for_on_new_ones_only() {
    let daemon = pod("daemon").cpu(1000).select(CAPACITY_TYPE, "on-demand");
    let cluster = market().daemon(&daemon).node(node("n1").cpu(1000));
    let outcome = check(cluster.clone().pod(web().cpu(1000)));
    assert_eq!(outcome.place("web").as_deref(), Some("n1"));
    let on_demand = web().cpu(3000).select(CAPACITY_TYPE, "on-demand");
    let outcome = check(cluster.pod(on_demand));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    let request = |run: &plimsoll_scheduling_tests::Run| {
        run.plan().claims[0].requests.get(&ResourceName::Cpu)
    };
    assert_eq!(outcome.agreed(request), 4000);
}

#[test]
fn settled_node_is_used_before_those_that_are_not() {
    for phase in [ClaimPhase::Launched, ClaimPhase::Registered] {
        let settling = (0..99).map(|number| ours(&format!("a-{number:02}")).phase(phase));
        let cluster = settling.fold(market(), ClusterFixture::node);
        let outcome = check(cluster.node(ours("z-settled")).pod(web()));
        assert_eq!(outcome.place("web").as_deref(), Some("z-settled"));
    }
}

#[test]
fn nodes_of_others_are_used() {
    let cluster = market().node(node("n1").pods(110));
    let outcome = check(cluster.pods(pod("web").cpu(10).replicas(100)));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 0));
}

#[test]
fn pod_that_no_node_satisfies_waits_for_a_pool() {
    let outcome = check(
        bare_market()
            .pool(pool("general").zones(&[ZONE_2]))
            .node(node("n1").label("team", "a"))
            .pod(web().select("team", "b")),
    );
    assert_eq!(outcome.waiting(), ["web"]);
}

#[test]
fn node_without_the_label_asked_for_is_not_used() {
    let outcome = check(market().node(node("n1")).pod(web().select(ZONE, ZONE_1)));
    assert_eq!(outcome.bought(), 1);
    let outcome = check(market().node(node("n1")).pod(web().spread(ZONE, 1)));
    assert_eq!(outcome.bought(), 1);
}

#[test]
fn overcommitted_node_takes_nothing() {
    let hog = pod("hog").memory_mib(9000).on("n1");
    let outcome = check(market().node(node("n1")).pod(hog).pod(pod("web")));
    assert_eq!(outcome.bought(), 1);
}

#[test]
fn resource_that_the_kubelet_has_not_reported_is_taken_from_the_claim() {
    let device = ResourceName::from("fake.com/vendor-a");
    let asks = web().amount(device.clone(), 1);
    let settling = |phase| {
        let (mut objects, catalogues, settings) = market()
            .node(
                ours("n1")
                    .of_type("gpu-vendor-instance-type")
                    .amount(device.clone(), 1)
                    .phase(phase),
            )
            .pod(asks.clone())
            .parts();
        let mut silent = plimsoll_model::Node::clone(&objects.nodes[0]);
        silent.capacity.set(device.clone(), 0);
        silent.allocatable.set(device.clone(), 0);
        objects.nodes = vec![std::sync::Arc::new(silent)];
        plimsoll_scheduling_tests::Run::new(
            objects,
            &catalogues,
            &settings,
            plimsoll_model::PackingMode::Price,
        )
    };
    assert_eq!(settling(ClaimPhase::Registered).plan().claims.len(), 0);
    assert_eq!(settling(ClaimPhase::Initialized).plan().claims.len(), 1);
}

#[test]
fn group_of_a_zone_joins_the_zone_of_its_node_on_the_way() {
    let member = |name: &str| of_web(name, |pod| pod.affinity(ZONE));
    let outcome = check(
        market()
            .node(ours("n1").zone(ZONE_2).phase(ClaimPhase::Launched))
            .pods(member("first").replicas(2)),
    );
    assert_eq!(outcome.domains(ZONE, "web")[ZONE_2], 2);
    assert_eq!(outcome.bought(), 0);
}

#[test]
fn pod_promised_to_a_node_is_left_alone_while_the_node_is_there() {
    let cluster = market().node(ours("n1")).node(ours("n2").deleting());
    let outcome = check(cluster.clone().pod(web().nominated("n1")));
    assert_eq!((outcome.placed("web"), outcome.bought()), (0, 0));
    for gone in ["n2", "never"] {
        let outcome = check(cluster.clone().pod(web().nominated(gone)));
        assert_eq!(outcome.placed("web"), 1);
    }
}

/// A node on its way out that holds one pod.
fn leaving(pod: PodFixture) -> ClusterFixture {
    market().node(ours("n1").deleting()).pod(pod.on("n1"))
}

#[test]
fn pods_of_a_leaving_node_are_planned_for() {
    let outcome = check(leaving(web()).pod(pod("other").cpu(100).on("n1")));
    assert_eq!((outcome.unplaced(), outcome.bought()), (0, 1));
    assert!(outcome.together(&["web", "other"]));
}

#[test]
fn pods_that_do_not_come_back_are_not_planned_for() {
    let ending = |pod: &mut Pod| pod.deleting = Some(Timestamp::from_millis(1));
    let stay = [
        web().with(ending),
        web().owned_by(OwnerKind::ReplicaSet, "web").with(ending),
        web().owned_by(OwnerKind::DaemonSet, "web"),
        web().owned_by(OwnerKind::Node, "n1"),
        web().with(|pod| pod.do_not_disrupt = DoNotDisrupt::Always),
    ];
    for pod in stay {
        assert_eq!(check(leaving(pod)).placed("web"), 0);
    }
    let done = market()
        .node(ours("n1").deleting())
        .pod(web().on("n1").with(|pod| pod.phase = PodPhase::Succeeded));
    assert_eq!(check(done).placed("web"), 0);
}

#[test]
fn ending_pod_of_a_stateful_set_is_planned_for() {
    let pod = web()
        .owned_by(OwnerKind::StatefulSet, "web")
        .with(|pod| pod.deleting = Some(Timestamp::from_millis(1)));
    assert_eq!(check(leaving(pod)).placed("web"), 1);
}

fn budget(name: &str, limit: DisruptionLimit) -> PodDisruptionBudget {
    PodDisruptionBudget {
        name: plimsoll_base::ids::ObjectName::new("default", name),
        selector: plimsoll_model::LabelSelector::match_labels(&labels(&[("app", "web")])),
        limit,
        always_allow_unhealthy: false,
        disruptions_allowed: 0,
        is_met: false,
    }
}

#[test]
fn pods_that_no_budget_ever_lets_go_are_not_planned_for() {
    for limit in [
        DisruptionLimit::MaxUnavailable(0),
        DisruptionLimit::MaxUnavailablePercent(0),
        DisruptionLimit::MinAvailablePercent(100),
        DisruptionLimit::Unset,
    ] {
        let cluster = leaving(web()).disruption_budget(budget("one", limit));
        assert_eq!(check(cluster).placed("web"), 0);
    }
    let lenient = || budget("one", DisruptionLimit::MaxUnavailable(1));
    let one = leaving(web()).disruption_budget(lenient());
    assert_eq!(check(one.clone()).placed("web"), 1);
    let two = one.disruption_budget(budget("two", DisruptionLimit::MaxUnavailable(1)));
    assert_eq!(check(two).placed("web"), 0);
}

/// `web` on a node that is leaving, under a budget that lets none of its pods go.
fn held(change: impl Fn(&mut Pod), is_met: bool) -> usize {
    let budget = PodDisruptionBudget {
        is_met,
        ..budget("one", DisruptionLimit::MaxUnavailable(0))
    };
    let leaving = market().node(ours("gone").deleting());
    let pod = web().on("gone").with(change);
    check(leaving.pod(pod).disruption_budget(budget)).placed("web")
}

#[test]
fn pods_that_go_whatever_their_budget_says_are_planned_for() {
    let unready = |pod: &mut Pod| pod.ready = Some(false);
    let starting = |pod: &mut Pod| pod.phase = PodPhase::Pending;
    assert_eq!(held(|_| {}, true), 0, "it is ready");
    assert_eq!(held(unready, false), 0, "its budget is not met");
    assert_eq!(held(unready, true), 1);
    assert_eq!(held(starting, false), 1);
}

#[test]
fn pod_leaving_a_zone_is_not_counted_there_twice() {
    let spread = |name: &str| of_web(name, |pod| pod.spread(ZONE, 1));
    let cluster = ZONES
        .into_iter()
        .fold(market(), |all, zone| {
            all.node(ours(zone).zone(zone).cpu(50))
        })
        .node(ours("gone").zone(ZONE_1).deleting());
    let running = ZONES.map(|zone| spread(zone).cpu(50).on(zone));
    let outcome = check(cluster.pods(running).pod(spread("moved").on("gone")));
    assert_eq!(outcome.unplaced(), 0);
    assert_eq!(outcome.skew(ZONE, "web"), [1, 1, 2]);
}
