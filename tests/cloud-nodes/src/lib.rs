//! Instances of a cloud on loopback as nodes of a lab: each joins once it runs, as its user data tells it, and goes once it is no more.

mod following;

pub use following::{Nodes, follow};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Node;
use plimsoll_api::write::amounts;
use plimsoll_cloud::Instance;
use plimsoll_ec2_facts::instance_type::Architecture;
use plimsoll_ec2_facts::{AllocatableSettings, instance_type};
use serde_json::{Value, json};

/// The name of an instance's node.
fn name(id: &str) -> String {
    format!("{id}.ec2.internal")
}

/// The node that the instance's kubelet registers.
fn node(instance: &Instance) -> Node {
    let encoded = instance.template["UserData"].as_str().unwrap_or_default();
    let config = node_config(encoded).unwrap_or_default();
    let kubelet = &config["spec"]["kubelet"];
    let name = name(&instance.id);
    let zone = &instance.zone;
    let facts = instance_type(&instance.instance_type);
    let architecture = match facts.map(|facts| facts.architecture) {
        Some(Architecture::Arm64) => "arm64",
        _ => "amd64",
    };
    let mut labels = json!({
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": architecture,
        "node.kubernetes.io/instance-type": instance.instance_type,
        "topology.kubernetes.io/zone": zone,
        "topology.kubernetes.io/region": zone.trim_end_matches(char::is_alphabetic),
    });
    for (key, value) in node_labels(&config) {
        labels[key] = value.into();
    }
    let settings = AllocatableSettings {
        max_pods: kubelet["config"]["maxPods"]
            .as_u64()
            .and_then(|most| most.try_into().ok()),
        ..AllocatableSettings::default()
    };
    let room = facts.and_then(|facts| facts.room(&settings).ok());
    let capacity = room.as_ref().map(|room| amounts(&room.capacity));
    let allocatable = room.as_ref().map(|room| amounts(&room.allocatable()));
    let node = json!({
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "spec": {
            "providerID": format!("aws:///{zone}/{}", instance.id),
            "taints": kubelet["config"]["registerWithTaints"],
        },
        "status": {"capacity": capacity, "allocatable": allocatable},
    });
    serde_json::from_value(node).expect("the shape is fixed here")
}

/// The last `NodeConfig` in user data as a launch template has it, in base64; `None` where there is none.
pub fn node_config(encoded: &str) -> Option<Value> {
    let text = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    let text = text.replace("\r\n", "\n");
    let (_, part) = text.rsplit_once("application/node.eks.aws\n")?;
    let yaml = part.split("\n--").next()?;
    serde_saphyr::from_str(yaml).ok()
}

/// The labels by which a `NodeConfig` has its kubelet register.
pub fn node_labels(config: &Value) -> Vec<(&str, &str)> {
    let flags = config["spec"]["kubelet"]["flags"].as_array();
    let flags = flags.into_iter().flatten().filter_map(Value::as_str);
    let arguments = flags.filter_map(|flag| flag.strip_prefix("--node-labels="));
    let pairs = arguments.flat_map(|pairs| pairs.trim_matches('"').split(','));
    pairs.filter_map(|pair| pair.split_once('=')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_says_how_a_node_registers() {
        let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n\
            --//\nContent-Type: application/node.eks.aws\n\nspec: {kubelet: {flags: []}}\n\
            --//\nContent-Type: application/node.eks.aws\n\n# Ours\nspec:\n  kubelet:\n    flags:\n    - --node-labels=\"a=1,b=\"\n--//--\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let config = node_config(&STANDARD.encode(text)).expect("a document");
            assert_eq!(node_labels(&config), [("a", "1"), ("b", "")]);
        }
        assert_eq!(node_config(&STANDARD.encode("#!/bin/sh")), None);
        assert_eq!(node_config("no base64"), None);
    }
}
