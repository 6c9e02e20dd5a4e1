//! Objects that nearly every test of a lab needs, as values: a node that KWOK looks after, a pod that asks for something.

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

/// A node of the lab, with capacity as quantities (`"4"`, `"16Gi"`), room for 110 pods and the usual labels.
pub fn fake_node(name: &str, cpu: &str, memory: &str) -> Node {
    let room = json!({ "cpu": cpu, "memory": memory, "pods": "110" });
    serde_json::from_value(json!({
        "metadata": {
            "name": name,
            "annotations": { "kwok.x-k8s.io/node": "fake" },
            "labels": { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
        },
        "status": { "capacity": room, "allocatable": room },
    }))
    .expect("the shape is fixed here, and names are any text")
}

/// A pod in namespace `default` with one container that asks for `cpu` and `memory`.
pub fn pending_pod(name: &str, cpu: &str, memory: &str) -> Pod {
    serde_json::from_value(json!({
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "containers": [{
            "name": "main", "image": "registry.k8s.io/pause",
            "resources": { "requests": { "cpu": cpu, "memory": memory } },
        }] },
    }))
    .expect("the shape is fixed here, and names are any text")
}

/// The class that [`example_pool`] names.
pub fn example_class() -> Value {
    json!({
        "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": {"name": "default"}, "spec": {"nodeRegistrationDelay": "5s"},
    })
}

/// A pool to begin with: Linux nodes with amd64 processors, which asks for no capacity type; empty ones are removed after half a minute.
pub fn example_pool() -> Value {
    let is = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                "requirements": [is("kubernetes.io/os", "linux"), is("kubernetes.io/arch", "amd64")],
            }},
            "disruption": {"consolidateAfter": "30s", "budgets": [{"nodes": "100%"}]},
        },
    })
}

/// The same pool with spot capacity allowed, so that the shipped ranking policies buy different nodes.
pub fn showcase_pool() -> Value {
    let mut pool = example_pool();
    let capacity_type = json!({"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]});
    let requirements = &mut pool["spec"]["template"]["spec"]["requirements"];
    if let Some(requirements) = requirements.as_array_mut() {
        requirements.push(capacity_type);
    }
    pool
}

/// Makes or changes an object of any kind by server-side apply.
pub async fn apply(client: &Client, manifest: &Value) -> Result<(), kube::Error> {
    let object: DynamicObject =
        serde_json::from_value(manifest.clone()).map_err(kube::Error::SerdeError)?;
    let (version, kind) = object
        .types
        .as_ref()
        .map(|types| (types.api_version.as_str(), types.kind.as_str()))
        .unwrap_or_default();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let api: Api<DynamicObject> = match object.namespace() {
        Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let parameters = PatchParams::apply("plimsoll-lab").force();
    api.patch(&object.name_any(), &parameters, &Patch::Apply(&object))
        .await
        .map(drop)
}
