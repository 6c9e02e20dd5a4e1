//! Conditions that are said of a claim at every place of its way, false and unknown as well as true.

use plimsoll_base::ids::ProviderId;
use plimsoll_base::labels::{INITIALIZED, Labels, REGISTERED};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::Span;
use plimsoll_lifecycle::{FailedLaunch, Step};
use plimsoll_model::action::{LaunchedInstance, Purpose};
use plimsoll_model::{
    ClaimPhase, ConditionType, Conditions, DesiredCondition, Effect, Node, NodeConditions,
    Readiness, Stamp,
};
use plimsoll_oracles::fixture::{NodeFixture, node, pod, taint};

use super::{Scene, second};

fn ours(phase: ClaimPhase) -> NodeFixture {
    node("n1").managed("general").phase(phase)
}

/// A claim whose node has registered and not initialised, after a change of the node.
fn registered(change: impl FnOnce(&mut Node)) -> Scene {
    let fixture = ours(ClaimPhase::Registered).startup_taint("boot", "x", Effect::NoSchedule);
    let fixture = fixture.with(|node| {
        node.taints.clear();
        change(node);
    });
    Scene::of(fixture, []).claim(|claim| {
        let gpu = ResourceName::from("nvidia.com/gpu");
        claim.requests = Resources::new().with(gpu, 1);
    })
}

fn with_gpu(node: &mut Node) {
    let gpu = ResourceName::from("nvidia.com/gpu");
    node.allocatable.set(gpu, 1);
}

#[test]
fn a_launch_that_failed_is_told_on_the_claim() {
    let mut scene = Scene::of(ours(ClaimPhase::Created), []);
    assert!(scene.said().is_empty(), "nothing has happened");
    scene.failure = Some(FailedLaunch {
        reason: "AMINotFound".into(),
        words: "the image is gone".to_owned(),
    });
    assert_eq!(scene.said(), ["Launched=Unknown AMINotFound"]);
    let change = &scene.changes()[0];
    assert_eq!(&*change.conditions[0].message, "the image is gone");
}

/// A claim of which a part is not understood, after it has come so far.
fn not_understood(phase: ClaimPhase) -> Scene {
    Scene::of(ours(phase), []).claim(|claim| {
        claim.unread.problem = Some("spec.taints[0].effect is \"Shun\"".into());
    })
}

#[test]
fn a_claim_that_is_not_understood_comes_no_further_and_says_why() {
    for (phase, waits_for) in [
        (ClaimPhase::Created, "Launched"),
        (ClaimPhase::Launched, "Registered"),
        (ClaimPhase::Registered, "Initialized"),
    ] {
        let scene = not_understood(phase);
        let said = scene.said();
        let waits = format!("{waits_for}=Unknown FailedValidation");
        assert!(said.contains(&waits), "{said:?}");
        assert!(!said.iter().any(|own| own.contains("=True")), "{said:?}");
        assert!(scene.step().launch.is_none());
    }
}

#[test]
fn a_claim_that_is_not_understood_goes_when_it_is_old_or_asked_to() {
    let expired = not_understood(ClaimPhase::Registered).claim(|claim| {
        claim.expire_after = Some(Span::ZERO);
    });
    assert!(deletes(&expired.step()));
    let late = not_understood(ClaimPhase::Launched).claim(|claim| {
        claim.created = second(-3600);
    });
    assert!(
        !deletes(&late.step()),
        "its node is kept from joining by us"
    );
    let asked = not_understood(ClaimPhase::Registered).claim(|claim| {
        claim.deleting = Some(second(0));
    });
    assert!(!asked.step().wants.is_empty(), "it is terminated");
}

/// `true` if a step deletes its claim.
fn deletes(step: &Step) -> bool {
    let mut wants = step.wants.iter();
    wants.any(|want| want.purpose == Purpose::DeleteClaim)
}

#[test]
fn a_claim_that_is_launched_waits_for_its_node_in_the_same_write() {
    let mut scene = Scene::of(ours(ClaimPhase::Created), []);
    scene.machine = Some(LaunchedInstance {
        provider_id: ProviderId::from("fake:///n1"),
        labels: Labels::new(),
        annotations: Labels::new(),
        capacity: Resources::new(),
        allocatable: Resources::new(),
        image: None,
        launched: None,
    });
    assert_eq!(scene.changes().len(), 1);
    let said = ["Launched=True Launched", "Registered=Unknown NodeNotFound"];
    assert_eq!(scene.said(), said);
}

#[test]
fn a_claim_of_several_nodes_fails_and_stays_so() {
    let mut scene = Scene::of(ours(ClaimPhase::Launched), []);
    scene.is_ambiguous = true;
    assert_eq!(scene.said(), ["Registered=False MultipleNodesFound"]);
    let scene = Scene::of(ours(ClaimPhase::Registered), []).claim(|claim| {
        claim.conditions = Conditions::reached(ClaimPhase::Launched, second(0));
        let kind = ConditionType::Registered;
        let said = DesiredCondition::fails(kind, "MultipleNodesFound", "two");
        let stamp = Stamp {
            created: second(0),
            now: second(1),
            generation: 1,
            deleting: false,
        };
        claim
            .conditions
            .say(&[said], ConditionType::OF_CLAIMS, &stamp);
    });
    assert!(scene.step().wants.is_empty(), "{:?}", scene.step().wants);
}

#[test]
fn what_a_node_lacks_is_said_in_the_order_in_which_it_is_looked_at() {
    let lacking = |change: fn(&mut Node)| registered(change).said();
    let not_ready = |node: &mut Node| {
        node.conditions = NodeConditions::of(Readiness::NotReady, node.created);
        node.taints.push(taint("boot", "x", Effect::NoSchedule));
    };
    assert_eq!(lacking(not_ready), ["Initialized=Unknown NodeNotReady"]);
    let starting = |node: &mut Node| {
        for key in ["node.kubernetes.io/not-ready", "boot"] {
            let taint = taint(key, "x", Effect::NoSchedule);
            node.taints.push(taint);
        }
    };
    assert_eq!(
        lacking(starting),
        ["Initialized=Unknown StartupTaintsExist"]
    );
    let passing = |node: &mut Node| {
        let key = "node.kubernetes.io/not-ready";
        let taint = taint(key, "", Effect::NoSchedule);
        node.taints.push(taint);
    };
    let said = ["Initialized=Unknown KnownEphemeralTaintsExist"];
    assert_eq!(lacking(passing), said);
    assert_eq!(
        lacking(|_| {}),
        ["Initialized=Unknown ResourceNotRegistered"]
    );
    assert!(lacking(with_gpu).is_empty(), "nothing is lacking");
}

#[test]
fn messages_name_the_taint_or_the_resource() {
    let message = |scene: Scene| scene.changes()[0].conditions[0].message.to_string();
    let scene = registered(|node| {
        let taint = taint("boot", "x", Effect::NoSchedule);
        node.taints.push(taint);
    });
    let words = "StartupTaint \"boot=x:NoSchedule\" still exists";
    assert_eq!(message(scene), words);
    let words = "Resource \"nvidia.com/gpu\" was requested but not registered";
    assert_eq!(message(registered(|_| {})), words);
}

#[test]
fn what_is_said_already_is_not_written_again() {
    let scene =
        registered(|node| node.conditions = NodeConditions::of(Readiness::NotReady, node.created));
    let said = scene.changes()[0].conditions.clone();
    let scene = scene.claim(|claim| {
        let stamp = Stamp {
            created: second(0),
            now: second(1),
            generation: 1,
            deleting: false,
        };
        claim
            .conditions
            .say(&said, ConditionType::OF_CLAIMS, &stamp);
    });
    assert!(scene.changes().is_empty(), "{:?}", scene.changes());
}

#[test]
fn a_node_that_joins_and_is_not_ready_is_both_in_one_write() {
    let scene = registered(|node| {
        node.conditions = NodeConditions::of(Readiness::NotReady, node.created);
        node.labels.insert(REGISTERED.into(), "true".into());
    });
    let scene = scene.claim(|claim| {
        claim.conditions = Conditions::reached(ClaimPhase::Launched, second(0));
    });
    let said = [
        "Launched=True Launched",
        "Registered=True Registered",
        "Initialized=Unknown NodeNotReady",
    ];
    assert_eq!(scene.said(), said);
    assert_eq!(scene.changes().len(), 1);
}

#[test]
fn a_complete_node_leaves_nothing_unknown() {
    let scene = registered(|node| {
        with_gpu(node);
        node.labels.insert(INITIALIZED.into(), "true".into());
    });
    let said = scene.said();
    assert_eq!(said[2], "Initialized=True Initialized");
    assert_eq!(said[3], "ConsistentStateFound=True ConsistentStateFound");
    assert_eq!(said.len(), 4);
}

#[test]
fn a_drain_is_unknown_until_no_pod_is_left_and_five_seconds_have_passed() {
    let going = || {
        let tainted =
            |fixture: NodeFixture| fixture.taint("karpenter.sh/disrupted", "", Effect::NoSchedule);
        tainted(ours(ClaimPhase::Initialized))
            .deleting()
            .with(|node| {
                node.deleting = Some(second(1));
            })
    };
    let drained = |pods: Vec<_>, now: i64| {
        let mut scene = Scene::of(going(), pods);
        scene.now = second(now);
        scene.said()
    };
    let draining = ["Drained=Unknown Draining"];
    assert_eq!(drained(vec![pod("web").on("n1")], 60), draining);
    assert_eq!(drained(vec![], 2), draining);
    let over = [
        "Drained=True Drained",
        "VolumesDetached=True VolumesDetached",
    ];
    assert_eq!(drained(vec![], 60), over);
}
