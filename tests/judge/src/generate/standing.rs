//! Objects there before the decision: DaemonSets, nodes with pods on them, claims whose nodes have not joined.

use plimsoll_oracles::generate::Draw;
use serde_json::{Value, json};

use super::storage::DRIVERS;
use super::{APPS, CREATED, HOSTNAME, NAMESPACES, Sketch, ZONES};
use crate::case::{Case, text};
use crate::feature::Feature;
use crate::market::{self, Purchase};
use crate::quantity;

pub(super) fn daemons(sketch: &mut Sketch) {
    for at in 0..2 {
        let mut draw = sketch.draw("daemon", at);
        if sketch.has(Feature::Daemons, &mut draw, 70) {
            let set = daemon(sketch, &mut draw, at);
            sketch.objects.push(set.clone());
            sketch.daemons.push(set);
        }
    }
}

fn daemon(sketch: &mut Sketch, draw: &mut Draw, at: usize) -> Value {
    let name = format!("agent-{at}");
    let mut spec = json!({"containers": [{
        "name": "main", "image": "example",
        "resources": {"requests": {"cpu": format!("{}m", 50 + 50 * draw.below(3)), "memory": "64Mi"}},
    }]});
    if draw.percent(70) {
        spec["tolerations"] = json!([{"operator": "Exists"}]);
    }
    if draw.percent(30) {
        spec["nodeSelector"] =
            json!({"topology.kubernetes.io/zone": ZONES[draw.below(sketch.zones)]});
    }
    if sketch.has(Feature::DaemonPorts, draw, 30) {
        spec["containers"][0]["ports"] =
            json!([{"containerPort": 9100 + at, "hostPort": 9100 + at}]);
    }
    if sketch.wanted.has(Feature::LimitRanges) && draw.percent(30) {
        spec["containers"][0]
            .as_object_mut()
            .expect("a container")
            .remove("resources");
    }
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "kube-system", "uid": format!("uid-{name}"), "creationTimestamp": CREATED},
        "spec": {"selector": {"matchLabels": {"daemon": name}},
            "template": {"metadata": {"labels": {"daemon": name, "role": "agent"}}, "spec": spec}},
    })
}

/// Nodes and claims in flight, as purchases made before.
pub(super) fn nodes(sketch: &mut Sketch) {
    let market = Case {
        seed: sketch.seed,
        section: sketch.section.clone(),
        objects: sketch.objects.clone(),
        features: sketch.met,
    };
    let purchases = market::purchases(&market);
    if purchases.is_empty() {
        return;
    }
    for at in 0..4 {
        let mut draw = sketch.draw("node", at);
        let bought = purchases[draw.below(purchases.len())].clone();
        let joined = sketch.has(Feature::ExistingNodes, &mut draw, 60);
        let flying = !joined && sketch.has(Feature::ClaimsInFlight, &mut draw, 35);
        if (joined || flying) && bought.reservation.is_none() {
            stand(sketch, &mut draw, &bought, at, joined);
        }
    }
}

fn stand(sketch: &mut Sketch, draw: &mut Draw, bought: &Purchase, at: usize, joined: bool) {
    let name = format!("node-{at}");
    let fresh = bought.node(&name, &DRIVERS.map(str::to_owned));
    sketch
        .objects
        .push(claim(bought, &name, &fresh.node, joined));
    if !joined {
        return;
    }
    let mut node = fresh.node;
    for label in ["karpenter.sh/registered", "karpenter.sh/initialized"] {
        node["metadata"]["labels"][label] = json!("true");
    }
    node["metadata"]["uid"] = json!(format!("uid-{name}"));
    node["metadata"]["creationTimestamp"] = json!(CREATED);
    sketch.objects.push(node);
    sketch.objects.extend(fresh.with);
    let mut free = bought.allocatable.get("cpu").copied().unwrap_or_default();
    for set in sketch.daemons.clone() {
        if runs_on(&set, bought) {
            let pod = daemon_pod(&set, &name);
            let cpu = pod.pointer("/spec/containers/0/resources/requests/cpu");
            free -= cpu.map_or(0, |cpu| quantity::read("cpu", cpu));
            sketch.objects.push(pod);
        }
    }
    for row in 0..draw.below(5) {
        let cpu = 100 + 200 * draw.below(5);
        free -= i64::try_from(cpu).unwrap_or(i64::MAX);
        if free < 0 {
            break;
        }
        let pod = running(sketch, draw, &name, row, cpu);
        sketch.objects.push(pod);
    }
}

/// The claim of a node: launched, and joined where its node is there.
fn claim(bought: &Purchase, name: &str, node: &Value, joined: bool) -> Value {
    let mut labels = bought.labels.clone();
    labels.remove(HOSTNAME);
    let condition = |kind: &str, is: bool| {
        let status = if is { "True" } else { "Unknown" };
        json!({"type": kind, "status": status, "lastTransitionTime": CREATED, "reason": kind, "message": ""})
    };
    let mut status = json!({
        "providerID": node["spec"]["providerID"],
        "capacity": node["status"]["capacity"], "allocatable": node["status"]["allocatable"],
        "conditions": [condition("Launched", true), condition("Registered", joined), condition("Initialized", joined), condition("Ready", joined)],
    });
    if joined {
        status["nodeName"] = json!(name);
    }
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": format!("claim-{name}"), "uid": format!("uid-claim-{name}"), "creationTimestamp": if joined { CREATED } else { "2026-11-28T09:29:30Z" },
            "labels": labels, "finalizers": ["karpenter.sh/termination"],
            "ownerReferences": [{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": bought.pool, "uid": format!("uid-{}", bought.pool), "blockOwnerDeletion": true}]},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": [bought.pool]}],
            "taints": bought.taints, "expireAfter": "Never",
        },
        "status": status,
    })
}

/// The daemons of this generator go by zone and tolerate everything or nothing.
fn runs_on(set: &Value, bought: &Purchase) -> bool {
    let spec = &set["spec"]["template"]["spec"];
    let zone = text(spec, "/nodeSelector/topology.kubernetes.io~1zone");
    let tolerates = spec["tolerations"].is_array() || bought.taints.is_empty();
    tolerates && (zone.is_empty() || zone == bought.zone)
}

/// Requests that the LimitRange of the daemons' namespace has for containers that do not say.
pub(super) fn default_requests() -> Value {
    json!({"cpu": "300m", "memory": "256Mi"})
}

fn daemon_pod(set: &Value, node: &str) -> Value {
    let set_name = text(set, "/metadata/name");
    let template = &set["spec"]["template"];
    let name = format!("{set_name}-{node}");
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "kube-system", "uid": format!("pod-{name}"), "creationTimestamp": CREATED,
            "labels": template["metadata"]["labels"],
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": set_name, "uid": format!("uid-{set_name}"), "controller": true}]},
        "spec": template["spec"],
    });
    // As the API server has completed it.
    let container = &mut pod["spec"]["containers"][0];
    if container.get("resources").is_none() {
        container["resources"] = json!({"requests": default_requests()});
    }
    run_on(&mut pod, node);
    pod
}

/// A pod becomes one that runs.
pub(super) fn run_on(pod: &mut Value, node: &str) {
    pod["spec"]["nodeName"] = json!(node);
    pod["status"] = json!({
        "phase": "Running", "startTime": CREATED,
        "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}],
    });
}

fn running(sketch: &mut Sketch, draw: &mut Draw, node: &str, row: usize, cpu: usize) -> Value {
    let name = format!("old-{node}-{row}");
    let app = draw.one_of(&APPS);
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": draw.one_of(&NAMESPACES), "uid": format!("pod-{name}"), "creationTimestamp": CREATED,
            "labels": {"app": app},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": format!("uid-{app}"), "controller": true}]},
        "spec": {"schedulerName": "default-scheduler", "tolerations": [{"operator": "Exists"}], "containers": [{
            "name": "main", "image": "example", "resources": {"requests": {"cpu": format!("{cpu}m"), "memory": "128Mi"}},
        }]},
    });
    run_on(&mut pod, node);
    if sketch.has(Feature::Terminating, draw, 15) {
        pod["metadata"]["deletionTimestamp"] = json!("2026-11-28T09:30:20Z");
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    }
    if sketch.has(Feature::Resize, draw, 20) {
        resize(draw, &mut pod, cpu);
    }
    if sketch.has(Feature::AntiAffinity, draw, 10) {
        let term = json!({"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": draw.one_of(&APPS)}}});
        pod["spec"]["affinity"] =
            json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    }
    pod
}

/// A resize to less that has not happened, or to more that is put off or refused.
fn resize(draw: &mut Draw, pod: &mut Value, cpu: usize) {
    let other = if draw.percent(50) { cpu / 2 } else { cpu * 2 };
    let wanted = json!({"cpu": format!("{other}m"), "memory": "128Mi"});
    let held = json!({"cpu": format!("{cpu}m"), "memory": "128Mi"});
    pod["spec"]["containers"][0]["resources"]["requests"] = wanted;
    pod["status"]["containerStatuses"] = json!([{
        "name": "main", "image": "example", "imageID": "", "ready": true, "restartCount": 0,
        "allocatedResources": held, "resources": {"requests": held},
    }]);
    let (kind, reason) = draw.one_of(&[
        ("PodResizePending", "Infeasible"),
        ("PodResizePending", "Deferred"),
        ("PodResizeInProgress", ""),
    ]);
    let mut condition = json!({"type": kind, "status": "True"});
    if !reason.is_empty() {
        condition["reason"] = json!(reason);
    }
    if let Some(conditions) = pod["status"]["conditions"].as_array_mut() {
        conditions.push(condition);
    }
}
