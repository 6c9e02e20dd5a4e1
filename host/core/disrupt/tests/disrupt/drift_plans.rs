//! Plans of drift commands: pods of a drifted node are planned for as waiting pods are, in a cluster without the node.

use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::candidate::DO_NOT_DISRUPT;
use plimsoll_disrupt::consider;
use plimsoll_model::command::{Command, DisruptionQuestion};
use plimsoll_model::plan::{Plan, Target};
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{ClaimPhase, DisruptionReason, NodeClaim, Taint, template_hash};
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::{Features, Shape, random_cluster, shapes};
use plimsoll_oracles::moves::vacated;
use proptest::prelude::*;

/// The snapshot in which the template of a node's pool has changed since the node was made, and no other node may go.
fn drifted(snapshot: &Snapshot, row: usize) -> Snapshot {
    let mut result = snapshot.clone();
    for pool in &mut result.pools {
        let disruption = &mut Arc::make_mut(pool).disruption;
        disruption.consolidate_after = None;
        disruption.budgets.clear();
    }
    for (at, node) in result.nodes.iter_mut().enumerate() {
        if let Some(node) = node.node.as_mut().filter(|_| at != row) {
            let kept = (DO_NOT_DISRUPT.into(), "true".into());
            Arc::make_mut(node).annotations.extend([kept]);
        }
    }
    let claim = result.nodes[row].claim.as_mut().expect("a node of ours");
    let written = [
        (template_hash::HASH_ANNOTATION, "0"),
        (
            template_hash::HASH_VERSION_ANNOTATION,
            template_hash::HASH_VERSION,
        ),
    ];
    let written = written.map(|(key, value)| (key.into(), value.into()));
    Arc::make_mut(claim).annotations.extend(written);
    result
}

/// The command of a pass over a cluster in which one node has drifted.
fn command(snapshot: &Snapshot, row: usize) -> Option<Command> {
    let question = DisruptionQuestion::Pass { consolidate: false };
    let mut commands = consider(&drifted(snapshot, row), &question).commands;
    assert!(commands.len() <= 1, "one node, one command");
    let mut command = commands.pop()?;
    command.plan.cost.bound = PricePerHour::ZERO;
    Some(command)
}

/// The plan for waiting pods where those of one node are all that wait, and the node is deleting; `None` where one of its pods finds
/// no place, or nodes that have not initialised would take what others cannot. Where something is bought for them anyway, such nodes
/// keep everybody off. Without its bound: here it counts what is free on other nodes.
fn planned_without(snapshot: &Snapshot, row: usize) -> Option<Plan> {
    let mut shown = vacated(snapshot, &[row]);
    for pod in &mut shown.pods {
        if pod.node.is_none() {
            Arc::make_mut(pod).unschedulable = false;
        }
    }
    let plan = planned(&shown, row)?;
    let gone = shown.nodes[row].node.as_ref().map(|node| &node.name);
    let is_late = |at: usize| !shown.nodes[at].is_initialized();
    let moved = plan.placements.iter();
    let moved = moved.filter(|placed| shown.pods[placed.pod].node.as_ref() == gone);
    let targets: Vec<Target> = moved.map(|placed| placed.target).collect();
    let waits = |target: &Target| matches!(target, Target::Existing(at) if is_late(*at));
    if !targets.iter().any(waits) {
        return Some(plan);
    }
    let buys = |target: &Target| matches!(target, Target::New(_));
    targets.iter().any(buys).then_some(())?;
    let late: Vec<usize> = (0..shown.nodes.len()).filter(|at| is_late(*at)).collect();
    for at in late {
        close(&mut shown, at);
    }
    planned(&shown, row)
}

/// The plan without its bound; `None` where a pod of this node finds no place.
fn planned(shown: &Snapshot, row: usize) -> Option<Plan> {
    let mut plan = plimsoll_schedule::plan(shown);
    plan.cost.bound = PricePerHour::ZERO;
    let gone = shown.nodes[row].node.as_ref().map(|node| &node.name);
    let mut unplaced = plan.unplaced.iter();
    let strands = unplaced.any(|unplaced| shown.pods[unplaced.pod].node.as_ref() == gone);
    (!strands).then_some(plan)
}

/// Keeps everybody off a node.
fn close(shown: &mut Snapshot, row: usize) {
    let keeps_off = Taint {
        key: "takes-nobody".into(),
        value: "".into(),
        effect: NoSchedule,
    };
    let node = &mut shown.nodes[row];
    if let Some(node) = &mut node.node {
        Arc::make_mut(node).taints.push(keeps_off.clone());
    }
    if let Some(claim) = &mut node.claim {
        Arc::make_mut(claim).taints.push(keeps_off);
    }
}

/// `true` if a node is the last in a domain of some spread. Its command plans for when it is gone; the plan for waiting pods counts the
/// domain until then.
fn is_last_of_a_domain(snapshot: &Snapshot, row: usize) -> bool {
    let constraints = snapshot.pods.iter().flat_map(|pod| &pod.spec.spread);
    let mut keys = constraints.map(|constraint| &constraint.topology_key);
    keys.any(|key| {
        let value = |node: &StateNode| node.labels().get(key.as_str()).cloned();
        let own = value(&snapshot.nodes[row]);
        let others = snapshot.nodes.iter().enumerate();
        let mut others = others.filter(|(at, _)| *at != row);
        own.is_some() && !others.any(|(_, node)| value(node) == own)
    })
}

/// A random cluster whose nodes are not too small for the guard on their share.
fn random(shape: &Shape) -> Snapshot {
    let world = random_cluster(shape).settings(|settings| {
        settings.guards.node_share_from_cpu_milli = 1000;
        settings.guards.node_share_percent = 60;
    });
    world.snapshot()
}

const MOST: Shape = Shape::of(0, [6, 8, 3, 6, 3], Features::ALL);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_drifted_node_goes_by_the_plan_for_waiting_pods_without_it(shape in shapes(MOST)) {
        let snapshot = random(&shape);
        for row in 0..snapshot.nodes.len() {
            if !snapshot.nodes[row].is_managed() {
                continue;
            }
            // A node without pods to be moved needs no plan; one that may not go is none of this law's business.
            let bound = snapshot.pods_by_node();
            let Some(command) = command(&snapshot, row) else {
                continue;
            };
            prop_assert_eq!(command.reason, DisruptionReason::Drifted);
            if !bound[row].is_empty() && !is_last_of_a_domain(&snapshot, row) {
                prop_assert_eq!(Some(command.plan), planned_without(&snapshot, row));
            }
        }
    }

    #[test]
    fn a_drifted_node_that_may_go_stays_only_where_that_plan_leaves_a_pod_out(shape in shapes(MOST)) {
        let snapshot = random(&shape);
        for row in 0..snapshot.nodes.len() {
            let node = &snapshot.nodes[row];
            let free = |claim: &Arc<NodeClaim>| claim.provider_id.is_some() && claim.deleting.is_none();
            if !node.is_initialized() || !node.claim.as_ref().is_some_and(free) {
                continue;
            }
            if command(&snapshot, row).is_none() && !is_last_of_a_domain(&snapshot, row) {
                prop_assert_eq!(planned_without(&snapshot, row), None);
            }
        }
    }
}

/// A small instance at $0.10, and one of ours with a pod on it.
fn one_node(pool: PoolFixture) -> ClusterFixture {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    cluster()
        .sells(small.no_overhead().price(0.1).offered(ZONE_1, OnDemand))
        .pool(pool)
        .node(ours("n1"))
        .pod(pod("web").cpu(1500).memory_mib(256).on("n1"))
}

fn ours(name: &str) -> NodeFixture {
    let node = node(name).managed("general").of_type("small").zone(ZONE_1);
    let node = node.label(CAPACITY_TYPE, "on-demand").cpu(2000);
    node.memory_mib(8192)
}

#[test]
fn a_limit_that_the_drifted_node_uses_up_has_room_for_its_successor() {
    let claims = |cpu: i64| {
        let world = one_node(pool("general").limit_cpu(cpu)).snapshot();
        Some(command(&world, 0)?.plan.claims.len())
    };
    assert_eq!(claims(2000), Some(1));
    assert_eq!(claims(1999), None);
}

#[test]
fn pods_that_wait_are_left_out_of_the_plan() {
    let everything = |name: &str| pod(name).cpu(1500).memory_mib(256).tolerates_all();
    let world = one_node(pool("general"))
        .node(ours("n2"))
        .pod(everything("waits"))
        .pod(everything("daring").on("n2"));
    let snapshot = world.snapshot();
    for name in ["n1", "n2"] {
        let plan = command(&snapshot, node_row(&snapshot, name))
            .expect("it may go")
            .plan;
        let targets: Vec<Target> = plan.placements.iter().map(|placed| placed.target).collect();
        assert_eq!(targets, [Target::New(0)], "{name}");
    }
}

#[test]
fn a_drifted_node_waits_for_a_late_one_that_could_take_its_pods_and_buys_no_second() {
    let late = ours("late").phase(ClaimPhase::Registered);
    let planned = |world: ClusterFixture| {
        let snapshot = world.snapshot();
        let command = command(&snapshot, node_row(&snapshot, "n1"))?;
        Some(command.plan.claims.len())
    };
    assert_eq!(planned(one_node(pool("general")).node(late.clone())), None);
    let come = one_node(pool("general")).node(ours("late"));
    assert_eq!(planned(come), Some(0), "once it has come nothing is bought");
    let taken = pod("other").cpu(1500).memory_mib(256).on("late");
    let full = one_node(pool("general")).node(late).pod(taken);
    assert_eq!(
        planned(full),
        Some(1),
        "one that has no room is no reason to wait"
    );
}
