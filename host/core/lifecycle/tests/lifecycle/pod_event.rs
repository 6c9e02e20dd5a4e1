//! When the last event of a pod is written on a claim: ten seconds after what is written, or after its node was complete.

use plimsoll_base::time::Timestamp;
use plimsoll_model::ClaimPhase;
use plimsoll_oracles::fixture::node;

use super::{Scene, second};

/// What is to be written at a second, in seconds, and when to look again where it is not yet.
fn written(before: Option<i64>, event: Timestamp, now: i64) -> (Option<i64>, Option<i64>) {
    let mut scene = Scene::of(node("n1").managed("general"), []).claim(|claim| {
        claim.last_pod_event = before.map(second);
        claim.expire_after = None;
    });
    scene.last_pod_event = Some(event);
    scene.now = second(now);
    let changes = scene.changes().into_iter();
    let mut events = changes.filter_map(|change| change.last_pod_event);
    let seconds = |at: Timestamp| at.millis() / 1000;
    (events.next().map(seconds), scene.step().wake.map(seconds))
}

#[test]
fn events_are_written_ten_seconds_after_the_node_was_complete_and_after_what_is_written() {
    assert_eq!(written(None, second(5), 5), (None, Some(10)));
    assert_eq!(written(None, second(5), 10), (Some(5), None));
    assert_eq!(written(Some(5), second(8), 8), (None, Some(15)));
    assert_eq!(written(Some(5), second(8), 15), (Some(8), None));
    assert_eq!(written(Some(5), second(40), 40), (Some(40), None));
}

#[test]
fn what_is_written_is_not_written_again() {
    let within = Timestamp::from_millis(5900);
    assert_eq!(written(Some(5), second(5), 60), (None, None));
    assert_eq!(written(Some(5), within, 60), (None, None), "whole seconds");
    assert_eq!(
        written(Some(9), second(5), 60),
        (None, None),
        "an older one"
    );
}

#[test]
fn what_happened_before_the_node_was_complete_is_not_written() {
    assert_eq!(written(None, second(0), 60), (None, None));
}

#[test]
fn nothing_is_written_of_a_claim_that_was_asked_to_go() {
    let mut scene = Scene::of(node("n1").managed("general"), []).claim(|claim| {
        claim.deleting = Some(second(0));
    });
    scene.last_pod_event = Some(second(1));
    let changes = scene.changes().into_iter();
    assert_eq!(
        changes.filter_map(|change| change.last_pod_event).count(),
        0
    );
}

#[test]
fn nothing_is_written_before_the_node_is_complete() {
    let joined = node("n1").managed("general").phase(ClaimPhase::Registered);
    let mut scene = Scene::of(joined, []);
    scene.last_pod_event = Some(second(1));
    let changes = scene.changes().into_iter();
    assert_eq!(
        changes.filter_map(|change| change.last_pod_event).count(),
        0
    );
}
