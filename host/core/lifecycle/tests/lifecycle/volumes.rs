//! Volumes of a node that is drained: which are waited for, for how long, and what is said meanwhile.

use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Span;
use plimsoll_model::action::Purpose;
use plimsoll_model::{
    ConditionType, DesiredCondition, Effect, Pod, PodVolume, Stamp, VolumeAttachment, VolumeClaim,
};
use plimsoll_oracles::fixture::{node, pod};

use super::{Scene, second};

const HOUR: i64 = 3600;

/// A node that was asked to go at second 0 and has these pods, with a volume `pv-data` attached, which the pods use. One called `agent`
/// stays until the end.
fn draining(pods: &[&str], change: impl Fn(&mut Pod)) -> Scene {
    let fixture = node("n1").managed("general");
    let fixture = fixture.taint("karpenter.sh/disrupted", "", Effect::NoSchedule);
    let own = |name: &&str| {
        let own = pod(name).on("n1").with_spec(|spec| {
            spec.volumes = vec![PodVolume::Claim("data".into())];
        });
        let own = own.with(|pod| change(pod));
        if *name == "agent" {
            own.tolerates_all()
        } else {
            own
        }
    };
    let mut scene = Scene::of(fixture, pods.iter().map(own));
    Arc::make_mut(scene.node.as_mut().expect("it is there")).deleting = Some(second(0));
    scene.attachments = vec![attached("csi-1", Some("pv-data"))];
    let claim = VolumeClaim {
        volume: Some("pv-data".into()),
        bound: true,
        ..VolumeClaim::default()
    };
    let claims = &mut Arc::make_mut(&mut scene.volumes).claims;
    claims.insert(ObjectName::new("default", "data"), claim);
    scene.now = second(60);
    scene.claim(|claim| claim.deleting = Some(second(0)))
}

fn attached(name: &str, volume: Option<&str>) -> VolumeAttachment {
    VolumeAttachment {
        name: name.into(),
        attacher: "ebs.csi.aws.com".into(),
        node: "n1".into(),
        volume: volume.map(Arc::from),
    }
}

fn ends(scene: &Scene) -> bool {
    let wants = scene.step().wants;
    wants.iter().any(|want| want.purpose == Purpose::Terminate)
}

const DRAINED: &str = "Drained=True Drained";
const AWAITED: &str = "VolumesDetached=Unknown AwaitingVolumeDetachment";
const DETACHED: &str = "VolumesDetached=True VolumesDetached";
const ELAPSED: &str = "VolumesDetached=False TerminationGracePeriodElapsed";

#[test]
fn the_machine_waits_for_the_volumes_of_pods_that_have_gone() {
    let mut scene = draining(&[], |_| {});
    assert!(!ends(&scene));
    assert_eq!(scene.said(), [DRAINED, AWAITED]);
    assert_eq!(scene.told(), [("node", "AwaitingVolumeDetachment")]);
    assert_eq!(
        scene.step().reports[0].words,
        "Awaiting deletion of bound volumeattachments (csi-1)"
    );
    scene.attachments.clear();
    assert!(ends(&scene));
    assert_eq!(scene.said(), [DRAINED, DETACHED]);
    assert_eq!(scene.told(), []);
}

#[test]
fn nothing_is_said_of_volumes_before_the_drain_is_over() {
    let scene = draining(&["web"], |_| {});
    assert_eq!(scene.said(), ["Drained=Unknown Draining"]);
}

#[test]
fn a_volume_of_a_pod_that_the_drain_leaves_is_not_waited_for() {
    let stays = draining(&["agent"], |_| {});
    assert!(ends(&stays));
    assert_eq!(stays.said(), [DRAINED, DETACHED]);
    let stuck = draining(&["web"], |pod| pod.deleting = Some(second(0)));
    assert!(ends(&stuck));
    let mut other = draining(&["agent"], |_| {});
    other.attachments.push(attached("csi-2", Some("pv-other")));
    assert!(!ends(&other), "a volume that has left with its pod");
}

#[test]
fn a_volume_without_a_name_is_not_waited_for() {
    let mut scene = draining(&[], |_| {});
    scene.attachments = vec![attached("csi-1", None)];
    assert!(ends(&scene));
}

#[test]
fn the_wait_ends_with_the_time_for_the_drain() {
    let mut scene = draining(&[], |_| {}).claim(|claim| {
        claim.termination_grace = Some(Span::from_secs(HOUR));
        claim.drained_by = Some(second(HOUR));
    });
    assert_eq!(scene.step().wake, Some(second(HOUR)));
    assert!(!ends(&scene));
    scene.now = second(HOUR);
    assert!(ends(&scene));
    assert_eq!(scene.said(), [DRAINED, ELAPSED]);
}

#[test]
fn a_machine_that_is_being_ended_waits_for_nothing_and_what_was_said_stands() {
    let scene = draining(&[], |_| {}).claim(|claim| {
        let said = [ConditionType::Drained, ConditionType::InstanceTerminating];
        let said = said.map(DesiredCondition::holds);
        let stamp = Stamp {
            created: second(0),
            now: second(1),
            generation: 1,
            deleting: true,
        };
        claim
            .conditions
            .say(&said, ConditionType::OF_CLAIMS, &stamp);
    });
    assert!(ends(&scene));
    assert_eq!(scene.said(), [""; 0]);
}
