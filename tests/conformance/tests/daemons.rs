//! DaemonSets without pods: a new node has room for the requests that admission will give their pods.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Api, ResourceExt};
use plimsoll_conformance::Served;
use plimsoll_conformance::manifest::{class, deployment, pool};
use plimsoll_conformance::watch::until;
use serde_json::json;

use super::live::bound;

const CPU: &str = "karpenter.kwok.sh/instance-cpu";
const AGENTS: &str = "agents";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_node_has_room_for_a_daemon_with_the_defaults_of_its_namespace() -> Result<()> {
    let sizes = json!({"template": {"spec": {"requirements": [
        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
        {"key": CPU, "operator": "In", "values": ["4", "8"]},
    ]}}});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": AGENTS}});
    let limits = json!({
        "apiVersion": "v1", "kind": "LimitRange",
        "metadata": {"name": "defaults", "namespace": AGENTS},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]},
    });
    let agent = json!({"matchLabels": {"app": "agent"}});
    let container = json!({"name": "main", "image": "registry.k8s.io/pause"});
    let daemons = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": AGENTS},
        "spec": {"selector": agent, "template": {
            "metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container]},
        }},
    });
    let objects = [class(), pool("general", &sizes), namespace, limits, daemons];
    let served = Served::start(&objects).await?;
    // Without the daemon the pod fits a node with 4 cores.
    let web = deployment("web", 1, "3300m", "1Gi", &json!({}));
    served.apply(&web).await?;
    let pods = bound(&served, 1).await?;
    let node = pods.values().next().context("a node")?;
    let nodes: Api<Node> = Api::all(served.client());
    let node = nodes.get(node).await?;
    assert_eq!(node.labels()[CPU], "8", "{:?}", node.labels());

    let agents: Api<Pod> = Api::namespaced(served.client(), AGENTS);
    let on_node = |pods: &BTreeMap<String, Pod>| {
        let mut pods = pods.values().filter_map(|pod| pod.spec.as_ref());
        pods.any(|spec| spec.node_name.as_deref() == node.metadata.name.as_deref())
    };
    until(
        agents,
        "the daemon's pod to be bound",
        on_node,
        ResourceExt::name_any,
    )
    .await?;
    served.stop().await?;
    Ok(())
}
