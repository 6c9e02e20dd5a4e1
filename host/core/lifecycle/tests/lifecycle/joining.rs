//! Nodes that join: at once complete where they lack nothing, and not before they are ready unless that takes long.

use std::sync::Arc;

use plimsoll_base::labels::{INITIALIZED, REGISTERED};
use plimsoll_lifecycle::UNREGISTERED_TAINT;
use plimsoll_model::action::{NodeChange, Purpose, Request, Write};
use plimsoll_model::{
    ClaimPhase, ConditionType, Conditions, Effect, Node, NodeConditions, Readiness,
};
use plimsoll_oracles::fixture::{node, taint};

use super::{Scene, second};

/// A launched claim whose node was created at second 0, after a change of the node.
fn come(change: impl FnOnce(&mut Node)) -> Scene {
    let there = node("n1").managed("general").phase(ClaimPhase::Registered);
    let mut scene = Scene::of(there, []).claim(|claim| {
        claim.conditions = Conditions::reached(ClaimPhase::Launched, second(0));
    });
    let node = Arc::make_mut(scene.node.as_mut().expect("it is there"));
    node.labels.remove(REGISTERED);
    node.taints = vec![taint(UNREGISTERED_TAINT, "", Effect::NoExecute)];
    node.created = second(0);
    change(node);
    scene
}

/// The change by which the node joins.
fn joining(scene: &Scene) -> Option<NodeChange> {
    let mut wants = scene.step().wants.into_iter();
    wants.find_map(|want| match want.request {
        Request::Write(Write::ChangeNode(_, change)) if want.purpose == Purpose::Register => {
            Some(*change)
        }
        _ => None,
    })
}

fn unready(node: &mut Node) {
    node.conditions = NodeConditions::of(Readiness::NotReady, second(0));
    node.taints.push(taint(
        "node.kubernetes.io/not-ready",
        "",
        Effect::NoSchedule,
    ));
}

#[test]
fn a_node_that_lacks_nothing_joins_complete_and_its_claim_says_so_in_one_write() {
    let scene = come(|_| {});
    let change = joining(&scene).expect("it joins");
    assert!(change.labels.contains_key(REGISTERED));
    assert!(change.labels.contains_key(INITIALIZED));
    assert_eq!(change.taints, Some(Vec::new()));

    let joined = come(|node| {
        node.taints.clear();
        node.labels.extend(change.labels);
    });
    let said = [
        "Launched=True Launched",
        "Registered=True Registered",
        "Initialized=True Initialized",
        "ConsistentStateFound=True ConsistentStateFound",
    ];
    assert_eq!(joined.said(), said);
    assert!(joined.changes()[0].node.is_some());
}

#[test]
fn a_node_that_still_starts_up_joins_without_being_complete() {
    let scene = come(|_| {}).claim(|claim| {
        claim.startup_taints = vec![taint("boot", "x", Effect::NoSchedule)];
    });
    let change = joining(&scene).expect("it joins");
    assert!(!change.labels.contains_key(INITIALIZED));

    let joined = come(|node| {
        node.labels.extend(change.labels);
        node.taints = change.taints.unwrap_or_default();
    });
    let kinds = joined.changes().into_iter();
    let mut kinds = kinds.flat_map(|change| change.conditions);
    assert!(kinds.all(|said| said.kind != ConditionType::Initialized || !said.is_true()));
}

#[test]
fn a_node_that_comes_up_is_waited_for_a_moment_and_joins_as_it_is_if_it_takes_longer() {
    let mut scene = come(unready);
    scene.now = second(1);
    assert_eq!(joining(&scene), None);
    assert_eq!(scene.step().wake, Some(second(4)));
    scene.now = second(4);
    let change = joining(&scene).expect("it joins");
    assert!(!change.labels.contains_key(INITIALIZED));
    let taints = change.taints.expect("all of them");
    assert_eq!(taints.len(), 1, "only that of unregistered nodes goes");
}

#[test]
fn a_node_gets_the_annotations_of_its_claim_when_it_joins() {
    let owner = (Arc::from("example.com/owner"), Arc::from("shop"));
    let scene = come(|_| {}).claim(|claim| {
        claim.annotations.extend([owner.clone()]);
    });
    let change = joining(&scene).expect("it joins");
    assert_eq!(change.annotations.get(&owner.0), Some(&owner.1));
}

#[test]
fn a_node_that_comes_with_all_its_taints_gets_none_of_its_claim() {
    let wants = |node: &mut Node| {
        node.labels
            .insert("karpenter.sh/do-not-sync-taints".into(), "true".into());
    };
    let taints = |change: fn(&mut Node)| {
        let scene = come(change).claim(|claim| {
            claim.taints = vec![taint("team", "a", Effect::NoSchedule)];
            claim.startup_taints = vec![taint("boot", "", Effect::NoSchedule)];
        });
        let change = joining(&scene).expect("it joins");
        change.taints.expect("its taints").len()
    };
    assert_eq!(taints(|_| {}), 2);
    assert_eq!(taints(wants), 0, "and it loses that of unregistered ones");
    let otherwise = |node: &mut Node| {
        node.labels
            .insert("karpenter.sh/do-not-sync-taints".into(), "false".into());
    };
    assert_eq!(taints(otherwise), 2);
}

#[test]
fn a_node_that_comes_without_its_first_taint_joins_and_people_are_told() {
    assert_eq!(come(|_| {}).told(), []);
    let bare = come(|node| node.taints.clear());
    assert!(joining(&bare).is_some());
    assert_eq!(bare.told(), [("claim", "UnregisteredTaintMissing")]);
}

#[test]
fn a_node_gets_the_label_of_its_class_where_its_claim_lacks_it() {
    let labels = joining(&come(|_| {})).expect("it joins").labels;
    let class = labels.get("karpenter.k8s.aws/ec2nodeclass");
    assert_eq!(class.map(AsRef::as_ref), Some("default"));
}
