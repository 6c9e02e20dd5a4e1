//! A claim's way by data: what is asked for it as it stands, and what is said of it.

mod consistency;
mod counts;
mod disruption;
mod drain;
mod foreign;
mod garbage;
mod hash;
mod hydration;
mod identity;
mod interruption;
mod joining;
mod launches;
mod naming;
mod pod_event;
mod standing;
mod volumes;

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_lifecycle::{
    self, Attached, ClaimView, DisruptionFacts, FailedLaunch, Instance, Step,
};
use plimsoll_model::action::{ClaimChange, LaunchedInstance, ObjectKey, Purpose, Request, Write};
use plimsoll_model::catalogue::Market;
use plimsoll_model::{ClaimPhase, Node, NodeClaim, Pod, Version, VolumeAttachment, Volumes};
use plimsoll_oracles::fixture::{NodeFixture, PodFixture, cluster, node};

/// A claim, what it is seen with, and what the cloud last said of it.
struct Scene {
    claim: Arc<NodeClaim>,
    node: Option<Arc<Node>>,
    pods: Vec<Arc<Pod>>,
    attachments: Vec<VolumeAttachment>,
    volumes: Arc<Volumes>,
    is_ambiguous: bool,
    machine: Option<LaunchedInstance>,
    failure: Option<FailedLaunch>,
    last_pod_event: Option<Timestamp>,
    disruption: Option<DisruptionFacts>,
    migrated_hash: Option<Arc<str>>,
    is_fresh: bool,
    now: Timestamp,
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_millis(second * 1000)
}

impl Scene {
    /// A node of ours at one second after its creation, with these pods.
    fn of(fixture: NodeFixture, pods: impl IntoIterator<Item = PodFixture>) -> Self {
        let mut world = cluster().node(fixture);
        for pod in pods {
            world = world.pod(pod);
        }
        let (objects, ..) = world.parts();
        Self {
            claim: Arc::clone(&objects.claims[0]),
            node: objects.nodes.first().cloned(),
            pods: objects.pods,
            attachments: Vec::new(),
            volumes: objects.volumes,
            is_ambiguous: false,
            machine: None,
            failure: None,
            last_pod_event: None,
            disruption: None,
            migrated_hash: None,
            is_fresh: true,
            now: second(1),
        }
    }

    fn claim(mut self, change: impl FnOnce(&mut NodeClaim)) -> Self {
        change(Arc::make_mut(&mut self.claim));
        self
    }

    fn step(&self) -> Step {
        let market = Market::new(Arc::default());
        let view = ClaimView {
            claim: &self.claim,
            version: Version(7),
            node: self.node.as_deref().map(|node| (node, Version(8))),
            ambiguous: self.is_ambiguous,
            pods: self.pods.iter().map(AsRef::as_ref).collect(),
            attached: Attached {
                attachments: self.attachments.iter().collect(),
                volumes: &self.volumes,
            },
            machine: self.machine.as_ref(),
            pending_launch: None,
            ended_launch: None,
            is_tagged: false,
            instance: Instance::Unasked,
            failure: self.failure.as_ref(),
            last_pod_event: self.last_pod_event,
            is_fresh: self.is_fresh,
            must_go: None,
            unhealthy: None,
            moving: false,
            nominated: true,
            disruption: self.disruption.clone(),
            migrated_hash: self.migrated_hash.clone(),
            market: &market,
        };
        plimsoll_lifecycle::step(&view, self.now)
    }

    /// Changes of the claim that are asked for.
    fn changes(&self) -> Vec<ClaimChange> {
        let wants = self.step().wants.into_iter();
        let changes = wants.filter_map(|want| match want.request {
            Request::Write(Write::ChangeClaim(_, change)) => Some(*change),
            _ => None,
        });
        changes.collect()
    }

    /// Reports that go out with the orders of its step: the kind of object, and the reason.
    fn told(&self) -> Vec<(&'static str, &'static str)> {
        let reports = self.step().reports.into_iter();
        let told = reports.map(|own| match own.object {
            ObjectKey::Claim(_) => ("claim", own.reason.as_str()),
            ObjectKey::Node(_) => ("node", own.reason.as_str()),
            _ => ("other", own.reason.as_str()),
        });
        told.collect()
    }

    /// Conditions that are to be said, as text.
    fn said(&self) -> Vec<String> {
        let changes = self.changes().into_iter();
        let said = changes.flat_map(|change| change.conditions);
        said.map(|said| format!("{}={} {}", said.kind, said.status, said.reason))
            .collect()
    }
}

#[test]
fn a_claim_that_has_reached_its_age_waits_for_a_fresh_view_and_one_that_never_joined_does_not() {
    let deletes = |scene: &Scene| {
        let wants = scene.step().wants.into_iter();
        wants
            .filter(|want| want.purpose == Purpose::DeleteClaim)
            .count()
    };
    let old = node("n1").managed("general");
    let mut scene = Scene::of(old, []).claim(|claim| {
        claim.expire_after = Some(Span::from_secs(1));
    });
    assert_eq!((deletes(&scene), scene.step().is_expired), (1, false));
    scene.is_fresh = false;
    assert_eq!((deletes(&scene), scene.step().is_expired), (0, true));

    let launched = node("n1").managed("general").phase(ClaimPhase::Launched);
    let mut late = Scene::of(launched, []);
    late.node = None;
    late.is_fresh = false;
    late.now = second(3600);
    assert_eq!((deletes(&late), late.step().is_expired), (1, false));
}
