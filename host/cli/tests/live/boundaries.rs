//! The program is killed at one of its writes, before the write arrives or before its answer does, and started again: the cluster comes
//! to where it would have come. No instance is left over or launched twice, no pod is lost, no finalizer stays.
//!
//! Each boundary has a course of its own in one lab: two pods apart get a node each, both nodes drift and are replaced one after the other
//! while a disruption budget leaves one pod at a time, and both go when the pods do. Two boundaries run by default, all with
//! `PLIMSOLL_LIVE=full`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use plimsoll_lab::{
    Call, Fault, Lab, Proxy, Rule, Verb, apply, example_class, example_pool, until,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::PATIENCE;
use super::served::{ALONE, Asked, NAME, Served, in_full, played};

/// A write at which the process dies.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    verb: Verb,
    resource: &'static str,
    /// Writes of the kind in this course before it.
    skip: u32,
    /// Whether it is carried out, and only its answer does not come.
    arrives: bool,
}

const fn before(verb: Verb, resource: &'static str, skip: u32) -> Boundary {
    Boundary {
        verb,
        resource,
        skip,
        arrives: false,
    }
}

const fn after(verb: Verb, resource: &'static str, skip: u32) -> Boundary {
    Boundary {
        verb,
        resource,
        skip,
        arrives: true,
    }
}

/// Two instances at first, and one for each that drifts.
const MACHINES: usize = 4;

const BOUNDARIES: [Boundary; 20] = [
    // The first two run always: the instance is there and no object says so; it is gone and no object says so.
    after(Verb::Create, "nodes", 0),
    after(Verb::Delete, "nodes", 0),
    before(Verb::Create, "nodeclaims", 0),
    after(Verb::Create, "nodeclaims", 1),
    before(Verb::Patch, "nodeclaims", 0),
    after(Verb::Patch, "nodeclaims", 1),
    before(Verb::Patch, "nodeclaims/status", 0),
    after(Verb::Patch, "nodeclaims/status", 1),
    before(Verb::Create, "nodes", 1),
    before(Verb::Patch, "nodes", 0),
    after(Verb::Patch, "nodes", 1),
    before(Verb::Patch, "pods/status", 0),
    before(Verb::Create, "nodeclaims", 2),
    after(Verb::Create, "nodeclaims", 2),
    after(Verb::Create, "nodes", 2),
    before(Verb::Delete, "nodeclaims", 0),
    after(Verb::Delete, "nodeclaims", 1),
    before(Verb::Create, "pods/eviction", 0),
    after(Verb::Create, "pods/eviction", 1),
    before(Verb::Delete, "nodes", 1),
];

/// All that ever was, by uid: nodes with the claim of each, and how few pods ran.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    nodes: BTreeMap<String, Option<String>>,
    running: BTreeSet<String>,
    /// Fewest pods that ran at a time since both did.
    pub(super) fewest: Option<usize>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_at_a_write_leaves_nothing_that_the_next_does_not_end() {
    let mut class = example_class();
    class["spec"]["nodeRegistrationDelay"] = "1s".into();
    let mut served = Served::start(Asked {
        objects: vec![class, pool("first")],
        flags: vec![ALONE.to_owned()],
        ..Asked::default()
    })
    .await;
    let chosen = if in_full() {
        &BOUNDARIES[..]
    } else {
        &BOUNDARIES[..2]
    };
    for (number, boundary) in chosen.iter().enumerate() {
        eprintln!("boundary {} of {}: {boundary:?}", number + 1, chosen.len());
        apply(&served.client, &pool("first"))
            .await
            .expect("applied");
        let (ledger, _watching) = observe(&served.client);
        let from = served.proxy.calls().len();
        let fault = if boundary.arrives {
            Fault::HoldAnswer
        } else {
            Fault::Hold
        };
        served.proxy.add(Rule {
            skip: boundary.skip,
            times: Some(1),
            ..Rule::new(&[boundary.verb], &[boundary.resource], fault)
        });
        let client = served.client.clone();
        let dies = die(&mut served.lab, &served.proxy, number + 1);
        tokio::join!(course(&client, &ledger), dies);
        served.proxy.clear();
        let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let writes = writes(&served.proxy.calls()[from..]);
        assert_eq!(
            ledger.nodes.len(),
            MACHINES,
            "{boundary:?}: {ledger:?}: {writes:?}"
        );
        let owners: BTreeSet<&Option<String>> = ledger.nodes.values().collect();
        assert_eq!(
            owners.len(),
            MACHINES,
            "{boundary:?}: one instance a claim: {ledger:?}"
        );
        assert!(ledger.fewest >= Some(1), "{boundary:?}: {ledger:?}");
        eprintln!("{writes:?}");
    }
    served.end();
}

/// Kills the process when the write is held, plays what it wrote down, and starts it again.
async fn die(lab: &mut Lab, proxy: &Proxy, held: usize) {
    proxy
        .until_held(held, PATIENCE)
        .await
        .expect("the course comes to this write");
    lab.kill(NAME).expect("it runs");
    played(lab, NAME);
    lab.start_again(NAME).await.expect("it starts again");
}

/// A pool whose nodes drift when `round` changes, and go a second after they are empty.
fn pool(round: &str) -> Value {
    let mut pool = example_pool();
    pool["spec"]["disruption"]["consolidateAfter"] = "1s".into();
    pool["spec"]["disruption"]["consolidationPolicy"] = "WhenEmpty".into();
    pool["spec"]["disruption"]["budgets"] = json!([{"nodes": "1"}]);
    pool["spec"]["template"]["metadata"] = json!({"labels": {"round": round}});
    pool
}

fn workload(replicas: u32) -> Vec<Value> {
    let labels = json!({"app": "web"});
    let apart = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}},
    ]}});
    let requests = json!({"cpu": "1", "memory": "1Gi"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {
                "affinity": apart, "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "main", "image": "registry.k8s.io/pause", "resources": {"requests": requests}}],
            }},
        },
    });
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}},
    });
    vec![budget, deployment]
}

/// Pods come, their nodes drift, pods go; each is waited for.
async fn course(client: &Client, ledger: &Arc<Mutex<Ledger>>) {
    for object in workload(2) {
        apply(client, &object).await.expect("applied");
    }
    until_running(client, "first").await;
    note(ledger, |ledger| {
        ledger.fewest = Some(ledger.running.len().max(1));
    });
    apply(client, &pool("second")).await.expect("applied");
    until_running(client, "second").await;
    let fewest = note(ledger, |ledger| ledger.fewest);
    for object in workload(0) {
        apply(client, &object).await.expect("applied");
    }
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
    let claims: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    let nodes: Api<Node> = Api::all(client.clone());
    let gone = until("all nodes and claims to go", PATIENCE, async || {
        let nodes = nodes.list(&ListParams::default()).await?.items.len();
        let claims = claims.list(&ListParams::default()).await?.items.len();
        Ok((nodes + claims == 0).then_some(()))
    });
    gone.await.expect("no finalizer stays");
    note(ledger, |ledger| ledger.fewest = fewest);
}

/// Waits until there are two nodes, of this round, and two pods, which run on them.
async fn until_running(client: &Client, round: &str) {
    let nodes: Api<Node> = Api::all(client.clone());
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let what = format!("two pods to run on nodes of the {round} round");
    let run = until(&what, PATIENCE, async || {
        let nodes = nodes.list(&ListParams::default()).await?.items;
        let of_round = |node: &Node| node.labels().get("round").is_some_and(|it| it == round);
        let pods = pods.list(&ListParams::default()).await?.items;
        let fits = nodes.len() == 2 && nodes.iter().all(of_round);
        Ok((fits && pods.len() == 2 && pods.iter().all(is_running)).then_some(()))
    });
    run.await.expect("they run");
}

pub(super) fn is_running(pod: &Pod) -> bool {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    phase == Some("Running") && pod.metadata.deletion_timestamp.is_none()
}

/// Looks at a ledger, or writes into it.
pub(super) fn note<T>(ledger: &Arc<Mutex<Ledger>>, note: impl FnOnce(&mut Ledger) -> T) -> T {
    note(&mut ledger.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Follows nodes and pods likewise, and counts the fewest that run from when so many do.
pub(super) async fn observe_from(
    client: &Client,
    running: usize,
) -> (Arc<Mutex<Ledger>>, JoinSet<()>) {
    let (ledger, watching) = observe(client);
    let seen = until("the pods to be seen", PATIENCE, async || {
        let seen = note(&ledger, |ledger| {
            let all = ledger.running.len() == running;
            ledger.fewest = all.then_some(running);
            all
        });
        Ok(seen.then_some(()))
    });
    seen.await.expect("seen");
    (ledger, watching)
}

/// Follows nodes and pods until what is returned is dropped.
fn observe(client: &Client) -> (Arc<Mutex<Ledger>>, JoinSet<()>) {
    let ledger: Arc<Mutex<Ledger>> = Arc::default();
    let mut watching = JoinSet::new();
    let (book, all) = (Arc::clone(&ledger), Api::<Node>::all(client.clone()));
    watching.spawn(async move {
        let events = watcher(all, watcher::Config::default()).default_backoff();
        let mut events = std::pin::pin!(events.applied_objects());
        while let Some(seen) = events.next().await {
            let Ok(node) = seen else { continue };
            let owner = node.owner_references().first().map(|it| it.uid.clone());
            let uid = node.uid().unwrap_or_default();
            note(&book, |ledger| {
                let known = ledger.nodes.entry(uid).or_default();
                *known = owner.or_else(|| known.take());
            });
        }
    });
    let (book, all) = (
        Arc::clone(&ledger),
        Api::<Pod>::namespaced(client.clone(), "default"),
    );
    watching.spawn(async move {
        let events = watcher(all, watcher::Config::default()).default_backoff();
        let mut events = std::pin::pin!(events);
        while let Some(seen) = events.next().await {
            let (pod, runs) = match seen {
                Ok(watcher::Event::Apply(pod) | watcher::Event::InitApply(pod)) => {
                    let runs = is_running(&pod);
                    (pod, runs)
                }
                Ok(watcher::Event::Delete(pod)) => (pod, false),
                _ => continue,
            };
            let uid = pod.uid().unwrap_or_default();
            note(&book, |ledger| {
                if runs {
                    ledger.running.insert(uid);
                } else {
                    ledger.running.remove(&uid);
                }
                let running = ledger.running.len();
                ledger.fewest = ledger.fewest.map(|fewest| fewest.min(running));
            });
        }
    });
    (ledger, watching)
}

/// Writes of a course, counted by verb and resource.
fn writes(calls: &[Call]) -> BTreeMap<String, usize> {
    let mut writes = BTreeMap::new();
    for call in calls.iter().filter(|call| call.is_write()) {
        *writes
            .entry(format!("{:?} {}", call.verb, call.resource))
            .or_default() += 1;
    }
    writes
}
