//! Nodes that are removed: by hand, because they have drifted, and when nothing is left on them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::DynamicObject;
use plimsoll_api::Kind;
use plimsoll_lab::{Call, Verb, apply, example_class, example_pool, fake_node, pending_pod, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::boundaries::{is_running, note, observe_from};
use super::served::{Asked, NAME, Served, until_bound};
use super::workloads::{apart, budget, daemon_set, deployment};

/// Replicas of the workload that is scaled to nothing.
const REPLICAS: usize = 20;
/// From a claim's being consolidatable to the end of its node there are 15 seconds of waiting; this is more.
const VALIDATION: Duration = Duration::from_secs(25);

/// A pool whose empty nodes go after this long, and no others.
fn pool(after: &str) -> Value {
    let mut pool = example_pool();
    pool["spec"]["disruption"]["consolidateAfter"] = after.into();
    pool["spec"]["disruption"]["consolidationPolicy"] = "WhenEmpty".into();
    pool
}

/// The program in a lab with this pool, whose instances boot in a second.
pub(super) async fn start(pool: Value) -> Served {
    let mut class = example_class();
    class["spec"]["nodeRegistrationDelay"] = "1s".into();
    let asked = Asked {
        objects: vec![class, pool],
        ..Asked::default()
    };
    Served::start(asked).await
}

fn claims(served: &Served) -> Api<DynamicObject> {
    plimsoll_kube::api(&served.client, Kind::NodeClaim)
}

fn nodes(served: &Served) -> Api<Node> {
    Api::all(served.client.clone())
}

/// Waits until so many pods run and none is on a node of this name; the node of each.
pub(super) async fn until_running(
    served: &Served,
    count: usize,
    left: &str,
) -> BTreeMap<String, String> {
    let what = format!("{count} pods to run on other nodes than {left:?}");
    let run = until(&what, PATIENCE, async || {
        let pods = served.pods().list(&ListParams::default()).await?.items;
        let place = |pod: &Pod| {
            let node = pod.spec.as_ref()?.node_name.clone()?;
            (is_running(pod) && node != left).then(|| (pod.name_any(), node))
        };
        let places: BTreeMap<String, String> = pods.iter().filter_map(place).collect();
        Ok((places.len() == count && pods.len() == count).then_some(places))
    });
    run.await.expect("they run")
}

async fn until_gone(served: &Served, node: &str) {
    let gone = until("the node to go", PATIENCE, async || {
        let node = nodes(served).get_opt(node).await?;
        Ok(node.is_none().then_some(()))
    });
    gone.await.expect("gone");
}

/// The claim of a node.
async fn claim_of(served: &Served, node: &str) -> DynamicObject {
    let all = claims(served).list(&ListParams::default()).await;
    let mut all = all.expect("claims").items.into_iter();
    let claim = all.find(|claim| claim.data["status"]["nodeName"] == node);
    claim.expect("its claim")
}

async fn until_consolidatable(served: &Served, node: &str, wanted: bool) {
    let claim = claim_of(served, node).await.name_any();
    let said = until("the claim to say so", PATIENCE, async || {
        let claim = claims(served).get(&claim).await?;
        let conditions = claim.data["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        let is = conditions.any(|it| it["type"] == "Consolidatable" && it["status"] == "True");
        Ok((is == wanted).then_some(()))
    });
    said.await.expect("said");
}

fn count(calls: &[Call], verb: Verb, resource: &str) -> usize {
    let of = |call: &&Call| call.verb == verb && call.resource == resource;
    calls.iter().filter(of).count()
}

/// K14, D14: a node or claim that a person deletes is drained, and ends with its other half. D03, B01: pods are asked to go by the Eviction
/// API, one after the other where the budget allows no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_a_person_deletes_is_drained_under_the_budget_and_ends_with_its_claim() {
    let served = start(pool("Never")).await;
    let web = deployment("web", 3, ("500m", "512Mi"), json!({}));
    for object in [budget("web", 1), web] {
        apply(&served.client, &object).await.expect("applied");
    }
    let mut places = until_running(&served, 3, "").await;
    let (ledger, _watching) = observe_from(&served.client, 3).await;
    for by_claim in [false, true] {
        let node = places.values().next().expect("a node").clone();
        let claim = claim_of(&served, &node).await.name_any();
        if by_claim {
            let deleted = claims(&served)
                .delete(&claim, &DeleteParams::default())
                .await;
            deleted.expect("deleted");
        } else {
            let deleted = nodes(&served).delete(&node, &DeleteParams::default()).await;
            deleted.expect("deleted");
        }
        places = until_running(&served, 3, &node).await;
        until_gone(&served, &node).await;
        let gone = until("the claim to go", PATIENCE, async || {
            Ok(claims(&served)
                .get_opt(&claim)
                .await?
                .is_none()
                .then_some(()))
        });
        gone.await.expect("gone");
    }
    let fewest = note(&ledger, |ledger| ledger.fewest);
    assert_eq!(fewest, Some(2), "one pod at a time");
    let calls = served.proxy.calls();
    assert!(
        count(&calls, Verb::Create, "pods/eviction") >= 4,
        "{calls:?}"
    );
    assert_eq!(count(&calls, Verb::Delete, "pods"), 0);
    served.end();
}

/// C14, D03: an instance that is gone leaves neither a claim nor a finalizer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_whose_machine_is_gone_goes() {
    let mut served = start(pool("Never")).await;
    served.run_pods("web", 1).await;
    served.until_initialized().await;
    let node = served.nodes().await.first().map(ResourceExt::name_any);
    let node = node.expect("a node");
    let claim = claim_of(&served, &node).await.name_any();

    served.end_pods().await;
    // The finalizer is not put back meanwhile.
    served.lab.pause(NAME).expect("it runs");
    let bare = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let params = PatchParams::default();
    let taken = nodes(&served).patch(&node, &params, &bare).await;
    taken.expect("taken off");
    let deleted = nodes(&served).delete(&node, &DeleteParams::default()).await;
    deleted.expect("deleted");
    served.lab.resume(NAME).expect("it is there");
    let gone = until("the claim to go", 2 * PATIENCE, async || {
        Ok(claims(&served)
            .get_opt(&claim)
            .await?
            .is_none()
            .then_some(()))
    });
    gone.await.expect("gone");
    served.end();
}

/// D02, D11: a drifted node is tainted, and its successor is bought and is there before anybody is asked to go.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drifted_node_has_a_successor_before_anybody_is_asked_to_go() {
    let served = start(pool("Never")).await;
    let web = deployment("web", 1, ("500m", "512Mi"), json!({}));
    apply(&served.client, &web).await.expect("applied");
    let old = until_running(&served, 1, "").await;
    let old = old.values().next().expect("a node").clone();
    served.until_initialized().await;
    let from = served.proxy.calls().len();
    let mut changed = pool("Never");
    changed["spec"]["template"]["metadata"] = json!({"labels": {"round": "second"}});
    apply(&served.client, &changed).await.expect("applied");
    until_running(&served, 1, &old).await;
    until_gone(&served, &old).await;

    let calls = served.proxy.calls().split_off(from);
    let at = |verb: Verb, resource: &str, is: &dyn Fn(&str) -> bool| {
        calls.iter().position(|call| {
            let name = call.name.as_deref().unwrap_or_default();
            call.verb == verb && call.resource == resource && is(name)
        })
    };
    let is_old = |name: &str| name == old;
    let is_new = |name: &str| name != old;
    let any = |_: &str| true;
    let tainted = at(Verb::Patch, "nodes", &is_old);
    let bought = at(Verb::Create, "nodeclaims", &any);
    let joined = at(Verb::Patch, "nodes", &is_new);
    let evicted = at(Verb::Create, "pods/eviction", &any);
    let order = [bought, joined, evicted];
    let is_so = bought.is_some() && order.is_sorted();
    assert!(is_so, "{order:?}: {calls:?}");
    assert!(tainted.is_some() && tainted < evicted, "{calls:?}");
    served.end();
}

/// D04: the daemons of a node do not keep it, nothing goes before its time, and a pod that comes in between keeps the node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_node_with_its_daemon_goes_after_its_time_unless_a_pod_comes() {
    let after = Duration::from_secs(20);
    let served = start(pool("20s")).await;
    let agent = daemon_set("agent", ("100m", "64Mi"));
    apply(&served.client, &agent).await.expect("applied");
    let web = || deployment("web", 1, ("1", "1Gi"), json!({}));
    apply(&served.client, &web()).await.expect("applied");
    let node = until_running(&served, 2, "").await;
    let node = node.values().next().expect("a node").clone();
    scale(&served, 0).await;
    until_consolidatable(&served, &node, true).await;
    scale(&served, 1).await;
    let kept = until_running(&served, 2, "").await;
    assert!(kept.values().all(|it| *it == node), "{kept:?} on {node}");
    until_consolidatable(&served, &node, false).await;
    let since = Instant::now();
    let passed = until("the time at which it would go", PATIENCE, async || {
        Ok((since.elapsed() >= VALIDATION).then_some(()))
    });
    passed.await.expect("passed");
    assert!(
        nodes(&served)
            .get_opt(&node)
            .await
            .expect("an answer")
            .is_some()
    );

    let emptied = Instant::now();
    scale(&served, 0).await;
    served.until_no_nodes().await;
    assert!(emptied.elapsed() >= after, "{:?}", emptied.elapsed());
    served.end();
}

/// Gives the workload `web` another number of replicas.
pub(super) async fn scale(served: &Served, replicas: usize) {
    let deployments: Api<Deployment> = Api::namespaced(served.client.clone(), "default");
    let scale = Patch::Merge(json!({"spec": {"replicas": replicas}}));
    let params = PatchParams::default();
    let scaled = deployments.patch_scale("web", &params, &scale).await;
    scaled.expect("scaled");
}

/// D05: the nodes of twenty replicas go when these do, and the log tells of each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_replicas_that_go_take_their_nodes_with_them() {
    let mut served = start(pool("1s")).await;
    let spec = json!({"affinity": apart("web")});
    let web = deployment("web", REPLICAS, ("500m", "512Mi"), spec);
    apply(&served.client, &web).await.expect("applied");
    until_running(&served, REPLICAS, "").await;
    served.until_initialized().await;
    // On a slow machine the cluster's taint eviction may take a pod away that was just bound, and its node may go before another comes.
    let there = served.nodes().await;
    assert!(there.len() >= REPLICAS, "{}", there.len());
    let nodes: BTreeSet<String> = there.iter().map(ResourceExt::name_any).collect();
    let listed = claims(&served).list(&ListParams::default()).await;
    let listed = listed.expect("claims").items;
    let listed: BTreeSet<String> = listed.iter().map(ResourceExt::name_any).collect();
    let ended = Instant::now();
    scale(&served, 0).await;
    served.until_no_nodes().await;
    eprintln!("{REPLICAS} nodes went within {:?}", ended.elapsed());
    let each = [
        ("tainted node", "Node", &nodes),
        ("deleted node", "Node", &nodes),
        ("deleted nodeclaim", "NodeClaim", &listed),
    ];
    for (message, field, names) in each {
        let told = until("each to be told", PATIENCE, async || {
            let lines = served.lines();
            let told = lines.iter().filter(|line| line["message"] == message);
            let told: BTreeSet<&str> = told
                .filter_map(|line| line[field]["name"].as_str())
                .collect();
            let is_told = names.iter().all(|name| told.contains(name.as_str()));
            Ok(is_told.then_some(()))
        });
        told.await.expect(message);
    }
    served.end();
}

/// K01: a pod that fits, one with a gate and one of another scheduler get no node, and one that fits nowhere gets one. D15, X15, X16: nodes of
/// others have their place in plans, or none where pods do not tolerate them, and are left alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_need_no_node_get_none_and_nodes_of_others_are_left_alone() {
    let served = start(pool("1s")).await;
    let made = nodes(&served)
        .create(&PostParams::default(), &fake_node("base", "4", "16Gi"))
        .await;
    made.expect("a node");
    let made = nodes(&served)
        .create(&PostParams::default(), &fargate())
        .await;
    made.expect("a node");
    let usable = until("the node to be usable", PATIENCE, async || {
        let spec = nodes(&served).get("base").await?.spec.unwrap_or_default();
        Ok(spec.taints.unwrap_or_default().is_empty().then_some(()))
    });
    usable.await.expect("usable");
    make(&served, "fits", "1", json!({})).await;
    until_bound(&served.pods()).await;
    make(
        &served,
        "gated",
        "8",
        json!({"schedulingGates": [{"name": "example.com/later"}]}),
    )
    .await;
    make(
        &served,
        "others",
        "8",
        json!({"schedulerName": "other-scheduler"}),
    )
    .await;
    make(&served, "large", "6", json!({})).await;
    let bound = until("the large pod to be bound", PATIENCE, async || {
        let pod = served.pods().get("large").await?;
        Ok(pod.spec.and_then(|spec| spec.node_name))
    });
    let node = bound.await.expect("bound");
    assert!(!["base", "fargate"].contains(&&*node), "{node}");
    let place = served.pods().get("fits").await.expect("a pod").spec;
    assert_eq!(
        place.and_then(|spec| spec.node_name).as_deref(),
        Some("base")
    );

    // Its own node goes when the large pod has gone; the other stays, empty as it is.
    served.end_pods().await;
    let gone = until("our node to go", PATIENCE, async || {
        let left = nodes(&served).list(&ListParams::default()).await?.items;
        Ok((left.len() == 2).then_some(left))
    });
    let left = gone.await.expect("gone");
    let names: Vec<String> = left.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, ["base", "fargate"]);
    assert!(left.iter().all(|node| node.finalizers().is_empty()));
    let calls = served.proxy.calls();
    assert_eq!(count(&calls, Verb::Create, "nodeclaims"), 1, "{calls:?}");
    let is_about =
        |call: &&Call| call.is_write() && call.name.as_ref().is_some_and(|it| names.contains(it));
    assert_eq!(served.proxy.calls().iter().find(is_about), None);
    served.end();
}

/// Makes a pod with more in its spec.
async fn make(served: &Served, name: &str, cpu: &str, more: Value) {
    let mut pod = serde_json::to_value(pending_pod(name, cpu, "1Gi")).expect("JSON");
    for (field, value) in more.as_object().into_iter().flatten() {
        pod["spec"][field] = value.clone();
    }
    let pod: Pod = serde_json::from_value(pod).expect("a pod");
    let made = served.pods().create(&PostParams::default(), &pod).await;
    made.expect("a pod");
}

/// A large node that only some pods tolerate.
fn fargate() -> Node {
    let mut node = fake_node("fargate", "64", "256Gi");
    let (key, value) = ("eks.amazonaws.com/compute-type", "fargate");
    let labels = node.labels_mut();
    labels.insert(key.to_owned(), value.to_owned());
    let spec = json!({"taints": [{"key": key, "value": value, "effect": "NoSchedule"}]});
    node.spec = serde_json::from_value(spec).expect("a spec");
    node
}

/// Waits until the scheduler has no node for a pod of the daemon `agent`; its name.
async fn until_refused(served: &Served) -> String {
    let refused = until("the daemon to be refused", PATIENCE, async || {
        let agents = ListParams::default().labels("app=agent");
        let pods = served.pods().list(&agents).await?.items;
        let is_refused = |pod: &&Pod| {
            let conditions = pod.status.as_ref().and_then(|it| it.conditions.as_ref());
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|it| it.reason.as_deref() == Some("Unschedulable"))
        };
        Ok(pods.iter().find(is_refused).map(ResourceExt::name_any))
    });
    refused.await.expect("refused")
}

/// T02: a new daemon that full nodes cannot hold buys nothing, and nodes that come later have its room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_daemon_buys_nothing_for_full_nodes_and_has_room_on_later_ones() {
    let mut small = pool("Never");
    let sizes =
        json!({"key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": ["2", "4"]});
    if let Some(Value::Array(all)) = small.pointer_mut("/spec/template/spec/requirements") {
        all.push(sizes);
    }
    let served = start(small).await;
    // Nearly all that an instance of two cores has.
    let filling = |name: &str| pending_pod(name, "1800m", "1Gi");
    let made = served
        .pods()
        .create(&PostParams::default(), &filling("first"))
        .await;
    made.expect("a pod");
    until_bound(&served.pods()).await;
    let agent = daemon_set("agent", ("200m", "64Mi"));
    apply(&served.client, &agent).await.expect("applied");
    let waiting = until_refused(&served).await;
    let made = served
        .pods()
        .create(&PostParams::default(), &filling("later"))
        .await;
    made.expect("a pod");
    let bound = until("all but the daemon to be bound", PATIENCE, async || {
        let pods = served.pods().list(&ListParams::default()).await?.items;
        let node = |pod: &Pod| pod.spec.as_ref()?.node_name.clone();
        let bound = pods
            .iter()
            .filter_map(|pod| Some((pod.name_any(), node(pod)?)));
        let bound: BTreeMap<String, String> = bound.collect();
        Ok((pods.len() == 4 && bound.len() == 3).then_some(bound))
    });
    let bound = bound.await.expect("bound");
    assert!(!bound.contains_key(&waiting), "{bound:?}");
    let (first, later) = (&bound["first"], &bound["later"]);
    let cpu = async |node: &str| {
        let node = nodes(&served).get(node).await.expect("a node");
        node.labels().get("karpenter.kwok.sh/instance-cpu").cloned()
    };
    assert_eq!(cpu(first).await.as_deref(), Some("2"));
    assert_eq!(
        cpu(later).await.as_deref(),
        Some("4"),
        "with room for the daemon"
    );
    let mut agents = bound.iter().filter(|(name, _)| name.starts_with("agent-"));
    assert!(agents.all(|(_, node)| node == later), "{bound:?}");
    assert_eq!(
        served.nodes().await.len(),
        2,
        "none for the daemon that waits"
    );
    served.end();
}
