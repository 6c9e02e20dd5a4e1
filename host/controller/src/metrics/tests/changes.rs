//! Counts and times: what a change of an object counts for, and that it does so once.

#![expect(clippy::float_cmp, reason = "counts and whole seconds")]

use plimsoll_base::ids::Uid;
use plimsoll_model::action::{ActionId, Answer, ObjectKey, Purpose};
use plimsoll_model::{ClaimPhase, Condition, ConditionStatus, ConditionType, PodPhase, Version};
use plimsoll_oracles::fixture::*;

use super::*;

fn says(kind: ConditionType, since: Timestamp) -> impl Fn(&mut NodeClaim) {
    move |claim: &mut NodeClaim| {
        let condition = Condition {
            status: ConditionStatus::True,
            reason: "Said".into(),
            message: Arc::from(""),
            since,
            generation: None,
        };
        let own = claim.conditions.iter();
        let own = own.map(|(kind, condition)| (kind, condition.clone()));
        claim.conditions = own.chain([(kind, condition)]).collect();
    }
}

#[test]
fn a_nodes_life_is_counted_step_by_step_and_each_step_once() {
    let launched = ours("n1").phase(ClaimPhase::Launched);
    let mut world = World::of(sold().node(launched));
    let place = [("nodepool", "general"), ("zone", ZONE_1)];
    assert_eq!(world.sum("karpenter_nodes_created_total", &place), 0.0);
    let joined = objects(sold().node(ours("n1")));
    let (node, claim) = (Arc::clone(&joined.nodes[0]), Arc::clone(&joined.claims[0]));
    world.see(Arc::clone(&node));
    // An answer that is not waited for any more, and then the watch, twice.
    let order = ActionId::of(&ObjectKey::Cloud, None, Purpose::MarkRegistered, 0);
    let answer = Answer::Object(Arc::clone(&claim).object(), Version(world.version + 1));
    world.feed(Input::Outcome(order, Outcome::Done(answer)));
    assert_eq!(world.sum("karpenter_nodes_created_total", &place), 0.0);
    world.see(Arc::clone(&claim));
    world.see(Arc::clone(&claim));
    assert_eq!(world.sum("karpenter_nodes_created_total", &place), 1.0);

    world.second = 1100;
    let asked = world.now();
    let claim = changed(&claim, |claim| claim.deleting = Some(asked));
    let node = changed(&node, |node| node.deleting = Some(asked));
    world.see(Arc::clone(&claim));
    world.see(Arc::clone(&node));
    let claim = changed(&claim, says(ConditionType::Drained, asked));
    world.see(Arc::clone(&claim));
    world.see(Arc::clone(&claim));
    let pool = [("nodepool", "general")];
    assert_eq!(world.sum("karpenter_nodes_drained_total", &pool), 1.0);
    let claim = changed(&claim, says(ConditionType::InstanceTerminating, asked));
    world.see(Arc::clone(&claim));

    world.second = 1130;
    assert_eq!(world.sum("karpenter_nodes_terminated_total", &place), 0.0);
    world.see(changed(&node, |node| node.held = false));
    world.miss(changed(&node, |node| node.held = false));
    world.miss(Arc::clone(&claim));
    world.miss(claim);
    assert_eq!(world.sum("karpenter_nodes_terminated_total", &place), 1.0);
    let took = "karpenter_nodes_termination_duration_seconds";
    let median = [("nodepool", "general"), ("quantile", "0.5")];
    assert_eq!(world.sum(took, &median), 30.0);
    let lifetime = "karpenter_nodes_lifetime_duration_seconds";
    assert_eq!(world.sum_of(lifetime, "_sum"), 1130.0);
    let claims = [
        ("nodepool", "general"),
        ("capacity_type", "on-demand"),
        ("zone", ZONE_1),
    ];
    let gone = "karpenter_nodeclaims_terminated_total";
    assert_eq!(world.sum(gone, &claims), 1.0);
    for name in [
        "karpenter_nodeclaims_termination_duration_seconds",
        "karpenter_nodeclaims_instance_termination_duration_seconds",
    ] {
        assert_eq!(world.sum_of(name, "_sum"), 30.0, "{name}");
        assert_eq!(world.sum_of(name, "_count"), 1.0, "{name}");
    }
    assert!(!world.told().contains_key("karpenter_nodes_allocatable"));
}

fn web(change: impl FnOnce(&mut Pod)) -> Arc<Pod> {
    let fixture = pod("web").created(1000).with(change);
    Arc::clone(&objects(cluster().pod(fixture)).pods[0])
}

#[test]
fn a_pods_way_is_timed_from_its_creation_and_from_the_first_plan() {
    let mut world = World::of(sold().node(ours("n1")));
    let own = [("name", "web"), ("namespace", "default")];
    world.second = 1001;
    world.see(web(|_| {}));
    world.second = 1003;
    let undecided = "karpenter_pods_provisioning_scheduling_undecided_time_seconds";
    assert_eq!(world.sum(undecided, &own), 2.0);
    assert_eq!(world.sum("karpenter_pods_unbound_time_seconds", &own), 3.0);
    let uid = web(|_| {}).uid.clone();
    let plan = |world: &mut World, is_placed: bool| {
        let now = world.now();
        world.meters.pods.decided(&[(uid.clone(), is_placed)], now);
    };
    plan(&mut world, false);
    world.second = 1004;
    plan(&mut world, true);
    world.second = 1006;
    plan(&mut world, true);
    assert!(!world.told().contains_key(undecided));
    let planned = "karpenter_pods_provisioning_unbound_time_seconds";
    assert_eq!(world.sum(planned, &own), 2.0);
    bind_and_run(&mut world, &own);
    for (name, seconds) in [
        ("karpenter_pods_scheduling_decision_duration_seconds", 2.0),
        ("karpenter_pods_bound_duration_seconds", 10.0),
        ("karpenter_pods_provisioning_bound_duration_seconds", 6.0),
        ("karpenter_pods_startup_duration_seconds", 15.0),
        ("karpenter_pods_provisioning_startup_duration_seconds", 11.0),
    ] {
        assert_eq!(world.sum_of(name, "_sum"), seconds, "{name}");
        assert_eq!(world.sum_of(name, "_count"), 1.0, "{name}");
    }
}

/// The pod is bound ten seconds after its creation, runs after fifteen, and once more after twenty.
fn bind_and_run(world: &mut World, own: &[(&str, &str)]) {
    world.second = 1010;
    let bind = |pod: &mut Pod| pod.node = Some("n1".into());
    world.see(web(bind));
    world.see(web(bind));
    assert_eq!(
        world.sum("karpenter_pods_unstarted_time_seconds", own),
        10.0
    );
    assert!(
        !world
            .told()
            .contains_key("karpenter_pods_unbound_time_seconds")
    );
    world.second = 1014;
    let run = |ready: bool| {
        move |pod: &mut Pod| {
            pod.node = Some("n1".into());
            pod.phase = PodPhase::Running;
            pod.ready = Some(ready);
        }
    };
    world.see(web(run(false)));
    world.second = 1015;
    world.see(web(run(true)));
    world.see(web(run(false)));
    world.second = 1020;
    world.see(web(run(true)));
    assert!(
        !world
            .told()
            .contains_key("karpenter_pods_unstarted_time_seconds")
    );
}

#[test]
fn a_pod_that_is_deleted_or_made_anew_waits_no_longer() {
    let mut world = World::of(sold());
    let unbound = "karpenter_pods_unbound_time_seconds";
    world.see(web(|_| {}));
    world.see(web(|pod| pod.uid = Uid::from("another")));
    let waiting = world.told().remove(unbound).unwrap();
    assert_eq!(waiting.samples.len(), 1);
    world.miss(web(|pod| pod.uid = Uid::from("another")));
    assert!(!world.told().contains_key(unbound));
}

#[test]
fn what_is_done_is_counted_by_controller_and_end() {
    let mut world = World::of(sold());
    let mut meters = std::mem::take(&mut world.meters);
    let two = Duration::from_secs(2);
    meters.handled(Some(Controller::StatePod), two);
    meters.handled(None, two);
    meters.undecided(Controller::Disruption);
    world.meters = meters;
    let of = |controller: &str, result: &str| {
        let labels = [("controller", controller), ("result", result)];
        world.sum("controller_runtime_reconcile_total", &labels)
    };
    assert_eq!(of("state.pod", "success"), 1.0);
    assert_eq!(of("disruption", "error"), 1.0);
    assert_eq!(of("provisioner", "success"), 0.0);
    let time = "controller_runtime_reconcile_time_seconds";
    assert_eq!(world.sum_of(time, "_sum"), 2.0);
    assert_eq!(Ending::of(&Outcome::Unknown), Ending::Error);
    assert_eq!(Ending::of(&Outcome::Conflict), Ending::Requeue);
}
