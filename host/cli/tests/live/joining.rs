//! Nodes that join: pods wait for the one that was bought for them however long it boots, and it gets all that is ours, whatever made it.

use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::core::DynamicObject;
use plimsoll_api::Kind;
use plimsoll_lab::{Call, Verb, example_class, example_pool, fake_node, pending_pod, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::served::{Asked, Served, in_full, until_bound};

const FINALIZER: &str = "karpenter.sh/termination";
/// Written by a CSI driver when its volumes can be attached.
const CSI: (&str, &str) = ("csi.volume.kubernetes.io/nodeid", "{\"ebs\":\"i-1\"}");
/// Written by a kubelet for its cloud controller.
const ADDRESS: (&str, &str) = ("alpha.kubernetes.io/provided-node-ip", "10.0.0.1");

/// A pool whose nodes carry a label, an annotation and a taint of its template, and stay when they are empty.
fn pool() -> Value {
    let mut pool = example_pool();
    pool["spec"]["disruption"]["consolidateAfter"] = "Never".into();
    let template = &mut pool["spec"]["template"];
    template["metadata"] = json!({
        "labels": {"team": "shop"}, "annotations": {"example.com/owner": "shop"},
    });
    template["spec"]["taints"] =
        json!([{"key": "example.com/team", "value": "shop", "effect": "NoSchedule"}]);
    pool
}

fn tolerant(name: &str) -> Pod {
    let mut pod = pending_pod(name, "1", "1Gi");
    let tolerations = json!([{"key": "example.com/team", "operator": "Exists"}]);
    if let Some(spec) = &mut pod.spec {
        spec.tolerations = serde_json::from_value(tolerations).expect("tolerations");
    }
    pod
}

fn booting_for(delay: &str) -> Value {
    let mut class = example_class();
    class["spec"]["nodeRegistrationDelay"] = delay.into();
    class
}

fn claims(served: &Served) -> Api<DynamicObject> {
    plimsoll_kube::api(&served.client, Kind::NodeClaim)
}

/// When a condition of a pod or node last changed, in seconds of the clock.
fn since<'c>(
    mut conditions: impl Iterator<Item = (&'c str, Option<&'c Time>)>,
    kind: &str,
) -> Option<i64> {
    let found = conditions.find(|(own, _)| *own == kind);
    Some(found?.1?.0.as_second())
}

/// K12: pods wait for a node that boots slowly, nothing else is bought meanwhile, and they are bound once it is ready.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_wait_for_a_slow_boot_and_nothing_else_is_bought_meanwhile() {
    let boot = if in_full() { "120s" } else { "15s" };
    let served = Served::start(Asked {
        objects: vec![booting_for(boot), pool()],
        ..Asked::default()
    });
    let served = served.await;
    for number in 0..3 {
        let pod = tolerant(&format!("web-{number}"));
        let made = served.pods().create(&PostParams::default(), &pod).await;
        made.expect("a pod");
    }
    until_bound(&served.pods()).await;
    served.until_initialized().await;
    let calls = served.proxy.calls();
    let made = |resource: &str| {
        let is = |call: &&Call| call.verb == Verb::Create && call.resource == resource;
        calls.iter().filter(is).count()
    };
    let nodes = served.nodes().await;
    assert_eq!(nodes.len(), made("nodeclaims"), "{calls:?}");
    assert_eq!(nodes.len(), made("nodes"), "{calls:?}");
    let nominated = |call: &Call| call.verb == Verb::Patch && call.resource == "pods/status";
    assert!(calls.iter().any(nominated), "a promise was written");

    let ready = nodes.iter().filter_map(|node| {
        let conditions = node.status.as_ref()?.conditions.as_ref()?.iter();
        let told = conditions.map(|it| (&*it.type_, it.last_transition_time.as_ref()));
        since(told, "Ready")
    });
    let ready = ready.max().expect("nodes are ready");
    let pods = served.pods().list(&ListParams::default()).await;
    let bound = pods.expect("pods").items.into_iter().filter_map(|pod| {
        let conditions = pod.status?.conditions?;
        let told = conditions
            .iter()
            .map(|it| (&*it.type_, it.last_transition_time.as_ref()));
        since(told, "PodScheduled")
    });
    let bound = bound.max().expect("pods are bound");
    eprintln!(
        "the last pod was bound {} s after its node was ready",
        bound - ready
    );
    assert_eq!(served.end().plans, 1, "one plan was enough");
}

/// K13: a kubelet that was first finds its own node completed. K14, K15: our finalizer, and the chain of owners from node to pool; a
/// claim that is deleted takes its node with it. D15: nodes of others are left as they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_its_kubelet_made_gets_what_is_ours_and_keeps_what_others_wrote() {
    // The instance's own node would come much later.
    let served = Served::start(Asked {
        objects: vec![booting_for("10m"), pool()],
        ..Asked::default()
    });
    let served = served.await;
    let nodes: Api<Node> = Api::all(served.client.clone());
    let mut stranger = fake_node("stranger", "500m", "1Gi");
    stranger
        .labels_mut()
        .insert("karpenter.sh/nodepool".to_owned(), "general".to_owned());
    stranger.spec =
        serde_json::from_value(json!({"providerID": "other://stranger"})).expect("a spec");
    let made = nodes.create(&PostParams::default(), &stranger).await;
    made.expect("a node");
    let made = served
        .pods()
        .create(&PostParams::default(), &tolerant("web"))
        .await;
    made.expect("a pod");
    let claim = until("the claim to be launched", PATIENCE, async || {
        let claims = claims(&served).list(&ListParams::default()).await?.items;
        let launched = |claim: &DynamicObject| claim.data["status"]["providerID"].is_string();
        Ok(claims.into_iter().find(launched))
    });
    let claim = claim.await.expect("launched");
    let made = nodes
        .create(&PostParams::default(), &kubelets(&claim))
        .await;
    let name = made.expect("a node").name_any();
    until_bound(&served.pods()).await;
    let complete = until("the node to be complete", PATIENCE, async || {
        let node = nodes.get(&name).await?;
        let is_complete = node.labels().contains_key("karpenter.sh/initialized");
        Ok(is_complete.then_some(node))
    });
    let node = complete.await.expect("complete");
    assert_completed(&node, &claim);

    let gone = claims(&served)
        .delete(&claim.name_any(), &DeleteParams::default())
        .await;
    gone.expect("deleted");
    let gone = until("the node to go", PATIENCE, async || {
        Ok(nodes.get_opt(&name).await?.is_none().then_some(()))
    });
    gone.await.expect("gone");
    let stranger = nodes.get("stranger").await.expect("it is there");
    assert!(stranger.finalizers().is_empty() && stranger.owner_references().is_empty());
    assert_eq!(stranger.spec.and_then(|spec| spec.taints), None);
    served.end();
}

/// Asserts that all that is ours is on a node that [`kubelets`] was, and all that was there still is.
fn assert_completed(node: &Node, claim: &DynamicObject) {
    for (key, value) in claim.labels() {
        assert_eq!(node.labels().get(key), Some(value), "label {key}");
    }
    assert_eq!(
        node.labels().get("example.com/rack").map(String::as_str),
        Some("r1")
    );
    let annotations = node.annotations();
    for (key, value) in [CSI, ADDRESS, ("example.com/owner", "shop")] {
        assert_eq!(
            annotations.get(key).map(String::as_str),
            Some(value),
            "{key}"
        );
    }
    assert_eq!(node.finalizers(), [FINALIZER]);
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.clone());
    let taints: Vec<String> = taints.into_iter().flatten().map(|it| it.key).collect();
    assert_eq!(taints, ["example.com/team"]);
    assert_eq!(
        owner(node.owner_references()),
        ("NodeClaim", &*claim.name_any(), true)
    );
    assert_eq!(
        owner(claim.owner_references()),
        ("NodePool", "general", true)
    );
}

/// A node as a kubelet makes it that knows nothing of us but its taint.
fn kubelets(claim: &DynamicObject) -> Node {
    let id = claim.data["status"]["providerID"]
        .as_str()
        .unwrap_or_default();
    let name = id.trim_start_matches("kwok://");
    let mut node = fake_node(name, "4", "16Gi");
    for (key, value) in [CSI, ADDRESS] {
        node.annotations_mut()
            .insert(key.to_owned(), value.to_owned());
    }
    node.labels_mut()
        .insert("example.com/rack".to_owned(), "r1".to_owned());
    let spec = json!({
        "providerID": id,
        "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}],
    });
    node.spec = serde_json::from_value(spec).expect("a spec");
    node
}

/// Kind and name of the only owner, and whether it waits for this object when it goes.
fn owner(owners: &[OwnerReference]) -> (&str, &str, bool) {
    assert_eq!(owners.len(), 1, "{owners:?}");
    let only = &owners[0];
    (
        &only.kind,
        &only.name,
        only.block_owner_deletion == Some(true),
    )
}
