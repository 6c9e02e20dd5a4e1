//! Candidates of disruption, rule by rule.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, ObjectName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_disrupt::candidate::{Blocked, Candidate, DO_NOT_DISRUPT, DisruptionClass, Fleet};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{
    ClaimPhase, DisruptionLimit, DoNotDisrupt, LabelSelector, OwnerKind, Pod, PodDisruptionBudget,
    PodPhase,
};
use plimsoll_oracles::fixture::*;

fn base() -> ClusterFixture {
    let small = instance_type("small").price(0.1).offered(ZONE_1, OnDemand);
    cluster().sells(small).pool(pool("general"))
}

fn ours(name: &str) -> NodeFixture {
    let node = node(name).managed("general").of_type("small").zone(ZONE_1);
    node.label(CAPACITY_TYPE, "on-demand")
}

/// The verdict on node `n1`.
fn verdict(snapshot: &Snapshot, class: DisruptionClass) -> Result<Candidate, Blocked> {
    Fleet::of(snapshot).candidate(node_row(snapshot, "n1"), class)
}

fn graceful(cluster: ClusterFixture) -> Result<Candidate, Blocked> {
    verdict(&cluster.snapshot(), DisruptionClass::Graceful)
}

fn stays(pod: PodFixture, how: DoNotDisrupt) -> PodFixture {
    pod.with(|pod| pod.do_not_disrupt = how)
}

fn budget(name: &str, app: &str, allowed: u32) -> PodDisruptionBudget {
    PodDisruptionBudget {
        name: ObjectName::new("default", name),
        selector: LabelSelector::match_labels([(&"app".into(), &app.into())]),
        limit: DisruptionLimit::MaxUnavailable(1),
        always_allow_unhealthy: false,
        disruptions_allowed: allowed,
        is_met: false,
    }
}

#[test]
fn a_node_of_ours_is_a_candidate_with_its_price_and_its_pods() {
    let world = base().node(ours("n1")).pod(pod("web").on("n1"));
    let candidate = graceful(world.pod(pod("log").on("n1").owned_by(OwnerKind::DaemonSet, "log")));
    let candidate = candidate.unwrap();
    assert!((candidate.price.dollars() - 0.1).abs() < 1e-9);
    assert_eq!(candidate.pods.len(), 1, "daemons are not moved");
    assert!((candidate.cost.pods() - 2.0).abs() < 1e-9);
}

#[test]
fn state_of_the_node_decides_before_its_pods() {
    let kept = || stays(pod("web").on("n1"), DoNotDisrupt::Always);
    let verdict_on = |node: NodeFixture| graceful(base().node(node).pod(kept())).unwrap_err();
    assert_eq!(verdict_on(node("n1")), Blocked::NotOurs);
    let joining = ours("n1").phase(ClaimPhase::Registered);
    assert_eq!(verdict_on(joining), Blocked::NotInitialized);
    assert_eq!(verdict_on(ours("n1").deleting()), Blocked::Deleting);
    let annotated = |value: &'static str| {
        ours("n1").with(|node| {
            node.annotations.insert(DO_NOT_DISRUPT.into(), value.into());
        })
    };
    assert_eq!(verdict_on(annotated("true")), Blocked::NodeAsksToStay);
    let by_pod = verdict_on(annotated("30m"));
    assert!(by_pod.is_by_pods(), "a span means nothing on a node");
    let elsewhere = ours("n1").managed("other");
    assert_eq!(verdict_on(elsewhere), Blocked::PoolUnusable("other".into()));
}

#[test]
fn a_node_stays_while_its_claim_or_pool_is_not_understood() {
    let problem: Arc<str> = "spec.pace is \"slow\"; expected a number".into();
    let broken = pool("general").with(|pool| pool.unread.problem = Some(Arc::clone(&problem)));
    let small = instance_type("small").price(0.1).offered(ZONE_1, OnDemand);
    let mut snapshot = cluster()
        .sells(small)
        .pool(broken)
        .node(ours("n1"))
        .snapshot();
    for class in [DisruptionClass::Graceful, DisruptionClass::Eventual] {
        let blocked = verdict(&snapshot, class).unwrap_err();
        let of_pool = Blocked::PoolNotUnderstood("general".into(), Arc::clone(&problem));
        assert_eq!(blocked, of_pool);
        assert!(!blocked.is_by_pods() && blocked.to_string().contains("spec.pace"));
    }
    let row = node_row(&snapshot, "n1");
    let node = &mut snapshot.nodes[row];
    let claim = node.claim.as_mut().expect("its claim");
    Arc::make_mut(claim).unread.problem = Some(Arc::clone(&problem));
    let blocked = verdict(&snapshot, DisruptionClass::Eventual);
    assert_eq!(blocked, Err(Blocked::ClaimNotUnderstood(problem)));
}

#[test]
fn promised_and_moving_nodes_stay() {
    let world = base().node(ours("n1")).pod(pod("web").nominated("n1"));
    assert_eq!(graceful(world).unwrap_err(), Blocked::Promised);
    let mut snapshot = base().node(ours("n1")).snapshot();
    let claim: ClaimName = snapshot.nodes[0].claim.as_ref().unwrap().name.clone();
    snapshot.activity.promised.insert(claim.clone());
    assert_eq!(
        verdict(&snapshot, DisruptionClass::Graceful),
        Err(Blocked::Promised)
    );
    snapshot.activity.under_way.insert(claim);
    assert_eq!(
        verdict(&snapshot, DisruptionClass::Graceful),
        Err(Blocked::UnderWay)
    );
}

#[test]
fn a_pod_asks_to_stay_for_ever_or_for_a_while() {
    let with = |how: DoNotDisrupt| {
        let started = Timestamp::from_millis(1_000_000_000 - 600_000);
        let web = pod("web").on("n1").with(|pod| pod.started = Some(started));
        graceful(base().node(ours("n1")).pod(stays(web, how)))
    };
    let blocked = with(DoNotDisrupt::Always).unwrap_err();
    assert_eq!(
        blocked.to_string(),
        "pod default/web is annotated karpenter.sh/do-not-disrupt"
    );
    let until = Some(Timestamp::from_millis(1_000_000_001));
    let just = Span::from_millis(600_001);
    assert_eq!(with(DoNotDisrupt::For(just)).unwrap_err().until(), until);
    assert!(with(DoNotDisrupt::For(Span::from_secs(600))).is_ok());
    assert!(with(DoNotDisrupt::Malformed("soon".into())).is_ok());
}

#[test]
fn a_pod_that_has_not_started_is_protected_and_one_that_ended_is_not() {
    let hour = DoNotDisrupt::For(Span::from_secs(1));
    let waiting = stays(pod("web").on("n1"), hour).with(|pod| pod.started = None);
    assert!(graceful(base().node(ours("n1")).pod(waiting)).is_err());
    let ended = stays(pod("web").on("n1"), DoNotDisrupt::Always)
        .with(|pod| pod.phase = PodPhase::Succeeded);
    assert!(graceful(base().node(ours("n1")).pod(ended)).is_ok());
    let deleting = stays(pod("web").on("n1"), DoNotDisrupt::Always)
        .with(|pod| pod.deleting = Some(Timestamp::from_millis(1)));
    assert!(graceful(base().node(ours("n1")).pod(deleting)).is_ok());
}

#[test]
fn daemons_and_mirrors_keep_their_node_by_annotation() {
    for kind in [OwnerKind::DaemonSet, OwnerKind::Node] {
        let pod = stays(pod("web").on("n1"), DoNotDisrupt::Always).owned_by(kind, "o");
        assert!(
            graceful(base().node(ours("n1")).pod(pod)).is_err(),
            "{kind:?}"
        );
    }
}

#[test]
fn a_disruption_budget_without_room_keeps_the_node() {
    let world = |allowed| {
        let world = base().node(ours("n1")).pod(pod("web").on("n1"));
        world.disruption_budget(budget("web", "web", allowed))
    };
    assert!(graceful(world(1)).is_ok());
    let blocked = graceful(world(0)).unwrap_err();
    assert_eq!(
        blocked.to_string(),
        "PodDisruptionBudget default/web allows no eviction of pod default/web"
    );
    let other_namespace = PodDisruptionBudget {
        name: ObjectName::new("shop", "web"),
        ..budget("web", "web", 0)
    };
    let world = base().node(ours("n1")).pod(pod("web").on("n1"));
    assert!(graceful(world.disruption_budget(other_namespace)).is_ok());
}

#[test]
fn two_budgets_on_one_pod_keep_the_node_whatever_they_allow() {
    let world = base().node(ours("n1")).pod(pod("web").on("n1"));
    let world = world.disruption_budget(budget("a", "web", 5));
    let blocked = graceful(world.disruption_budget(budget("b", "web", 5)));
    assert!(matches!(blocked, Err(Blocked::SeveralBudgets { .. })));
}

#[test]
fn budgets_do_not_hold_pods_that_would_not_be_evicted() {
    let none_left = || {
        base()
            .node(ours("n1"))
            .disruption_budget(budget("web", "web", 0))
    };
    let web = || pod("web").on("n1");
    let mirror = web().owned_by(OwnerKind::Node, "n1");
    let stays = web().tolerates_all();
    let deleting = web().with(|pod| pod.deleting = Some(Timestamp::from_millis(1)));
    for pod in [mirror, stays, deleting] {
        assert!(graceful(none_left().pod(pod)).is_ok());
    }
    let daemon = web().owned_by(OwnerKind::DaemonSet, "web");
    assert!(graceful(none_left().pod(daemon)).is_err());
    let unhealthy = PodDisruptionBudget {
        always_allow_unhealthy: true,
        ..budget("web", "web", 0)
    };
    let ill = web().with(|pod| pod.ready = Some(false));
    let world = base().node(ours("n1")).disruption_budget(unhealthy);
    assert!(graceful(world.pod(ill)).is_ok());
}

#[test]
fn pods_that_the_api_server_evicts_whatever_budgets_say_keep_no_node() {
    let verdict_on = |change: fn(&mut Pod), budgets: Vec<PodDisruptionBudget>| {
        let world = base()
            .node(ours("n1"))
            .pod(pod("web").on("n1").with(change));
        graceful(
            budgets
                .into_iter()
                .fold(world, ClusterFixture::disruption_budget),
        )
    };
    let exhausted = |is_met| PodDisruptionBudget {
        is_met,
        ..budget("web", "web", 0)
    };
    let unready: fn(&mut Pod) = |pod| pod.ready = Some(false);
    let pending: fn(&mut Pod) = |pod| pod.phase = PodPhase::Pending;
    assert!(verdict_on(|_| {}, vec![exhausted(true)]).is_err());
    assert!(verdict_on(unready, vec![exhausted(false)]).is_err());
    assert!(verdict_on(unready, vec![exhausted(true)]).is_ok());
    assert!(verdict_on(pending, vec![exhausted(false)]).is_ok());
    let two = vec![budget("web", "web", 9), budget("more", "web", 9)];
    assert!(verdict_on(unready, two.clone()).is_err());
    assert!(verdict_on(pending, two).is_ok());
}

#[test]
fn a_budget_with_neither_limit_keeps_its_node_and_is_named() {
    let unset = PodDisruptionBudget {
        limit: DisruptionLimit::Unset,
        ..budget("web", "web", 0)
    };
    let world = base().node(ours("n1")).pod(pod("web").on("n1"));
    let blocked = graceful(world.disruption_budget(unset)).unwrap_err();
    let words = "PodDisruptionBudget default/web has neither minAvailable nor maxUnavailable and allows no eviction of pod default/web";
    assert_eq!(blocked.to_string(), words);
    assert!(blocked.is_by_pods());
}

#[test]
fn a_bounded_drain_lets_drift_pass_over_pods_but_nothing_else() {
    let mut snapshot = base()
        .node(ours("n1"))
        .pod(stays(pod("web").on("n1"), DoNotDisrupt::Always))
        .snapshot();
    assert!(verdict(&snapshot, DisruptionClass::Eventual).is_err());
    let claim = snapshot.nodes[0].claim.as_mut().unwrap();
    std::sync::Arc::make_mut(claim).termination_grace = Some(Span::from_secs(60));
    assert!(verdict(&snapshot, DisruptionClass::Eventual).is_ok());
    assert!(verdict(&snapshot, DisruptionClass::Graceful).is_err());
}

#[test]
fn cost_rises_with_priority_and_never_pays_for_others() {
    let cost = |priority, deletion| {
        let web = pod("web").on("n1").with(|pod| pod.deletion_cost = deletion);
        let web = web.with_spec(|spec| spec.priority = priority);
        let world = base().node(ours("n1")).pod(web).pod(pod("b").on("n1"));
        graceful(world).unwrap().cost
    };
    assert!(cost(1_000_000, 0) > cost(0, 0));
    assert!(cost(0, 1000) > cost(0, 0));
    assert!(cost(0, -1000) < cost(0, 0));
    assert!((cost(i32::MIN, i32::MIN).pods() - 2.0).abs() < 1e-9);
    assert!((cost(i32::MAX, i32::MAX).pods() - 12.0).abs() < 1e-9);
}

#[test]
fn a_type_that_is_no_longer_sold_is_a_candidate_without_a_price() {
    let world = base().node(ours("n1").of_type("old"));
    let candidate = graceful(world).unwrap();
    assert_eq!(candidate.instance_type, None);
    assert_eq!(candidate.price.nanos(), 0);
}
