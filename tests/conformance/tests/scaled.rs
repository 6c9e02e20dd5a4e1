//! A static pool on a real control plane: it is scaled by its number, and the server keeps the rules about that number.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Patch, PatchParams};
use kube::core::DynamicObject;
use kube::{Api, ResourceExt};
use plimsoll_api::Kind;
use plimsoll_conformance::Served;
use plimsoll_conformance::manifest::{class, pool};
use plimsoll_conformance::watch::until;
use plimsoll_model::snapshot::Settings;
use serde_json::{Value, json};

/// Waits until there are exactly so many nodes, all of them complete and none of them `old`; their names.
async fn nodes(served: &Served, count: usize, old: &[String]) -> Result<Vec<String>> {
    let all: Api<Node> = Api::all(served.client());
    let complete = |node: &Node| {
        let label = node.labels().get("karpenter.sh/initialized");
        label.is_some_and(|value| value == "true")
            && node.metadata.deletion_timestamp.is_none()
            && !old.contains(&node.name_any())
    };
    let settled =
        |nodes: &BTreeMap<String, Node>| nodes.len() == count && nodes.values().all(complete);
    let what = format!("{count} nodes, all complete, none of {old:?}");
    let nodes = until(all, &what, settled, ResourceExt::name_any).await?;
    Ok(nodes.into_keys().collect())
}

async fn refused(served: &Served, change: Value) -> String {
    let pools: Api<DynamicObject> = plimsoll_kube::api(&served.client(), Kind::NodePool);
    let patch = Patch::Merge(change);
    let outcome = pools.patch("base", &PatchParams::default(), &patch).await;
    outcome.map_or_else(|error| error.to_string(), |_| "taken".to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_static_pool_is_scaled_and_its_drifted_node_gets_a_successor_first() -> Result<()> {
    let settings = Settings {
        static_capacity: true,
        ..Settings::default()
    };
    let base = pool("base", &json!({"replicas": 1, "limits": {"nodes": 2}}));
    let served = Served::start_with(settings, &[class(), base]).await?;
    nodes(&served, 1, &[]).await?;

    let pools: Api<DynamicObject> = plimsoll_kube::api(&served.client(), Kind::NodePool);
    let params = PatchParams::default();
    let scale = |replicas: u32| Patch::Merge(json!({"spec": {"replicas": replicas}}));
    pools.patch_scale("base", &params, &scale(3)).await?;
    nodes(&served, 2, &[]).await?;
    pools.patch_scale("base", &params, &scale(1)).await?;
    let kept = nodes(&served, 1, &[]).await?;

    let label = json!({"spec": {"template": {"metadata": {"labels": {"team": "shop"}}}}});
    assert_eq!(refused(&served, label).await, "taken");
    nodes(&served, 1, &kept).await?;

    let rules = [
        (json!({"replicas": null}), "static or not for good"),
        (json!({"weight": 1}), "not chosen by weight"),
        (
            json!({"limits": {"cpu": "1"}}),
            "limits: expected nodes and no other resource",
        ),
    ];
    for (spec, words) in rules {
        let said = refused(&served, json!({"spec": spec})).await;
        assert!(said.contains(words), "{said}");
    }
    served.stop().await?;
    Ok(())
}
