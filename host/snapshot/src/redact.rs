//! Objects without what tells of their owners: names of workloads, pods, namespaces, volumes and nodes, and annotations that no decision
//! reads.
//!
//! A name becomes another one wherever it stands for an object, the same everywhere, so that owners, bound pods, claims and selectors of
//! namespaces still find each other. Names of pools, classes of all kinds and drivers stay, since policies, labels and volumes speak of them; labels
//! stay, since decisions depend on them.

use std::collections::BTreeMap;

use plimsoll_api::{Kind, keys::is_read_annotation};
use serde_json::Value;

/// Namespaces that every cluster has.
const COMMON: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];
/// Kinds whose names stay.
const NAMED: [Kind; 6] = [
    Kind::NodePool,
    Kind::NodeClaim,
    Kind::NodeOverlay,
    Kind::StorageClass,
    Kind::CsiDriver,
    Kind::DeviceClass,
];
const HOSTNAME: &str = "kubernetes.io/hostname";
/// The label by which a namespace says its name.
const NAMESPACE: &str = "kubernetes.io/metadata.name";

/// New names, by the old ones.
#[derive(Default)]
struct Names {
    objects: BTreeMap<String, String>,
    namespaces: BTreeMap<String, String>,
}

/// Redacts objects as `kubectl get -o json` shows them.
pub fn redact(items: &mut [Value]) {
    let names = Names::of(items);
    for item in items {
        names.rename(item);
        keep_read_annotations(item);
    }
}

impl Names {
    fn of(items: &[Value]) -> Self {
        let mut names = Self::default();
        for item in items {
            let text = |field: &str| item["metadata"][field].as_str().map(str::to_owned);
            names
                .namespaces
                .extend(text("namespace").map(|name| (name, String::new())));
            let Some((kind, name)) = kind(item).zip(text("name")) else {
                continue;
            };
            if kind == Kind::Namespace {
                names.namespaces.insert(name, String::new());
            } else if !NAMED.contains(&kind) {
                names.objects.insert(name, String::new());
            }
        }
        for (number, new) in names.objects.values_mut().enumerate() {
            *new = format!("name-{number}");
        }
        for (number, (old, new)) in names.namespaces.iter_mut().enumerate() {
            *new = if COMMON.contains(&old.as_str()) {
                old.clone()
            } else {
                format!("namespace-{number}")
            };
        }
        names
    }

    fn rename(&self, item: &mut Value) {
        let own = kind(item);
        if own == Some(Kind::Namespace) {
            replace(&self.namespaces, &mut item["metadata"]["name"]);
        } else if own.is_none_or(|kind| !NAMED.contains(&kind)) {
            replace(&self.objects, &mut item["metadata"]["name"]);
        }
        self.walk(item);
    }

    /// Replaces what refers to objects by their names, wherever it stands.
    fn walk(&self, value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(|value| self.walk(value)),
            Value::Object(fields) => {
                fields.remove("generateName");
                // Selectors by host name, and affinities by `metadata.name`.
                let key = fields.get("key").and_then(Value::as_str);
                let names = match key {
                    Some(HOSTNAME | "metadata.name") => Some(&self.objects),
                    Some(NAMESPACE) => Some(&self.namespaces),
                    _ => None,
                };
                if let Some((names, values)) = names.zip(fields.get_mut("values")) {
                    each(values, |one| replace(names, one));
                }
                for (key, value) in fields {
                    match key.as_str() {
                        "nodeName"
                        | "nominatedNodeName"
                        | "claimName"
                        | "volumeName"
                        | "persistentVolumeName"
                        | HOSTNAME => replace(&self.objects, value),
                        "namespace" | NAMESPACE => replace(&self.namespaces, value),
                        "namespaces" => each(value, |one| replace(&self.namespaces, one)),
                        "ownerReferences" => each(value, |owner| {
                            let kind = owner["kind"].as_str().unwrap_or_default();
                            if !NAMED.iter().any(|named| named.as_str() == kind) {
                                replace_in(&self.objects, owner, "name");
                            }
                        }),
                        "podTemplateRef" | "scalableRef" | "claimRef" => {
                            replace_in(&self.objects, value, "name");
                            replace_in(&self.namespaces, value, "namespace");
                        }
                        "providerID" => self.rename_end(value),
                        "values" => {}
                        _ => self.walk(value),
                    }
                }
            }
            _ => {}
        }
    }

    /// Replaces a name at the end of an identity, as that of a laboratory's node.
    fn rename_end(&self, value: &mut Value) {
        let Some((front, name)) = value.as_str().and_then(|text| text.rsplit_once('/')) else {
            return;
        };
        if let Some(new) = self.objects.get(name) {
            *value = format!("{front}/{new}").into();
        }
    }
}

fn kind(item: &Value) -> Option<Kind> {
    let text = |field: &str| item[field].as_str().unwrap_or_default();
    Kind::parse(text("apiVersion"), text("kind"))
}

fn replace(names: &BTreeMap<String, String>, value: &mut Value) {
    if let Some(new) = value.as_str().and_then(|old| names.get(old)) {
        *value = new.as_str().into();
    }
}

fn replace_in(names: &BTreeMap<String, String>, object: &mut Value, field: &str) {
    if let Some(value) = object.get_mut(field) {
        replace(names, value);
    }
}

fn each(value: &mut Value, change: impl FnMut(&mut Value)) {
    value.as_array_mut().into_iter().flatten().for_each(change);
}

/// Takes annotations away that no decision reads, of the object and of templates in it.
fn keep_read_annotations(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(keep_read_annotations),
        Value::Object(fields) => {
            if let Some(Value::Object(annotations)) = fields.get_mut("annotations") {
                annotations.retain(|key, _| is_read_annotation(key));
            }
            fields.values_mut().for_each(keep_read_annotations);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_become_others_that_still_find_each_other() {
        let mut items = vec![
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop",
                "labels": {"kubernetes.io/metadata.name": "shop"}}}),
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-10-0-3-17",
                "labels": {"kubernetes.io/hostname": "ip-10-0-3-17", "team": "shop"}},
                "spec": {"providerID": "kwok://ip-10-0-3-17"}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "checkout-7d9f", "namespace": "shop",
                "generateName": "checkout-", "annotations": {"secret": "x", "karpenter.sh/do-not-disrupt": "true"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": "checkout"}]},
                "spec": {"nodeName": "ip-10-0-3-17", "affinity": {"namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": "shop"},
                    "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["shop"]}]}},
                    "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}]}}),
            json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "checkout", "namespace": "shop"}}),
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "shop"}}),
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-1"}}),
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "csi-1"},
                "spec": {"attacher": "d", "nodeName": "ip-10-0-3-17", "source": {"persistentVolumeName": "pv-1"}}}),
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"}}),
            json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "checkout"},
                "spec": {"template": {"spec": {"nodeClassRef": {"name": "data"}}}}}),
        ];
        redact(&mut items);
        let text = serde_json::to_string(&items).unwrap();
        for gone in [
            "ip-10-0-3-17",
            "checkout-7d9f",
            "secret",
            "generateName",
            "\"namespace\":\"shop\"",
        ] {
            assert!(!text.contains(gone), "{gone} in {text}");
        }
        let node = &items[1]["metadata"]["name"];
        assert_eq!(node, &items[2]["spec"]["nodeName"]);
        assert_eq!(node, &items[1]["metadata"]["labels"][HOSTNAME]);
        let id = format!("kwok://{}", node.as_str().unwrap());
        assert_eq!(items[1]["spec"]["providerID"], id.as_str());
        assert_eq!(items[1]["metadata"]["labels"]["team"], "shop");
        let pod = &items[2];
        assert_eq!(pod["metadata"]["namespace"], items[0]["metadata"]["name"]);
        assert_eq!(
            pod["metadata"]["ownerReferences"][0]["name"],
            items[3]["metadata"]["name"]
        );
        let claim = &pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"];
        assert_eq!(claim, &items[4]["metadata"]["name"]);
        let selector = &pod["spec"]["affinity"]["namespaceSelector"];
        let namespace = &items[0]["metadata"]["name"];
        assert_eq!(&selector["matchLabels"][NAMESPACE], namespace);
        assert_eq!(&selector["matchExpressions"][0]["values"][0], namespace);
        assert_eq!(&items[0]["metadata"]["labels"][NAMESPACE], namespace);
        assert_eq!(
            pod["metadata"]["annotations"],
            json!({"karpenter.sh/do-not-disrupt": "true"})
        );
        let attached = &items[6]["spec"];
        assert_eq!(
            attached["source"]["persistentVolumeName"],
            items[5]["metadata"]["name"]
        );
        assert_eq!(&attached["nodeName"], node);
        assert_eq!(attached["attacher"], items[7]["metadata"]["name"]);
        assert_eq!(items[8]["metadata"]["name"], "checkout");
        assert_eq!(
            items[8]["spec"]["template"]["spec"]["nodeClassRef"]["name"],
            "data"
        );
    }
}
