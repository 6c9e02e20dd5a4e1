//! Volumes of nodes that are removed: the instance ends once they are detached, or once the time for the drain is over.

use std::sync::Arc;

use plimsoll_base::ids::NodeName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{ConditionStatus, ConditionType, NodePool, Object, VolumeAttachment};
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planner, Run};

const MINUTE: i64 = 60;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// A node with a volume attached that somebody has deleted, five minutes after the start; its pods have gone a minute later.
fn drained(change: impl FnOnce(&mut NodePool)) -> (Run<impl Planner>, NodeName) {
    let sold = instance_type("small").cpu(4000).memory_mib(16_384);
    let sold = sold.pods(110).no_overhead().price(0.2);
    let fixture = cluster().pool(pool("general").with(change));
    let fixture = fixture.sells(sold.offered(ZONE_1, OnDemand));
    let recording = stage::recording(fixture.parts(), at(0), None, Vec::new());
    let mut run = stage::run(recording, stage::uninterrupted());
    let web = pod("web").cpu(3500).memory_mib(512);
    run.change(Change::Deploy(stage::deployment(&web, 1)));
    run.run_until(at(5 * MINUTE));
    let node = run.nodes().next().map(|node| node.name.clone());
    let node = node.expect("a node");
    let attached = VolumeAttachment {
        name: "csi-1".into(),
        attacher: "ebs.csi.aws.com".into(),
        node: node.clone(),
        volume: Some("pv-1".into()),
    };
    run.change(Change::Apply(Object::Attachment(Arc::new(attached))));
    assert!(run.delete_node(&node));
    run.run_until(at(7 * MINUTE));
    (run, node)
}

fn is_there<P: Planner>(run: &Run<P>, node: &NodeName) -> bool {
    run.nodes().any(|own| own.name == *node)
}

/// What the claim of the node says of its volumes.
fn said<P: Planner>(run: &Run<P>) -> Option<(ConditionStatus, String)> {
    let mut deleting = run.claims().filter(|claim| claim.deleting.is_some());
    let conditions = &deleting.next()?.conditions;
    let said = conditions.get(ConditionType::VolumesDetached)?;
    Some((said.status, said.reason.to_string()))
}

fn awaited() -> (ConditionStatus, String) {
    (
        ConditionStatus::Unknown,
        "AwaitingVolumeDetachment".to_owned(),
    )
}

#[test]
fn a_machine_ends_once_its_volumes_are_detached_whoever_waits() {
    let (mut run, node) = drained(|_| {});
    assert!(run.pods().all(|pod| pod.node.as_ref() != Some(&node)));
    for minute in [8, 30, 120] {
        assert_eq!(said(&run), Some(awaited()), "minute {minute}");
        assert!(is_there(&run, &node), "minute {minute}");
        run.crash();
        run.run_until(at(minute * MINUTE));
    }
    assert!(is_there(&run, &node));
    run.change(Change::Detach("csi-1".into()));
    run.run_until(at(122 * MINUTE));
    assert!(!is_there(&run, &node));
    assert_eq!(run.claims().count(), 1, "that of the pod's new node");
}

#[test]
fn the_time_for_a_drain_bounds_the_wait_for_volumes() {
    let grace = Span::from_secs(20 * MINUTE);
    let (mut run, node) = drained(|pool| pool.termination_grace = Some(grace));
    run.run_until(at(24 * MINUTE));
    assert_eq!(said(&run), Some(awaited()));
    assert!(is_there(&run, &node));
    run.run_until(at(27 * MINUTE));
    assert!(!is_there(&run, &node), "though it still has a volume");
}

#[test]
fn a_volume_of_another_node_holds_nothing_up() {
    let (mut run, node) = drained(|_| {});
    let elsewhere = VolumeAttachment {
        name: "csi-1".into(),
        attacher: "ebs.csi.aws.com".into(),
        node: "other".into(),
        volume: Some("pv-1".into()),
    };
    run.change(Change::Apply(Object::Attachment(Arc::new(elsewhere))));
    run.run_until(at(9 * MINUTE));
    assert!(!is_there(&run, &node));
}
