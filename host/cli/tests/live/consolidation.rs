//! Nodes that are half empty become fewer, and cheaper, while a disruption budget holds.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Client, ResourceExt};
use plimsoll_lab::{apply, example_pool, until};
use serde_json::{Value, json};

use super::PATIENCE;
use super::boundaries::{note, observe_from};
use super::described::OF_SAVINGS;
use super::removal::{scale, start, until_running};
use super::workloads::{budget, deployment};

/// Dollars per hour, as the provider writes them on nodes.
const PRICE: &str = "eks-node-viewer/instance-price";

/// Instances of four cores, whose pods move together a second after they could.
fn pool() -> Value {
    let mut pool = example_pool();
    pool["spec"]["disruption"]["consolidateAfter"] = "1s".into();
    let four = json!({"key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": ["4"]});
    if let Some(Value::Array(all)) = pool.pointer_mut("/spec/template/spec/requirements") {
        all.push(four);
    }
    pool
}

fn price(nodes: &[Node]) -> f64 {
    let price = |node: &Node| node.labels().get(PRICE)?.parse::<f64>().ok();
    nodes.iter().filter_map(price).sum()
}

/// Keeps one pod on every node when its workload shrinks: its controller deletes others first. A node without pods would be removed for being
/// empty.
async fn keep_one_on_each(client: &Client) {
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let listed = pods.list(&ListParams::default()).await.expect("pods");
    let mut nodes = BTreeSet::new();
    for pod in listed {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
        if nodes.insert(node) {
            let last = json!({"controller.kubernetes.io/pod-deletion-cost": "100"});
            let last = Patch::Merge(json!({"metadata": {"annotations": last}}));
            let (name, params) = (pod.name_any(), PatchParams::default());
            let patched = pods.patch(&name, &params, &last);
            patched.await.expect("annotated");
        }
    }
}

/// D08: three nodes become two when four of nine pods stay, at a lower price; all run in the end, and one at most is away at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_empty_nodes_become_fewer_and_cheaper_under_the_budget_of_their_pods() {
    let served = start(pool()).await;
    let web = deployment("web", 9, ("1200m", "1Gi"), json!({}));
    for object in [budget("web", 1), web] {
        apply(&served.client, &object).await.expect("applied");
    }
    until_running(&served, 9, "").await;
    served.until_initialized().await;
    let before = served.nodes().await;
    assert_eq!(before.len(), 3);
    keep_one_on_each(&served.client).await;
    scale(&served, 4).await;
    until_running(&served, 4, "").await;
    let (ledger, _watching) = observe_from(&served.client, 4).await;
    let fewer = until("two nodes to be left", PATIENCE, async || {
        let nodes = served.nodes().await;
        Ok((nodes.len() == 2).then_some(nodes))
    });
    let after = fewer.await.expect("fewer");
    served.until_described(OF_SAVINGS).await;
    until_running(&served, 4, "").await;
    let fewest = note(&ledger, |ledger| ledger.fewest);
    assert!(fewest >= Some(3), "{fewest:?}");
    let (before, after) = (price(&before), price(&after));
    assert!(after < before, "{after} $/h after {before} $/h");
    assert!(served.end().decisions > 0);
}
