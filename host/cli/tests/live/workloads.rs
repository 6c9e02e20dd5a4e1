//! Workloads that stories of the lab are told with, as manifests in namespace `default`, each labelled `app` with its name.

use serde_json::{Value, json};

/// A deployment of pods that ask for this much; `spec` is the rest of a pod's.
pub(super) fn deployment(
    name: &str,
    replicas: usize,
    (cpu, memory): (&str, &str),
    spec: Value,
) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": template(name, (cpu, memory), spec),
        },
    })
}

/// A daemon for every node.
pub(super) fn daemon_set(name: &str, (cpu, memory): (&str, &str)) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": template(name, (cpu, memory), json!({})),
        },
    })
}

/// A disruption budget for a workload.
pub(super) fn budget(name: &str, max_unavailable: usize) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"maxUnavailable": max_unavailable, "selector": {"matchLabels": {"app": name}}},
    })
}

/// Affinity by which pods of this workload share no node.
pub(super) fn apart(name: &str) -> Value {
    json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": name}}},
    ]}})
}

fn template(name: &str, (cpu, memory): (&str, &str), mut spec: Value) -> Value {
    spec["terminationGracePeriodSeconds"] = 1.into();
    spec["containers"] = json!([{
        "name": "main", "image": "registry.k8s.io/pause",
        "resources": {"requests": {"cpu": cpu, "memory": memory}},
    }]);
    json!({"metadata": {"labels": {"app": name}}, "spec": spec})
}
