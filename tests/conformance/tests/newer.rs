//! Objects that a newer version wrote. Reasons and fields that are not known are named on the pool, which serves. A pool or claim that is
//! not understood keeps its node, even across a restart; nothing is launched from such a pool, and other pools go on.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Patch, PatchParams};
use kube::core::DynamicObject;
use kube::{Api, ResourceExt};
use plimsoll_api::{Kind, crd};
use plimsoll_conformance::manifest::{class, deployment, pool};
use plimsoll_conformance::watch::until;
use plimsoll_conformance::{Served, Stage};
use plimsoll_model::snapshot::Settings;
use serde_json::{Value, json};

use super::live::{bound, leaves_waiting};

const POOL: &str = "karpenter.sh/nodepool";
/// The schema of an object's `spec` in its definition.
const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
/// An operator that this version does not know.
const NEAR: &str = "Near";

/// A part of the schema of a kind's `spec`.
fn schema<'d>(definitions: &'d mut [Value], kind: Kind, path: &str) -> Result<&'d mut Value> {
    let mut all = definitions.iter_mut();
    let own = all.find(|own| own["spec"]["names"]["kind"] == kind.as_str());
    let part = own.and_then(|own| own.pointer_mut(&format!("{SCHEMA}{path}")));
    part.with_context(|| format!("{kind} has {path}"))
}

/// Our definitions as a newer release might install them: with one more budget reason, field and operator.
fn newer_definitions() -> Result<Vec<Value>> {
    let mut definitions = crd::definitions(crd::Provider::Kwok);
    let disruption = "/properties/disruption/properties";
    let reasons = format!("{disruption}/budgets/items/properties/reasons/items/enum");
    let of_pools = "/properties/template/properties/spec/properties/requirements";
    let operator = "/items/properties/operator/enum";
    let of_pools = format!("{of_pools}{operator}");
    let of_claims = format!("/properties/requirements{operator}");
    for (kind, path, value) in [
        (Kind::NodePool, &reasons, "Repacked"),
        (Kind::NodePool, &of_pools, NEAR),
        (Kind::NodeClaim, &of_claims, NEAR),
    ] {
        let list = schema(&mut definitions, kind, path)?.as_array_mut();
        list.context("a list")?.push(value.into());
    }
    schema(&mut definitions, Kind::NodePool, disruption)?["pace"] = json!({"type": "string"});
    // Claims are immutable, but one test has to change a claim that exists.
    schema(&mut definitions, Kind::NodeClaim, "")?["x-kubernetes-validations"] = json!([]);
    Ok(definitions)
}

async fn serve(pools: &[Value]) -> Result<Served> {
    let definitions = newer_definitions()?;
    let objects = [[class()].as_slice(), pools].concat();
    let boot = Duration::ZERO..=Duration::ZERO;
    let stage = Stage::start_with(definitions, boot, &objects).await?;
    stage.serve(Settings::default()).await
}

/// A pool of nodes that hold one pod of [`of_pool`] each, with these requirements on top; empty nodes are removed after a second.
fn pool_with(name: &str, more: &[Value]) -> Value {
    let is = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    let own = [
        is("kubernetes.io/os", "linux"),
        is("karpenter.kwok.sh/instance-cpu", "4"),
    ];
    let requirements = [&own, more].concat();
    let settings = json!({
        "template": {"spec": {"requirements": requirements}},
        "disruption": {"consolidateAfter": "1s", "budgets": [{"nodes": "100%"}]},
    });
    pool(name, &settings)
}

/// A requirement with an operator that only a newer version knows.
fn near() -> Value {
    json!({"key": "kubernetes.io/arch", "operator": NEAR, "values": ["amd64"]})
}

/// Pods that run on nodes of one pool, one on each.
fn of_pool(pool: &str, replicas: u32) -> Value {
    let there = json!({"nodeSelector": {POOL: pool}});
    deployment(pool, replicas, "2500m", "1Gi", &there)
}

/// Status and message of a pool's condition `ValidationSucceeded`.
fn validity(pool: &DynamicObject) -> (&str, &str) {
    let conditions = pool.data["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let own = conditions.find(|own| own["type"] == "ValidationSucceeded");
    let text = |field: &str| own.and_then(|own| own[field].as_str());
    (
        text("status").unwrap_or_default(),
        text("message").unwrap_or_default(),
    )
}

/// Waits until this condition has a status and a message that begins with a text; an empty text stands for no message.
async fn until_validity(served: &Served, pool: &str, status: &str, message: &str) -> Result<()> {
    let said = |pools: &BTreeMap<String, DynamicObject>| {
        let (own_status, own) = pools.get(pool).map(validity).unwrap_or_default();
        own_status == status && own.starts_with(message) && own.is_empty() == message.is_empty()
    };
    let pools = plimsoll_kube::api(&served.client(), Kind::NodePool);
    let what = format!("{pool} to be valid {status}: {message}");
    let show = |pool: &DynamicObject| format!("{} {:?}", pool.name_any(), validity(pool));
    until(pools, &what, said, show).await?;
    Ok(())
}

fn claims(served: &Served) -> Api<DynamicObject> {
    plimsoll_kube::api(&served.client(), Kind::NodeClaim)
}

fn of<'o>(pool: &str, claims: &'o BTreeMap<String, DynamicObject>) -> Vec<&'o str> {
    let own = |claim: &&DynamicObject| claim.labels().get(POOL).is_some_and(|it| it == pool);
    let names = claims
        .values()
        .filter(own)
        .filter_map(|it| it.metadata.name.as_deref());
    names.collect()
}

/// Waits until pool `general` has this many claims. Returns the claims of pool `odd`, none of which may be on its way out.
async fn until_general_has(served: &Served, count: usize) -> Result<Vec<String>> {
    let has = |claims: &BTreeMap<String, DynamicObject>| of("general", claims).len() == count;
    let what = format!("{count} claims of general");
    let claims = until(claims(served), &what, has, ResourceExt::name_any).await?;
    let odd = of("odd", &claims);
    for name in &odd {
        let deleting = &claims[*name].metadata.deletion_timestamp;
        assert!(deleting.is_none(), "{name} stays");
    }
    Ok(odd.into_iter().map(ToOwned::to_owned).collect())
}

/// Waits until there are no pods of a deployment.
async fn until_no_pods(served: &Served, deployment: &str) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(served.client(), "default");
    let prefix = format!("{deployment}-");
    let none = |pods: &BTreeMap<String, Pod>| !pods.keys().any(|name| name.starts_with(&prefix));
    until(pods, "no pods", none, ResourceExt::name_any).await?;
    Ok(())
}

/// Launches a node of `general`, empties it and waits until it is removed. Returns the claims of `odd` after that: if their nodes were
/// empty before, they have been candidates for as long.
async fn launch_and_remove(served: &Served) -> Result<Vec<String>> {
    served.apply(&of_pool("general", 1)).await?;
    bound(served, 1).await?;
    served.apply(&of_pool("general", 0)).await?;
    until_general_has(served, 0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reasons_and_fields_of_a_newer_version_are_named_on_pools_that_serve() -> Result<()> {
    let mut repacked = pool_with("repacked", &[]);
    repacked["spec"]["disruption"]["budgets"] =
        json!([{"nodes": "1", "reasons": ["Unhealthy", "Repacked"]}]);
    let mut paced = pool_with("paced", &[]);
    paced["spec"]["disruption"]["pace"] = "slow".into();
    let served = serve(&[repacked, paced]).await?;
    for pool in ["repacked", "paced"] {
        served.apply(&of_pool(pool, 1)).await?;
    }
    bound(&served, 2).await?;
    for (pool, message) in [
        (
            "repacked",
            "spec.disruption.budgets[0].reasons[1] is \"Repacked\", which is not known to this version; the budget limits every reason",
        ),
        (
            "paced",
            "spec.disruption.pace is not known to this version and is ignored",
        ),
    ] {
        until_validity(&served, pool, "True", message).await?;
    }
    served.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_is_not_understood_keeps_its_node_and_gets_no_other() -> Result<()> {
    let served = serve(&[pool_with("general", &[]), pool_with("odd", &[])]).await?;
    served.apply(&of_pool("odd", 1)).await?;
    bound(&served, 1).await?;
    let kept = until_general_has(&served, 0).await?;
    assert_eq!(kept.len(), 1);

    served.apply(&pool_with("odd", &[near()])).await?;
    let problem = "spec.template.spec.requirements[2].operator is \"Near\"";
    until_validity(&served, "odd", "False", problem).await?;
    served.apply(&of_pool("odd", 2)).await?;
    let waiting = served.until_recorded("a plan that leaves its pod waiting", leaves_waiting(1));
    waiting.await?;
    served.apply(&of_pool("general", 1)).await?;
    assert_eq!(until_general_has(&served, 1).await?, kept, "no other");

    // Its node is empty before the other pool's, which is removed.
    served.apply(&of_pool("odd", 0)).await?;
    until_no_pods(&served, "odd").await?;
    served.apply(&of_pool("general", 0)).await?;
    assert_eq!(until_general_has(&served, 0).await?, kept, "it stays");

    // A new process has never understood the pool.
    let (stage, _) = served.leave().await?;
    let served = stage.serve(Settings::default()).await?;
    assert_eq!(launch_and_remove(&served).await?, kept, "it still stays");

    served.apply(&pool_with("odd", &[])).await?;
    until_validity(&served, "odd", "True", "").await?;
    let nodes: Api<Node> = Api::all(served.client());
    until(nodes, "no node", BTreeMap::is_empty, ResourceExt::name_any).await?;
    served.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_is_not_understood_keeps_its_node_until_it_is() -> Result<()> {
    let served = serve(&[pool_with("general", &[]), pool_with("odd", &[])]).await?;
    served.apply(&of_pool("odd", 1)).await?;
    bound(&served, 1).await?;
    let kept = until_general_has(&served, 0).await?;
    let name = kept.first().context("a claim")?;
    let understood = claims(&served).get(name).await?.data["spec"]["requirements"].take();

    let change = async |served: &Served, requirements: &Value| {
        let patch = Patch::Merge(json!({"spec": {"requirements": requirements}}));
        let parameters = PatchParams::default();
        claims(served).patch(name, &parameters, &patch).await
    };
    change(&served, &json!([near()])).await?;
    served.apply(&of_pool("odd", 0)).await?;
    until_no_pods(&served, "odd").await?;
    assert_eq!(launch_and_remove(&served).await?, kept, "it stays");
    let (stage, _) = served.leave().await?;
    let served = stage.serve(Settings::default()).await?;
    assert_eq!(launch_and_remove(&served).await?, kept, "it still stays");

    change(&served, &understood).await?;
    let nodes: Api<Node> = Api::all(served.client());
    until(nodes, "no node", BTreeMap::is_empty, ResourceExt::name_any).await?;
    served.stop().await?;
    Ok(())
}
