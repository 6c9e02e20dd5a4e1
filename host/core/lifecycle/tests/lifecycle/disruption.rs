//! Conditions that say whether a claim may be disrupted: each appears, changes and goes with what it speaks of.

use plimsoll_base::time::Timestamp;
use plimsoll_lifecycle::{DisruptionFacts, DriftFinding};
use plimsoll_model::{
    ClaimPhase, ConditionType, DISRUPTED_TAINT, DesiredCondition, DisruptionReason,
    Effect::NoSchedule, NodeClaim, Stamp,
};
use plimsoll_oracles::fixture::{node, taint};

use super::{Scene, second};

fn facts() -> DisruptionFacts {
    DisruptionFacts {
        drift: DriftFinding::Same,
        consolidatable_from: None,
        reason: None,
    }
}

fn drifted(reason: &str) -> DriftFinding {
    DriftFinding::Drifted(reason.into())
}

/// Says conditions of a claim, each with its reason.
fn saying(claim: &mut NodeClaim, said: &[(ConditionType, &str)]) {
    let said = said.iter();
    let said = said.map(|(kind, reason)| DesiredCondition::holds_since(*kind, reason, reason));
    let said: Vec<DesiredCondition> = said.collect();
    let stamp = Stamp {
        created: second(0),
        now: second(1),
        generation: 1,
        deleting: false,
    };
    claim
        .conditions
        .say(&said, ConditionType::OF_CLAIMS, &stamp);
}

/// What is said and what is cleared of a claim that says this already, and when it is looked at again.
fn told(
    said: &[(ConditionType, &str)],
    facts: DisruptionFacts,
    now: Timestamp,
) -> (Vec<String>, Vec<ConditionType>, Option<i64>) {
    let mut scene = Scene::of(node("n1").managed("general"), []).claim(|claim| {
        claim.expire_after = None;
        saying(claim, said);
    });
    scene.disruption = Some(facts);
    scene.now = now;
    let cleared = scene.changes().into_iter();
    let cleared = cleared.flat_map(|change| change.cleared).collect();
    let wake = scene.step().wake.map(|at| at.millis() / 1000);
    (scene.said(), cleared, wake)
}

#[test]
fn drift_is_said_with_its_reason_and_cleared_when_it_is_over() {
    use ConditionType::Drifted;
    let of = |drift: DriftFinding| DisruptionFacts { drift, ..facts() };
    let (said, ..) = told(&[], of(drifted("AMIDrift")), second(1));
    assert_eq!(said, ["Drifted=True AMIDrift"]);
    let before = [(Drifted, "AMIDrift")];
    let (said, cleared, _) = told(&before, of(drifted("AMIDrift")), second(1));
    assert_eq!((said.len(), cleared.len()), (0, 0), "it is said already");
    let (said, ..) = told(&before, of(drifted("NodePoolDrifted")), second(1));
    assert_eq!(said, ["Drifted=True NodePoolDrifted"]);
    let (_, cleared, _) = told(&before, of(DriftFinding::Same), second(1));
    assert_eq!(cleared, [Drifted]);
    let (said, cleared, _) = told(&before, of(DriftFinding::Unknown), second(1));
    assert_eq!((said.len(), cleared.len()), (0, 0), "nobody has looked");
}

#[test]
fn a_claim_is_consolidatable_from_its_time_on() {
    use ConditionType::Consolidatable;
    let from = |at: Option<i64>| DisruptionFacts {
        consolidatable_from: at.map(second),
        ..facts()
    };
    let (said, _, wake) = told(&[], from(Some(30)), second(10));
    assert_eq!((said.len(), wake), (0, Some(30)));
    let (said, _, wake) = told(&[], from(Some(30)), second(30));
    assert_eq!(said, ["Consolidatable=True Consolidatable"]);
    assert_eq!(wake, None);
    let before = [(Consolidatable, "Consolidatable")];
    let (_, cleared, _) = told(&before, from(Some(70)), second(40));
    assert_eq!(cleared, [Consolidatable], "a pod has come since");
    let (_, cleared, _) = told(&before, from(None), second(40));
    assert_eq!(cleared, [Consolidatable], "its pool never consolidates");
}

#[test]
fn the_reason_of_a_command_is_said_while_it_lasts() {
    use ConditionType::DisruptionReason as Reason;
    let by = |reason| DisruptionFacts { reason, ..facts() };
    let of = Some(DisruptionReason::Underutilized);
    let (said, ..) = told(&[], by(of), second(1));
    assert_eq!(said.len(), 0, "its node is not tainted yet");
    let mut tainted = node("n1").managed("general");
    tainted = tainted.with(|node| node.taints.push(taint(DISRUPTED_TAINT, "", NoSchedule)));
    let mut tainted = Scene::of(tainted, []);
    tainted.disruption = Some(by(of));
    assert_eq!(tainted.said(), ["DisruptionReason=True Underutilized"]);
    let (_, cleared, _) = told(&[(Reason, "Underutilized")], by(None), second(1));
    assert_eq!(cleared, [Reason]);
}

#[test]
fn nothing_is_said_of_a_claim_that_was_asked_to_go_nor_of_drift_before_the_launch() {
    let all = DisruptionFacts {
        drift: drifted("AMIDrift"),
        consolidatable_from: Some(second(0)),
        reason: Some(DisruptionReason::Empty),
    };
    let mut leaving = Scene::of(node("n1").managed("general"), []).claim(|claim| {
        claim.deleting = Some(second(0));
    });
    leaving.disruption = Some(all.clone());
    let ours = |said: &String| said.starts_with("Drifted") || said.starts_with("Disruption");
    assert!(!leaving.said().iter().any(ours));

    let asked = node("n1").managed("general").phase(ClaimPhase::Created);
    let mut asked = Scene::of(asked, []);
    asked.disruption = Some(DisruptionFacts {
        drift: all.drift,
        ..facts()
    });
    assert!(!asked.said().iter().any(ours));
}
