//! Consistency of a node with its claim: what is said where it has less than was promised, and when nothing is.

use std::sync::Arc;

use plimsoll_base::labels::INITIALIZED;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::{ClaimPhase, ConditionType, Conditions, DesiredCondition, Stamp};
use plimsoll_oracles::fixture::node;

use super::{Scene, second};

const GIB: i64 = 1 << 30;

/// A claim that asks for cpu and memory and was promised 4 cpu and 10 GiB, whose node has so much memory.
fn with_memory(phase: ClaimPhase, memory: i64) -> Scene {
    let mut scene = Scene::of(node("n1").managed("general").phase(phase), []).claim(|claim| {
        let promised = Resources::new().with(ResourceName::Cpu, 4000);
        let promised = promised.with(ResourceName::Memory, 10 * GIB);
        // Promised and not asked for, and asked for and not promised.
        claim.capacity = promised.with(ResourceName::EphemeralStorage, 100 * GIB);
        let requests = Resources::new().with(ResourceName::Cpu, 1000);
        let requests = requests.with(ResourceName::Memory, GIB);
        claim.requests = requests.with(ResourceName::Pods, 3);
    });
    let node = Arc::make_mut(scene.node.as_mut().expect("it is there"));
    node.capacity = Resources::new()
        .with(ResourceName::Cpu, 4000)
        .with(ResourceName::Memory, memory);
    scene
}

/// The same of a complete claim, of which it was said before that all is well or not.
fn known(memory: i64, was_consistent: bool) -> Scene {
    with_memory(ClaimPhase::Initialized, memory).claim(|claim| {
        let kind = ConditionType::ConsistentStateFound;
        let said = if was_consistent {
            DesiredCondition::holds(kind)
        } else {
            DesiredCondition::fails(kind, "ConsistencyCheckFailed", "Consistency Check Failed")
        };
        let stamp = Stamp {
            created: second(0),
            now: second(1),
            generation: 1,
            deleting: false,
        };
        claim
            .conditions
            .say(&[said], ConditionType::OF_CLAIMS, &stamp);
    })
}

const FAILED: &str = "ConsistentStateFound=False ConsistencyCheckFailed";
const FOUND: &str = "ConsistentStateFound=True ConsistentStateFound";

#[test]
fn a_node_with_less_than_nine_tenths_is_told_and_one_with_as_much_is_not() {
    let lacking = with_memory(ClaimPhase::Initialized, 9 * GIB - 1);
    assert_eq!(lacking.said(), [FAILED]);
    assert_eq!(lacking.told(), [("claim", "FailedConsistencyCheck")]);
    let words = &lacking.step().reports[0].words;
    assert_eq!(
        words,
        "expected 10Gi of resource memory, but found 9Gi (89.9% of expected)"
    );
    let whole = with_memory(ClaimPhase::Initialized, 9 * GIB);
    assert_eq!(whole.said(), [""; 0]);
}

#[test]
fn the_condition_follows_the_node_and_is_said_once() {
    assert_eq!(known(5 * GIB, true).said(), [FAILED]);
    assert_eq!(known(10 * GIB, false).said(), [FOUND]);
    assert_eq!(known(10 * GIB, false).told(), []);
    assert_eq!(known(5 * GIB, false).said(), [""; 0]);
    assert_eq!(known(5 * GIB, false).told(), []);
    assert_eq!(known(10 * GIB, true).said(), [""; 0]);
}

#[test]
fn nothing_is_said_of_a_claim_that_is_not_complete_or_goes() {
    let joined = with_memory(ClaimPhase::Registered, GIB);
    assert!(!joined.said().iter().any(|said| said == FAILED));
    let going = with_memory(ClaimPhase::Initialized, GIB);
    let going = going.claim(|claim| claim.deleting = Some(second(1)));
    assert_eq!(going.said(), [""; 0]);
    let mut several = with_memory(ClaimPhase::Initialized, GIB);
    several.is_ambiguous = true;
    assert_eq!(several.said(), [""; 0]);
}

#[test]
fn a_node_that_is_complete_is_said_to_be_consistent_in_the_same_write() {
    let mut scene = with_memory(ClaimPhase::Initialized, 10 * GIB).claim(|claim| {
        claim.conditions = Conditions::reached(ClaimPhase::Registered, second(0));
    });
    let node = Arc::make_mut(scene.node.as_mut().expect("it is there"));
    node.labels.insert(INITIALIZED.into(), "true".into());
    assert_eq!(scene.changes().len(), 1);
    assert!(
        scene
            .said()
            .ends_with(&["Initialized=True Initialized".to_owned(), FOUND.to_owned()])
    );
}
