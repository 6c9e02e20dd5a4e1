//! Words for people where AWS or they themselves are in the way: of a queue that is not there, of a class that waits for its claims, of
//! instances that end before they join.

use std::process::Command;

use k8s_openapi::api::core::v1::Event as Told;
use kube::api::{Patch, PatchParams, PostParams};
use plimsoll_api::kinds::Condition;
use plimsoll_cloud::StateReason;
use tokio::task::spawn_blocking;

use super::*;
use crate::described::shown_of;
use crate::served::until_bound;

impl Scene {
    /// Waits until a condition of the class is so, and returns it.
    async fn until_class_says(&self, kind: &str, reason: &str) -> Condition {
        let what = format!("{kind} to be {reason}");
        let said = until(&what, PATIENCE, async || {
            let status = self.class().await.status.unwrap_or_default();
            let mut conditions = status.conditions.into_iter();
            Ok(conditions.find(|own| own.kind == kind && own.reason == reason))
        });
        said.await.expect("said")
    }

    /// Waits for an event of a reason that `kubectl describe` of its object shows, and returns its words and the object that it is about.
    pub(super) async fn until_told(&self, reason: &str) -> (String, String) {
        let events: Api<Told> = Api::all(self.client.clone());
        let told = until(reason, PATIENCE, async || {
            let events = events.list(&ListParams::default()).await?.items.into_iter();
            let mut events = events.filter(|own| own.reason.as_deref() == Some(reason));
            Ok(events.next())
        });
        let told = told.await.expect("told");
        let shown = shown_of(&self.client, &told).await.expect("events");
        assert!(shown.contains(&told.name_any()), "{told:?}");
        let about = told.involved_object.name.unwrap_or_default();
        (told.message.unwrap_or_default(), about)
    }

    /// The words of `plimsoll explain` about the pool, as the API server has it.
    async fn explained(&self) -> String {
        let mut command = Command::new(program());
        command
            .args(["explain", "nodepool", "general", "--region", "us-east-1"])
            .arg("--kubeconfig")
            .arg(self.lab.kubeconfig());
        let ended = spawn_blocking(move || command.output()).await;
        let ended = ended.expect("a thread").expect("it runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{said}");
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_is_gone_and_a_class_that_waits_are_told_on_the_class() {
    let scene = Scene::start("spot").await;
    scene.cloud.with(|world| world.queues.remove(QUEUE));
    let said = scene
        .until_class_says("InterruptionQueueReady", "QueueNotFound")
        .await;
    assert!(
        said.message
            .starts_with("INTERRUPTION_QUEUE is \"lab\": sqs:"),
        "{said:?}"
    );
    let told = scene.explained().await;
    let class = "finding: EC2NodeClass default: InterruptionQueueReady is False: QueueNotFound: ";
    let finding = format!("{class}{}\n", said.message);
    assert!(told.contains(&finding), "{told}");
    for (kubelet, reason) in [
        (json!({"maxPods": "x"}), "KubeletExpressionsDisabled"),
        (
            json!({"maxPods": null, "podsPerCores": 2}),
            "InvalidKubeletConfiguration",
        ),
        (Value::Null, "ValidationSucceeded"),
    ] {
        let written = Patch::Merge(json!({"spec": {"kubelet": kubelet}}));
        let (classes, params) = (scene.classes(), PatchParams::default());
        let patched = classes.patch("default", &params, &written).await;
        patched.expect("taken");
        scene.until_class_says("ValidationSucceeded", reason).await;
    }
    // Nothing waits for it.
    scene.run_pods(1).await;
    // It is made.
    scene.cloud.with(|world| world.send(QUEUE, "{}"));
    let said = scene
        .until_class_says("InterruptionQueueReady", "InterruptionQueueReady")
        .await;
    assert_eq!(said.status, "True");

    let claim = scene.claims().await.remove(0).name_any();
    let classes = scene.classes();
    let ended = classes.delete("default", &DeleteParams::default()).await;
    ended.expect("asked to go");
    let (words, about) = scene.until_told("WaitingOnNodeClaimTermination").await;
    assert_eq!(about, "default");
    assert_eq!(
        words,
        format!("is asked to go and waits for 1 NodeClaim, which use it: {claim}")
    );
    assert_eq!(scene.alive().len(), 1, "its node stays");
    let now = DeleteParams::default().grace_period(0);
    let pods = scene.pods();
    let deleted = pods.delete_collection(&now, &ListParams::default()).await;
    deleted.expect("deleted");
    // A pool whose class goes disrupts nothing by itself.
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
    let resource = ApiResource::from_gvk(&kind);
    let claims: Api<DynamicObject> = Api::all_with(scene.client.clone(), &resource);
    let ended = claims.delete(&claim, &DeleteParams::default()).await;
    ended.expect("asked to go");
    scene.until_alone().await;
    let gone = until("the class to go", PATIENCE, async || {
        let class = scene.classes().get_opt("default").await?;
        Ok(class.is_none().then_some(()))
    });
    gone.await.expect("gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_that_may_not_use_their_key_are_told_and_not_launched_without_end() {
    let mut scene = Scene::start("on-demand").await;
    scene.until_class_says("Ready", "Ready").await;
    let no_key = StateReason::new("Client.InternalError", "Client error on launch");
    scene.cloud.with(|world| {
        world.start_failure = Some(no_key);
        world.state_changes = Some(QUEUE.to_owned());
        // The second message comes once the claim knows its instance.
        world.delays.terminated = std::time::Duration::from_secs(3);
    });
    let pod = pending_pod("web-0", "1500m", "1Gi");
    let pods = scene.pods();
    pods.create(&PostParams::default(), &pod)
        .await
        .expect("a pod");
    let (words, claim) = scene.until_told("InstanceEndedEarly").await;
    assert!(
        words.starts_with("its instance has ended before it joined: Client.InternalError")
            && words.contains("kms:CreateGrant"),
        "{words}"
    );
    assert!(claim.starts_with("general-"), "{claim}");
    let said = scene
        .until_class_says("ValidationSucceeded", "InstancesEndAtOnce")
        .await;
    assert!(said.message.contains("kms:CreateGrant"), "{said:?}");
    let told = scene.explained().await;
    let class = "finding: EC2NodeClass default: ValidationSucceeded is False: InstancesEndAtOnce: ";
    assert!(
        told.contains(class) && told.contains("kms:CreateGrant"),
        "{told}"
    );
    scene.until_class_says("Ready", "UnhealthyDependents").await;
    let gone = until("the claim to go", PATIENCE, async || {
        let claims = scene.claims().await;
        Ok((!claims.iter().any(|own| own.name_any() == claim)).then_some(()))
    });
    gone.await.expect("gone");
    let launched = scene.cloud.with(|world| world.instances.len());
    assert_eq!(launched, 1, "instances were launched");
    let log = scene.lab.log("plimsoll");
    assert!(log.contains("instance has ended before it joined"), "{log}");

    // The key's policy is corrected, and the person who did so says it on the class.
    scene.cloud.with(|world| world.start_failure = None);
    let patch = json!({"metadata": {"annotations": {"key": "corrected"}}});
    let params = PatchParams::default();
    let changed = scene
        .classes()
        .patch("default", &params, &Patch::Merge(patch))
        .await;
    changed.expect("changed");
    until_bound(&scene.pods()).await;
    assert_eq!(scene.alive().len(), 1);
}
