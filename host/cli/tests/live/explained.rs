//! `explain` of a cluster as it is: by the Policies that serve there, with pools that are not ready, and past objects that cannot be read.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt};
use plimsoll_api::kinds::PolicyStatus;
use plimsoll_lab::{apply, example_class, example_pool, pending_pod, showcase_pool, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::policies::{is, list_price, policy};
use super::served::{Asked, NAME, Served, definitions};

/// How long an empty node is watched that would go after a second.
const IDLE: Duration = Duration::from_secs(15);

/// Standard output of a command on the cluster, and what it says on standard error.
fn said(served: &Served, arguments: &[&str]) -> (String, String) {
    let kubeconfig = served.proxy.kubeconfig().display().to_string();
    let program = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
    let mut command = Command::new(program);
    let ran = command.args(arguments).args(["--kubeconfig", &kubeconfig]);
    let output = ran.output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{arguments:?}: {err}");
    (out, err)
}

fn explained(served: &Served, subject: &str, name: &str) -> String {
    said(served, &["explain", subject, name]).0
}

/// Explanations that have all of these words.
fn assert_has(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word} in: {text}");
    }
}

async fn wait(served: &Served, name: &str, cpu: &str) {
    let pod = pending_pod(name, cpu, "1Gi");
    let made = served.pods().create(&PostParams::default(), &pod).await;
    made.expect("a pod");
}

fn pools(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodePool");
    Api::all_with(client.clone(), &ApiResource::from_gvk(&kind))
}

async fn condition(client: &Client, pool: &str, kind: &str) -> Result<Value, kube::Error> {
    let pool = pools(client).get(pool).await?;
    let conditions = pool.data["status"]["conditions"].as_array().cloned();
    let mut conditions = conditions.unwrap_or_default().into_iter();
    Ok(conditions
        .find(|own| own["type"] == kind)
        .unwrap_or_default())
}

/// Waits until a condition of a pool is False; its message.
async fn until_false(client: &Client, pool: &str, kind: &str) -> String {
    let said = until("the condition", PATIENCE, async || {
        let said = condition(client, pool, kind).await?;
        let message = said["message"].as_str().unwrap_or_default().to_owned();
        Ok((said["status"] == "False").then_some(message))
    });
    said.await.expect("it is said")
}

/// Waits until the fault of the pool is one of this field.
async fn until_named(client: &Client, field: &str) {
    let named = until("the field to be named", PATIENCE, async || {
        let said = condition(client, "general", "ValidationSucceeded").await?;
        let message = said["message"].as_str().unwrap_or_default();
        Ok(message.contains(field).then_some(()))
    });
    named.await.expect("named");
}

/// Waits for as long as an empty node is watched.
async fn pass_idle() {
    let empty = Instant::now();
    let passed = until("the time after which it would go", PATIENCE, async || {
        Ok((empty.elapsed() >= IDLE).then_some(()))
    });
    passed.await.expect("passed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_is_explained_by_the_policies_that_serve_there() {
    let mut served = Served::start(Asked::default()).await;
    served.put_module("mine-1", list_price()).await;
    let mine = policy("mine", "mine-1", &json!({}));
    apply(&served.client, &mine).await.expect("applied");
    served.run_pods("web", 1).await;
    let is_good = |said: &PolicyStatus| {
        is(said, "Ready", "True", "Serving") && said.calls > 0 && !said.last_good.is_empty()
    };
    served.until_said("mine", "to be asked", is_good).await;
    let pool = explained(&served, "nodepool", "general");
    assert_has(&pool, &["policy mine (Rank): ", " calls, 0 failed"]);

    // What it says of a pod that waits is not overtaken by what the controller does.
    served.lab.kill(NAME).expect("it runs");
    wait(&served, "waits", "3").await;
    let by_policy = "priced by list-price";
    let pod = explained(&served, "pod", "waits");
    assert_has(&pod, &["default/waits gets a new node", by_policy]);
    assert!(!pod.contains("finding: "), "{pod}");
    // Another policy is asked where one is named.
    let asked = ["explain", "pod", "waits", "--policy", "rank=most-pods"];
    let (other, _) = said(&served, &asked);
    assert!(
        other.contains("default/waits") && !other.contains(by_policy),
        "{other}"
    );

    // The module breaks, and its copy goes on; then nothing is left of it.
    served.put_module("mine-1", &list_price()[..1_000]).await;
    let pod = explained(&served, "pod", "waits");
    let broken = "finding: Policy mine: its module cannot be loaded: ";
    assert_has(&pod, &[by_policy, broken, " continues to decide"]);
    served.delete_map("mine-1").await;
    let pod = explained(&served, "pod", "waits");
    let gone = "finding: Policy mine: configmap kube-system/mine-1 not found; module ";
    assert_has(&pod, &[by_policy, gone]);
    let mut unread = policy("unread", "mine-1", &json!({}));
    unread["spec"]["failureMode"] = "Hold".into();
    unread["spec"]["hook"] = "Budget".into();
    apply(&served.client, &unread).await.expect("applied");
    let pool = explained(&served, "nodepool", "general");
    assert_has(
        &pool,
        &["finding: Policy unread: spec.failureMode is \"Hold\"; "],
    );
}

/// Our definitions, with pools as another version might define them.
pub(super) fn loose() -> Vec<Value> {
    let mut definitions = definitions();
    for definition in &mut definitions {
        let kind = definition["spec"]["names"]["kind"].clone();
        if kind == "NodePool" || kind == "NodeClaim" {
            let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            schema["properties"]["spec"] = anything;
        }
    }
    definitions
}

/// Pools that cannot be used, and a pod that none of the others can hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pools_that_are_not_ready_are_told_with_their_reason_and_odd_objects_stop_nothing() {
    let mut lost = example_pool();
    lost["metadata"]["name"] = "lost".into();
    lost["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "missing".into();
    let served = Served::start(Asked {
        definitions: loose(),
        objects: vec![example_class(), example_pool(), lost],
        ..Asked::default()
    });
    let served = served.await;
    let client = &served.client;
    served.run_pods("web", 1).await;
    until_false(client, "lost", "NodeClassReady").await;
    wait(&served, "giant", "5000").await;
    let pod = explained(&served, "pod", "giant");
    let words = "finding: NodePool lost is not ready: it waits for NodeClassReady: KWOKNodeClass missing does not exist";
    assert_has(&pod, &["default/giant is unschedulable", words]);

    let claims = {
        let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
        Api::<DynamicObject>::all_with(client.clone(), &ApiResource::from_gvk(&kind))
    };
    let claim = claims.list(&ListParams::default()).await.expect("claims");
    let claim = claim.items.first().map(ResourceExt::name_any).expect("one");
    let odd = Patch::Merge(json!({"spec": {"nodeClassRef": "odd"}}));
    let patched = claims.patch(&claim, &PatchParams::default(), &odd).await;
    patched.expect("patched");
    let mut other = example_pool();
    other["metadata"]["name"] = "other".into();
    other["metadata"]["annotations"] = json!({"plimsoll.dev/packing": "tight"});
    apply(client, &other).await.expect("applied");
    let unread = [
        format!("NodeClaim {claim} cannot be read: spec.nodeClassRef is \"odd\"; expected "),
        "NodePool other: metadata.annotations[plimsoll.dev/packing] is \"tight\"; expected price or compatible".to_owned(),
    ];
    for (subject, name) in [
        ("pod", "giant"),
        ("nodepool", "general"),
        ("nodepool", "other"),
    ] {
        let text = explained(&served, subject, name);
        assert_has(&text, &unread.each_ref().map(String::as_str));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("cluster.json").display().to_string();
    let (_, told) = said(&served, &["snapshot", "record", "--names", "-O", &to]);
    assert_has(&told, &unread.each_ref().map(String::as_str));
    let recorded = std::fs::read_to_string(&to).expect("it was written");
    assert!(recorded.contains("giant") && recorded.contains("general"));
}

/// An annotation with an unknown value: the pool says so where people look, nothing is launched from it and none of its nodes is
/// disrupted, its limits are those of now, and it serves again once the value is mended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_cannot_be_read_says_so_and_keeps_its_nodes() {
    const PROBLEM: &str =
        "metadata.annotations[plimsoll.dev/packing] is \"tight\"; expected price or compatible";
    let mut served = Served::start(Asked {
        definitions: loose(),
        ..Asked::default()
    })
    .await;
    let client = served.client.clone();
    served.run_pods("web", 1).await;
    served.until_initialized().await;
    let patch = async |patch: Value| {
        let patch = Patch::Merge(patch);
        let (pools, params) = (pools(&client), PatchParams::default());
        let patched = pools.patch("general", &params, &patch).await;
        patched.expect("patched");
    };
    let annotated = |value: Value| {
        let annotations = json!({"plimsoll.dev/packing": value});
        json!({"metadata": {"annotations": annotations}, "spec": {"limits": {"cpu": "1000"}}})
    };
    patch(annotated(json!("tight"))).await;
    assert_eq!(
        until_false(&client, "general", "ValidationSucceeded").await,
        PROBLEM
    );
    until_false(&client, "general", "Ready").await;
    let told = served.told("FailedValidation", "general").await;
    assert!(told.starts_with(PROBLEM), "{told}");
    let lines = served.lines();
    assert!(
        lines.iter().any(|line| line["problem"] == PROBLEM),
        "{lines:?}"
    );

    // Its node is empty, and stays; a pod that waits gets none.
    served.end_pods().await;
    wait(&served, "big", "20").await;
    let refused = served.told("FailedScheduling", "big").await;
    assert!(
        refused.contains("no NodePool may launch a node"),
        "{refused}"
    );
    pass_idle().await;
    assert_eq!(served.nodes().await.len(), 1, "it is kept");

    // The class cannot be read either: it is the one of before.
    let odd = json!({"spec": {"template": {"spec": {"nodeClassRef": "odd"}}}});
    patch(odd).await;
    until_named(&client, "nodeClassRef").await;
    assert_eq!(served.nodes().await.len(), 1, "no orphan");

    let class = example_pool()["spec"]["template"]["spec"]["nodeClassRef"].clone();
    patch(json!({"spec": {"template": {"spec": {"nodeClassRef": class}}}})).await;
    patch(annotated(Value::Null)).await;
    let bound = until("the pod to be bound", PATIENCE, async || {
        let pod = served.pods().get("big").await?;
        Ok(pod.spec.and_then(|spec| spec.node_name))
    });
    bound.await.expect("bound");
}

/// The pool of `make lab`, where people try one shipped ranking policy after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shipped_ranking_policies_buy_different_nodes_from_the_pool_of_the_lab() {
    let served = Served::start(Asked {
        objects: vec![example_class(), showcase_pool()],
        ..Asked::default()
    });
    let mut served = served.await;
    served.lab.kill(NAME).expect("it runs");
    for number in 0..10 {
        wait(&served, &format!("web-{number}"), "500m").await;
    }
    let mut bought = BTreeSet::new();
    for name in [
        "list-price",
        "most-pods",
        "least-waste",
        "fewest-nodes",
        "spot-diversified",
    ] {
        let policy = format!("rank={name}");
        let (text, _) = said(
            &served,
            &["explain", "pod", "web-0", "-o", "json", "--policy", &policy],
        );
        let explained: Value = serde_json::from_str(&text).expect("a document");
        let best = &explained["plannedNodeClaim"]["options"][0];
        let best = ["instanceType", "zone", "capacityType"].map(|field| best[field].to_string());
        eprintln!("{name}: {best:?}");
        bought.insert(best);
    }
    assert!(bought.len() >= 2, "{bought:?}");
}
