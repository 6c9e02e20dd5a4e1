//! User data of AL2023: an archive whose last part is the `NodeConfig` that nodeadm sets the node up by; of several the later one wins.

use serde_json::{Value, json};

use super::mime::{Part, SCRIPT, parts_of, serialize};
use super::{ClusterAccess, NodeSetup, UserDataError, labels};

const NODE_CONFIG: &str = "application/node.eks.aws";

/// The archive: the class's own parts first.
pub(super) fn text(cluster: &ClusterAccess, node: &NodeSetup) -> Result<String, UserDataError> {
    let mut parts = parts_of(node.custom.as_deref(), type_of)?;
    let document = serde_saphyr::to_string(&node_config(cluster, node)?);
    let document = document.expect("plain data is written as YAML");
    let generated = format!("# Generated for this node\n{document}");
    parts.push(Part::of_type(NODE_CONFIG, generated));
    Ok(serialize(&parts))
}

/// Type of a class's own text: a `NodeConfig` if it is a YAML map, else a script.
fn type_of(custom: &str) -> &'static str {
    let is_map = matches!(serde_saphyr::from_str(custom), Ok(Value::Object(_)));
    if is_map { NODE_CONFIG } else { SCRIPT }
}

fn node_config(cluster: &ClusterAccess, node: &NodeSetup) -> Result<Value, UserDataError> {
    let Some(cidr) = &cluster.service_cidr else {
        return Err(UserDataError::NoServiceCidr);
    };
    let mut config = node.kubelet.clone();
    let taints = node.taints.iter().map(|taint| {
        let mut entry = json!({"key": &*taint.key, "effect": taint.effect.to_string()});
        if !taint.value.is_empty() {
            entry["value"] = (&*taint.value).into();
        }
        entry
    });
    config.insert("registerWithTaints".to_owned(), taints.collect());
    let mut kubelet = json!({"config": config});
    if let Some(labels) = labels::argument(&node.labels) {
        kubelet["flags"] = json!([labels]);
    }
    let storage = if node.joins_local_disks {
        json!({"strategy": "RAID0"})
    } else {
        json!({})
    };
    Ok(json!({
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "metadata": {},
        "spec": {
            "cluster": {
                "apiServerEndpoint": cluster.endpoint,
                "certificateAuthority": cluster.ca_bundle,
                "cidr": cidr,
                "name": cluster.name,
            },
            "containerd": {},
            "instance": {"localStorage": storage},
            "kubelet": kubelet,
        },
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use plimsoll_model::{Effect, Taint};

    use super::*;
    use crate::sample::cluster;
    use crate::user_data::mime::parse;

    fn node() -> NodeSetup {
        let taint = |key: &str, value: &str, effect| Taint {
            key: Arc::from(key),
            value: Arc::from(value),
            effect,
        };
        NodeSetup {
            labels: [(Arc::from("team"), Arc::from("shop"))].into(),
            taints: vec![
                taint("dedicated", "web", Effect::NoSchedule),
                taint("karpenter.sh/unregistered", "", Effect::NoExecute),
            ],
            kubelet: [
                ("maxPods".to_owned(), 58.into()),
                ("clusterDNS".to_owned(), json!(["10.100.0.10"])),
            ]
            .into(),
            ..NodeSetup::default()
        }
    }

    /// The document of the last part.
    fn config_of(text: &str) -> Value {
        let parts = parse(text).expect("an archive");
        let last = parts.last().expect("a part");
        assert_eq!(last.headers, "Content-Type: application/node.eks.aws");
        serde_saphyr::from_str(&last.content).expect("YAML")
    }

    #[test]
    fn a_node_is_told_its_cluster_its_kubelet_its_taints_and_its_labels() {
        let expected = json!({
            "apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "metadata": {},
            "spec": {
                "cluster": {
                    "name": "demo", "apiServerEndpoint": "https://demo.example",
                    "certificateAuthority": "Y2E=", "cidr": "10.100.0.0/16",
                },
                "containerd": {},
                "instance": {"localStorage": {}},
                "kubelet": {
                    "config": {
                        "maxPods": 58, "clusterDNS": ["10.100.0.10"],
                        "registerWithTaints": [
                            {"key": "dedicated", "value": "web", "effect": "NoSchedule"},
                            {"key": "karpenter.sh/unregistered", "effect": "NoExecute"},
                        ],
                    },
                    "flags": ["--node-labels=\"team=shop\""],
                },
            },
        });
        assert_eq!(
            config_of(&text(&cluster(), &node()).expect("user data")),
            expected
        );
        let raid = NodeSetup {
            joins_local_disks: true,
            labels: BTreeMap::default(),
            ..node()
        };
        let config = config_of(&text(&cluster(), &raid).expect("user data"));
        assert_eq!(
            config["spec"]["instance"]["localStorage"]["strategy"],
            "RAID0"
        );
        assert_eq!(config["spec"]["kubelet"].get("flags"), None);
    }

    #[test]
    fn the_classs_own_parts_come_first_in_the_form_that_they_have() {
        let first = |custom: &str| {
            let node = NodeSetup {
                custom: Some(custom.to_owned()),
                ..node()
            };
            let text = text(&cluster(), &node).expect("user data");
            config_of(&text);
            let parts = parse(&text).expect("an archive");
            assert_eq!(parts.len(), 2);
            (parts[0].headers.clone(), parts[0].content.clone())
        };
        let script = "#!/bin/bash\necho hello";
        assert_eq!(
            first(script),
            (format!("Content-Type: {SCRIPT}"), script.to_owned())
        );
        let yaml = "kind: NodeConfig\nspec: {}";
        assert_eq!(
            first(yaml),
            (format!("Content-Type: {NODE_CONFIG}"), yaml.to_owned())
        );
        let archive = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"X\"\n\n--X\nContent-Type: text/cloud-config\n\nruncmd: []\n--X--";
        assert_eq!(
            first(archive),
            (
                "Content-Type: text/cloud-config".to_owned(),
                "runcmd: []".to_owned()
            )
        );
    }

    #[test]
    fn without_addresses_of_services_or_with_half_an_archive_there_is_none() {
        let unknown = ClusterAccess {
            service_cidr: None,
            ..cluster()
        };
        assert_eq!(text(&unknown, &node()), Err(UserDataError::NoServiceCidr));
        let half = NodeSetup {
            custom: Some("MIME-Version: 1.0\n\n".to_owned()),
            ..node()
        };
        let refused = text(&cluster(), &half)
            .expect_err("half an archive")
            .to_string();
        assert_eq!(
            refused,
            "spec.userData begins as a MIME archive and is none: its headers name no boundary"
        );
    }
}
