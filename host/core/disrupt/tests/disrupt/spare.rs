//! Spare room in disruption: it keeps the empty nodes that it needs and no others, and moves with pods at no cost.

use plimsoll_disrupt::consider;
use plimsoll_disrupt::pass::DisruptionPass;
use plimsoll_model::command::{Decision, DisruptionQuestion};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{DisruptionReason, OwnerKind};
use plimsoll_oracles::fixture::*;

/// Instances of two cores at $0.10 each, and nothing else for sale.
fn shop() -> ClusterFixture {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let small = small.no_overhead().price(0.1).offered(ZONE_1, OnDemand);
    let general = pool("general").with(|pool| pool.disruption.budgets.clear());
    cluster().sells(small).pool(general)
}

fn ours(name: &str) -> NodeFixture {
    let node = node(name).managed("general").of_type("small").zone(ZONE_1);
    let node = node.label(CAPACITY_TYPE, "on-demand");
    node.cpu(2000).memory_mib(8192)
}

fn web(name: &str, node: &str, cpu: i64) -> PodFixture {
    let pod = pod(name).cpu(cpu).memory_mib(256);
    pod.owned_by(OwnerKind::ReplicaSet, "web").on(node)
}

/// Room for so many units of so many milli-cores.
fn room(shop: ClusterFixture, units: u32, cpu: i64) -> ClusterFixture {
    let unit = pod("unit").cpu(cpu).memory_mib(256);
    shop.template(&unit)
        .buffer(buffer("room").of_template("unit").replicas(units))
}

fn pass(snapshot: &Snapshot) -> Decision {
    consider(snapshot, &DisruptionQuestion::Pass { consolidate: true })
}

/// Nodes that the first command takes, and what for.
fn taken(snapshot: &Snapshot) -> Option<(DisruptionReason, usize)> {
    let decision = pass(snapshot);
    let command = decision.commands.first()?;
    let confirmed = consider(
        snapshot,
        &DisruptionQuestion::Confirm(Box::new(command.clone())),
    );
    assert_eq!(
        confirmed.commands,
        decision.commands[..1],
        "nothing has changed: it holds"
    );
    Some((command.reason, command.members.len()))
}

#[test]
fn only_as_many_empty_nodes_go_as_leave_spare_room_its_place() {
    let empty = || shop().node(ours("n1")).node(ours("n2")).node(ours("n3"));
    let left = |units, cpu| taken(&room(empty(), units, cpu).snapshot());
    assert_eq!(left(0, 1500), Some((DisruptionReason::Empty, 3)));
    assert_eq!(left(1, 1500), Some((DisruptionReason::Empty, 2)));
    assert_eq!(left(2, 1500), Some((DisruptionReason::Empty, 1)));
    assert_eq!(left(3, 1500), None);
    assert_eq!(
        left(3, 600),
        Some((DisruptionReason::Empty, 2)),
        "three units share one node"
    );
}

#[test]
fn a_budget_policy_is_not_told_of_spare_room_as_pods_that_wait() {
    let waiting = |snapshot: &Snapshot| {
        let question = DisruptionPass::at(snapshot, true).allow_question();
        question.pools.pending_pods.iter().max().copied()
    };
    let fleet = || shop().node(ours("n1"));
    assert_eq!(waiting(&room(fleet(), 20, 600).snapshot()), Some(0));
    let waits = pod("web").cpu(600).memory_mib(256);
    assert_eq!(
        waiting(&room(fleet().pod(waits), 20, 600).snapshot()),
        Some(1)
    );
}

#[test]
fn an_empty_node_that_holds_spare_room_says_so() {
    let decision = pass(&room(shop().node(ours("n1")), 1, 1500).snapshot());
    assert!(decision.commands.is_empty());
    let held: Vec<&str> = decision
        .held
        .iter()
        .map(|held| held.words.as_str())
        .collect();
    assert_eq!(
        held,
        ["not consolidated now: it is empty, and its room is kept by a capacity buffer"]
    );
}

/// Two half-full nodes would fit on one; the spare room that lies on the other moves along, or keeps both.
#[test]
fn a_node_is_consolidated_if_its_spare_room_finds_another_place() {
    let two = || {
        let nodes = shop().node(ours("n1")).node(ours("n2"));
        nodes.pod(web("a", "n1", 800)).pod(web("b", "n2", 800))
    };
    let taken = |units, cpu| taken(&room(two(), units, cpu).snapshot());
    assert_eq!(taken(0, 400), Some((DisruptionReason::Underutilized, 1)));
    assert_eq!(taken(1, 400), Some((DisruptionReason::Underutilized, 1)));
    assert_eq!(
        taken(1, 500),
        None,
        "800 and 800 and 500 are more than 2000"
    );
}

/// A command to be carried out names only pods that exist.
#[test]
fn spare_room_is_no_part_of_a_command() {
    let nodes = shop().node(ours("n1")).node(ours("n2"));
    let nodes = nodes.pod(web("a", "n1", 800)).pod(web("b", "n2", 800));
    let snapshot = room(nodes, 1, 300).snapshot();
    let decision = pass(&snapshot);
    let placed = &decision.commands[0].plan.placements;
    assert_eq!(placed.len(), 1);
    assert!(!snapshot.pods[placed[0].pod].is_spare());
}

#[test]
fn a_window_that_is_to_change_is_waited_for() {
    let unit = pod("unit").cpu(100);
    let hourly = buffer("room").of_template("unit").replicas(1);
    let hourly = hourly.during("0 * * * *", plimsoll_base::time::Span::from_secs(60));
    let snapshot = shop().template(&unit).buffer(hourly).now(7200).snapshot();
    let ends = plimsoll_base::time::Timestamp::from_millis(7_260_000);
    assert_eq!(pass(&snapshot).wake, Some(ends));
}
