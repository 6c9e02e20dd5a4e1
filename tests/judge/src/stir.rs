//! A case stirred: more nodes, some of the waiting pods on any of them, whether they fit or not, and what else a scheduler meets and
//! no plan is asked about.
//!
//! A drawn cluster has few nodes and little on them. Nothing is planned for a stirred one; schedulers are compared on it. Each object
//! draws from a sequence that goes by its name, so that the others stay as they are where one is dropped.

use plimsoll_oracles::generate::Draw;
use serde_json::{Value, json};

use crate::case::{Case, full_name, kind_of, text};
use crate::market;

/// Nodes that are added.
const NODES: usize = 3;
const ZONE: &str = "topology.kubernetes.io/zone";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// The case, stirred.
pub fn stirred(case: &Case) -> Case {
    let mut result = case.clone();
    add_nodes(&mut result);
    let nodes = result.of_kind("Node");
    let names: Vec<String> = nodes
        .map(|node| text(node, "/metadata/name").to_owned())
        .collect();
    if names.is_empty() {
        return result;
    }
    let mut attachments = Vec::new();
    for object in &mut result.objects {
        let name = full_name(object);
        let mut draw = Draw::new(case.seed, &format!("stir {name}"), 0);
        match kind_of(object) {
            "Node" => node(object, &mut draw),
            "Pod" if text(object, "/spec/nodeName").is_empty() => {
                pod(object, &names, &mut draw);
            }
            "PersistentVolume" if draw.percent(20) => {
                let node = &names[draw.below(names.len())];
                attachments.push(attachment(object, node));
            }
            _ => {}
        }
    }
    result.objects.extend(attachments);
    result
}

fn add_nodes(case: &mut Case) {
    let purchases = market::purchases(case);
    let drivers = market::drivers(case);
    for at in 0..NODES {
        let mut draw = Draw::new(case.seed, "stir in a node", at);
        if purchases.is_empty() {
            return;
        }
        let bought = &purchases[draw.below(purchases.len())];
        let fresh = bought.node(&format!("stirred-{at}"), &drivers);
        case.objects.push(fresh.node);
        case.objects.extend(fresh.with);
    }
}

/// A node loses the label of its zone, or gets a taint that keeps no pod off, or one that keeps most off.
fn node(node: &mut Value, draw: &mut Draw) {
    if draw.percent(20)
        && let Some(labels) = node["metadata"]["labels"].as_object_mut()
    {
        labels.remove(ZONE);
    }
    let mut taints = crate::case::items(node, "/spec/taints").to_vec();
    if draw.percent(15) {
        taints.push(json!({"key": "example.com/rather-not", "effect": "PreferNoSchedule"}));
    }
    if draw.percent(10) {
        taints.push(json!({"key": "example.com/leave", "value": "yes", "effect": "NoExecute"}));
    }
    node["spec"]["taints"] = json!(taints);
}

fn pod(pod: &mut Value, nodes: &[String], draw: &mut Draw) {
    // Most fit as far as room goes, so that the other rules decide.
    if draw.percent(60) {
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("10m");
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = json!("16Mi");
    }
    if draw.percent(30) {
        pod["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let terms = pod.pointer_mut(&format!("/spec/affinity/{kind}/{REQUIRED}"));
        for term in terms.and_then(Value::as_array_mut).into_iter().flatten() {
            if draw.percent(15) {
                term["namespaceSelector"] = namespaces(draw);
            }
        }
    }
    if draw.percent(40) {
        pod["spec"]["nodeName"] = json!(nodes[draw.below(nodes.len())]);
        pod["status"] =
            json!({"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}]});
        if draw.percent(25) {
            pod["metadata"]["deletionTimestamp"] = json!("2026-11-28T09:30:20Z");
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        }
    }
}

fn namespaces(draw: &mut Draw) -> Value {
    match draw.below(3) {
        0 => json!({"matchLabels": {"kubernetes.io/metadata.name": "bank"}}),
        1 => {
            json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["shop"]}]})
        }
        _ => json!({"matchExpressions": [{"key": "example.com/owner", "operator": "Exists"}]}),
    }
}

/// The volume is attached to a node, whatever pods are there.
fn attachment(volume: &Value, node: &str) -> Value {
    let name = text(volume, "/metadata/name");
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
        "metadata": {"name": format!("attached-{name}"), "uid": format!("uid-attached-{name}")},
        "spec": {"attacher": volume["spec"]["csi"]["driver"], "nodeName": node, "source": {"persistentVolumeName": name}},
        "status": {"attached": true},
    })
}
