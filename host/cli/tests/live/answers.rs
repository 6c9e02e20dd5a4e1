//! Answers of an API server that ask for something else than another try: to come later, to wait for a budget, to look at an object that
//! cannot be read; and limits that the program keeps by itself.

use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use plimsoll_lab::{Call, Fault, Rule, Verb, apply, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::described::OF_UNREADABLE;
use super::served::{ALONE, Asked, Served, definitions, is};

/// An empty node is gone after this long: a second of `consolidateAfter`, and the wait for the validation.
const IDLE: Duration = Duration::from_secs(25);

fn alone() -> Asked {
    Asked {
        flags: vec![ALONE.to_owned()],
        ..Asked::default()
    }
}

fn count(calls: &[Call], verb: Verb, resource: &str) -> usize {
    let of = |call: &&Call| call.verb == verb && call.resource == resource;
    calls.iter().filter(of).count()
}

async fn until_asked(served: &Served, verb: Verb, resource: &str, times: usize) {
    let what = format!("{verb:?} {resource}, {times} times");
    let asked = |calls: &[Call]| count(calls, verb, resource) >= times;
    let waited = served.proxy.until(&what, PATIENCE, asked).await;
    waited.expect("asked");
}

fn api(served: &Served, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", kind);
    Api::all_with(served.client.clone(), &ApiResource::from_gvk(&kind))
}

async fn events(served: &Served) -> Vec<Event> {
    let events: Api<Event> = Api::namespaced(served.client.clone(), "default");
    let listed = events.list(&ListParams::default()).await;
    listed.expect("events").items
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_has_too_many_requests_is_asked_again_when_it_says() {
    let pause = Duration::from_secs(4);
    let busy = Fault::Refuse {
        code: 429,
        retry_after: Some(4),
    };
    let rule = Rule {
        times: Some(1),
        ..Rule::new(&[Verb::Create], &["nodeclaims"], busy)
    };
    let served = Served::start(Asked {
        rules: vec![rule],
        ..alone()
    });
    let served = served.await;
    let pods = served.run_pods("web", 1);
    let waits = async {
        until_asked(&served, Verb::Create, "nodeclaims", 1).await;
        let refused = Instant::now();
        until_asked(&served, Verb::Create, "nodeclaims", 2).await;
        refused.elapsed()
    };
    let ((), waited) = tokio::join!(pods, waits);
    // The first of the two was seen a moment late.
    let seen_late = Duration::from_millis(500);
    assert!(waited + seen_late >= pause, "{waited:?}");
    let claims = api(&served, "NodeClaim").list(&ListParams::default()).await;
    assert_eq!(claims.expect("claims").items.len(), 1);
    assert_eq!(served.end().plans, 1, "it was no reason to plan again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_eviction_that_a_budget_holds_up_is_told_and_holds_up_nothing_else() {
    let served = Served::start(alone()).await;
    served.run_pods("web", 1).await;
    let first = served.nodes().await;
    let first = first.first().map(ResourceExt::name_any).expect("a node");
    let labelled = Patch::Merge(json!({"metadata": {"labels": {"app": "web"}}}));
    let pods = served.pods();
    let labelled = pods
        .patch("web-0", &PatchParams::default(), &labelled)
        .await;
    labelled.expect("labelled");
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web"}}},
    });
    // The server itself is busy at first, for which no budget is to blame.
    served.proxy.add(Rule {
        times: Some(2),
        ..Rule::new(
            &[Verb::Create],
            &["pods/eviction"],
            Fault::Refuse {
                code: 429,
                retry_after: Some(1),
            },
        )
    });
    drain(&served, &first).await;
    until_asked(&served, Verb::Create, "pods/eviction", 2).await;
    let told = events(&served).await;
    assert!(
        !told.iter().any(|event| is(event, "FailedDraining", &first)),
        "{told:?}"
    );
    apply(&served.client, &budget).await.expect("a budget");
    let words = served.told("FailedDraining", &first).await;
    assert!(words.contains("disruption budget"), "{words}");
    // Meanwhile everything else goes its way.
    served.run_pods("other", 1).await;
    assert!(
        served
            .pods()
            .get_opt("web-0")
            .await
            .expect("asked")
            .is_some()
    );
    let kind = GroupVersionKind::gvk("policy", "v1", "PodDisruptionBudget");
    let budgets: Api<DynamicObject> =
        Api::default_namespaced_with(served.client.clone(), &ApiResource::from_gvk(&kind));
    let lifted = budgets.delete("web", &DeleteParams::default()).await;
    lifted.expect("lifted");
    let nodes: Api<Node> = Api::all(served.client.clone());
    let gone = until("the node to go", PATIENCE, async || {
        Ok(nodes.get_opt(&first).await?.is_none().then_some(()))
    });
    gone.await.expect("gone");
    served.end();
}

/// Has the claim of a node deleted by hand.
async fn drain(served: &Served, node: &str) {
    let claims = api(served, "NodeClaim");
    let listed = claims.list(&ListParams::default()).await.expect("claims");
    let on = |claim: &&DynamicObject| claim.data["status"]["nodeName"] == node;
    let claim = listed.items.iter().find(on).map(ResourceExt::name_any);
    let claim = claim.expect("its claim");
    let deleted = claims.delete(&claim, &DeleteParams::default()).await;
    deleted.expect("deleted");
}

/// Our definitions, with any claims taken in, as another version of the definition might.
fn loose_definitions() -> Vec<Value> {
    let mut definitions = definitions();
    for definition in &mut definitions {
        if definition["spec"]["names"]["kind"] == "NodeClaim" {
            let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            schema["properties"]["spec"] = anything;
        }
    }
    definitions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_cannot_be_read_is_told_and_ends_no_machine() {
    let served = Served::start(Asked {
        definitions: loose_definitions(),
        ..alone()
    });
    let mut served = served.await;
    served.run_pods("web", 1).await;
    let node = served.nodes().await.into_iter().next().expect("a node");
    let node = node.name_any();
    let claims = api(&served, "NodeClaim");
    let claim = claims.list(&ListParams::default()).await.expect("claims");
    let claim = claim.items.first().map(ResourceExt::name_any);
    let claim = claim.expect("its claim");
    let patch = async |requirements: Value| {
        let spec = Patch::Merge(json!({"spec": {"requirements": requirements}}));
        let patched = claims.patch(&claim, &PatchParams::default(), &spec).await;
        patched.expect("patched").data["spec"].clone()
    };
    let before = claims.get(&claim).await.expect("it is there").data["spec"].clone();
    patch(json!("none")).await;
    let words = served.told("FailedValidation", &claim).await;
    served.until_described(OF_UNREADABLE).await;
    assert!(words.contains("requirements"), "{words}");
    let metrics = served.get("metrics-port", "/metrics").await;
    let line = "plimsoll_unreadable_objects{kind=\"NodeClaim\"} 1";
    assert!(metrics.contains(line), "{metrics}");

    // Its node is empty from here on, as is that of another pod; neither goes, and who waits is served.
    served.end_pods().await;
    served.run_pods("other", 2).await;
    served.end_pods().await;
    let empty = Instant::now();
    let passed = until("the time after which they would go", PATIENCE, async || {
        Ok((empty.elapsed() >= IDLE).then_some(()))
    });
    passed.await.expect("passed");
    let nodes = served.nodes().await;
    assert!(nodes.iter().any(|it| it.name_any() == node));
    patch(before["requirements"].clone()).await;
    served.until_no_nodes().await;
    served.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_keep_within_the_limits_that_were_asked_for() {
    const QPS: u32 = 5;
    const BURST: u32 = 10;
    let flags = [
        ALONE.to_owned(),
        format!("--kube-client-qps={QPS}"),
        format!("--kube-client-burst={BURST}"),
    ];
    let served = Served::start(Asked {
        flags: flags.to_vec(),
        ..alone()
    });
    let served = served.await;
    let (began, before) = (Instant::now(), served.proxy.calls().len());
    served.run_pods("web", 8).await;
    let after = u32::try_from(served.proxy.calls().len() - before).expect("not so many");
    let seconds = began.elapsed().as_secs_f64();
    assert!(after > 2 * BURST, "{after} requests are too few to tell");
    let most = f64::from(BURST) + f64::from(QPS) * seconds + 1.0;
    assert!(f64::from(after) <= most, "{after} in {seconds} s");
    served.end();
}
