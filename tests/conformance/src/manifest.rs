//! Objects that tests make, as manifests.

use serde_json::{Value, json};

/// The class that all pools here name.
pub fn class() -> Value {
    json!({
        "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": {"name": "default"}, "spec": {},
    })
}

/// A pool of Linux instances with amd64 processors, on demand; `more` is merged into its `spec`.
pub fn pool(name: &str, more: &Value) -> Value {
    let is = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    let mut spec = json!({
        "template": {"spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "requirements": [
                is("kubernetes.io/os", "linux"), is("kubernetes.io/arch", "amd64"),
                is("karpenter.sh/capacity-type", "on-demand"),
            ],
        }},
        "disruption": {"consolidateAfter": "Never"},
    });
    merge(&mut spec, more);
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec})
}

/// A deployment of pods that ask for something, labelled with its name; `more` is merged into the pod's `spec`.
pub fn deployment(name: &str, replicas: u32, cpu: &str, memory: &str, more: &Value) -> Value {
    let mut spec = json!({"containers": [{
        "name": "main", "image": "registry.k8s.io/pause",
        "resources": {"requests": {"cpu": cpu, "memory": memory}},
    }]});
    merge(&mut spec, more);
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
    })
}

/// Merges objects field by field; anything else is replaced.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => into.clone_from(from),
    }
}
