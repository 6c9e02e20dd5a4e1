//! Objects that nearly every test of a lab needs, as values: a node that KWOK looks after, a pod that asks for something.

use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::json;

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
