//! Waiting pods: workloads of some replicas each, with the rules that their template draws.

use plimsoll_oracles::generate::Draw;
use serde_json::{Value, json};

use super::market::DEVICE;
use super::standing::default_requests;
use super::{APPS, CREATED, NAMESPACES, Sketch, rules, storage};
use crate::feature::Feature;

/// Priority by the name of its class.
const PRIORITIES: [(&str, i32); 2] = [("high", 1000), ("low", -10)];

pub(super) fn draw(sketch: &mut Sketch) {
    cluster_wide(sketch);
    let workloads = 6 + sketch.draw("workloads", 0).below(6);
    for at in 0..workloads {
        let mut draw = sketch.draw("workload", at);
        let replicas = 1 + draw.below(8);
        let name = format!("{}-{at}", draw.one_of(&APPS));
        let pod = template(sketch, &mut draw, &name);
        let volumes = volumes(sketch, &mut draw);
        for replica in 0..replicas {
            replicate(sketch, &mut draw, &pod, &name, replica, volumes);
        }
    }
}

/// Objects that pods refer to.
fn cluster_wide(sketch: &mut Sketch) {
    if sketch.wanted.has(Feature::RuntimeClass) {
        sketch.objects.push(json!({
            "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "sandboxed", "uid": "uid-sandboxed"},
            "handler": "sandboxed", "overhead": {"podFixed": {"cpu": "250m", "memory": "128Mi"}},
        }));
    }
    if sketch.wanted.has(Feature::Priorities) {
        sketch.objects.extend(PRIORITIES.map(|(name, value)| json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name, "uid": format!("uid-{name}")},
            "value": value,
        })));
    }
    if sketch.wanted.has(Feature::LimitRanges) {
        sketch.objects.push(json!({
            "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults", "namespace": "kube-system", "uid": "uid-defaults"},
            "spec": {"limits": [{"type": "Container", "defaultRequest": default_requests(), "default": {"cpu": "1", "memory": "1Gi"}}]},
        }));
        sketch.met.add(Feature::LimitRanges);
    }
}

fn template(sketch: &mut Sketch, draw: &mut Draw, name: &str) -> Value {
    let cpu = draw.one_of(&[100, 250, 500, 900, 1500, 2500]);
    let memory = draw.one_of(&[128, 512, 1024, 3000, 6000]);
    let app = name.split('-').next().unwrap_or(name);
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": draw.one_of(&NAMESPACES), "creationTimestamp": CREATED,
            "labels": {"app": app, "workload": name, "tier": draw.one_of(&["front", "back"])},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": format!("uid-{name}"), "controller": true}]},
        "spec": {"schedulerName": "default-scheduler", "containers": [{
            "name": "main", "image": "example", "resources": {"requests": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")}},
        }]},
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
    });
    resources(sketch, draw, &mut pod);
    rules::of_nodes(sketch, draw, &mut pod);
    rules::spread(sketch, draw, &mut pod);
    rules::between_pods(sketch, draw, &mut pod);
    pod
}

/// What a pod takes of its node.
fn resources(sketch: &mut Sketch, draw: &mut Draw, pod: &mut Value) {
    let spec = &mut pod["spec"];
    if sketch.has(Feature::HostPorts, draw, 15) {
        let port = draw.one_of(&[8080, 9100, 9443]);
        spec["containers"][0]["ports"] = json!([{"containerPort": port, "hostPort": port}]);
    }
    if sketch.has(Feature::Sidecars, draw, 25) {
        let mut sidecar = json!({"name": "proxy", "image": "example", "restartPolicy": "Always",
            "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}}});
        if sketch.has(Feature::SidecarPorts, draw, 30) {
            sidecar["ports"] = json!([{"containerPort": 15001, "hostPort": 15001}]);
        }
        spec["initContainers"] = json!([sidecar, {"name": "setup", "image": "example",
            "resources": {"requests": {"cpu": format!("{}m", 500 * draw.below(4)), "memory": "64Mi"}}}]);
    }
    if sketch.has(Feature::PodResources, draw, 20) {
        spec["resources"] = json!({"requests": {"cpu": "3", "memory": "7Gi"}});
    }
    if sketch.has(Feature::RuntimeClass, draw, 20) {
        spec["runtimeClassName"] = json!("sandboxed");
        spec["overhead"] = json!({"cpu": "250m", "memory": "128Mi"});
    }
    if sketch.has(Feature::Priorities, draw, 30) {
        let (name, value) = draw.one_of(&PRIORITIES);
        spec["priorityClassName"] = json!(name);
        spec["priority"] = json!(value);
    }
    if sketch.has(Feature::Devices, draw, 15) {
        spec["containers"][0]["resources"]["requests"][DEVICE] = json!("1");
        spec["containers"][0]["resources"]["limits"] = json!({DEVICE: "1"});
    }
}

/// The kind of volume that the pods of a workload have, if any.
fn volumes(sketch: &mut Sketch, draw: &mut Draw) -> Option<Feature> {
    let kinds = [
        Feature::BoundVolumes,
        Feature::UnboundVolumes,
        Feature::ExclusiveVolumes,
    ];
    kinds.into_iter().find(|&kind| sketch.has(kind, draw, 20))
}

fn replicate(
    sketch: &mut Sketch,
    draw: &mut Draw,
    template: &Value,
    name: &str,
    replica: usize,
    volumes: Option<Feature>,
) {
    let mut pod = template.clone();
    let own = format!("{name}-{replica}");
    pod["metadata"]["name"] = json!(own);
    pod["metadata"]["uid"] = json!(format!("pod-{own}"));
    if let Some(kind) = volumes {
        let namespace = pod["metadata"]["namespace"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        // Now and then two pods want the same claim.
        let shared = kind == Feature::ExclusiveVolumes && replica % 4 == 1;
        let claim = format!("data-{name}-{}", if shared { replica - 1 } else { replica });
        if !shared {
            storage::claim(sketch, draw, &namespace, &claim, kind);
        }
        pod["spec"]["volumes"] =
            json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]);
    }
    sketch.objects.push(pod);
}
