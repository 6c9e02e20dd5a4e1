//! Objects and calls of a run in a form that can be held beside those of another: paths and the values found there, without what is another in
//! every run (times, random names, ids), and with what depends on the instance type kept by type.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_cloud_nodes::{node_config, node_labels};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Values by subject, such as `NodeClaim`, and path. Subjects of a type, such as `NodeClaim of m5.large`, are there for types that were bought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows(pub BTreeMap<String, BTreeMap<String, BTreeSet<String>>>);

/// Between a subject and the type it is of.
pub(super) const OF: &str = " of ";

/// Fields that are another in every run, or another at every moment, wherever they stand.
const DROPPED: [&str; 14] = [
    "ClientToken",
    "creationTimestamp",
    "generateName",
    "generation",
    "heartbeatTime",
    "lastPodEventTime",
    "lastTransitionTime",
    "lastUpdated",
    "managedFields",
    "message",
    "observedGeneration",
    "resourceVersion",
    "startTime",
    "uid",
];

/// Fields by which elements of a list are known, the first that an element has.
const NAMES: [&str; 7] = [
    "type",
    "key",
    "Key",
    "ResourceType",
    "DeviceName",
    "kind",
    "Name",
];

/// Ends of paths whose values depend on the choice of an offering, or on how pods were packed, and words for them.
const CHOSEN: [(&str, &str); 18] = [
    (".providerID", "<instance>"),
    (".InstanceType", "<type>"),
    (".SubnetId", "<subnet>"),
    (".AvailabilityZone", "<zone>"),
    (".Priority", "<price>"),
    (".TotalTargetCapacity", "<count>"),
    (".LaunchTemplateName", "<template>"),
    (".IamInstanceProfile.Name", "<profile>"),
    (".instanceProfile", "<profile>"),
    (".profile", "<profile>"),
    ("karpenter.k8s.aws/instance-profile-name", "<profile>"),
    ("topology.kubernetes.io/zone", "<zone>"),
    ("topology.k8s.aws/zone-id", "<zone>"),
    ("topology.kubernetes.io/zone].values", "<zones>"),
    ("node.kubernetes.io/instance-type].values", "<types>"),
    ("kubernetes.io/hostname", "<node>"),
    (".zone", "<zone>"),
    (".status.nodes", "<count>"),
];

/// Parts of paths behind which stands what the instance type decides.
const OF_TYPE: [&str; 7] = [
    ".labels.karpenter.k8s.aws/instance-",
    ".labels.node.kubernetes.io/instance-type",
    ".status.capacity.",
    ".status.allocatable.",
    ".kubelet.config.maxPods",
    ".kubelet.config.kubeReserved.",
    ".image",
];

/// Parts of paths behind which stands what pods add up to.
const PACKED: [&str; 2] = [".resources.requests.", ".status.resources."];

/// Names that were given at random, and words for them.
pub(super) type Names = BTreeMap<String, &'static str>;

impl Rows {
    /// Adds an object under a subject, and what its type decides under the subject of that type.
    pub(super) fn add(
        &mut self,
        subject: &str,
        of_type: Option<&str>,
        object: &Value,
        names: &Names,
    ) {
        let mut leaves = Vec::new();
        flatten(String::new(), object, &mut leaves);
        for (path, text) in leaves {
            let text = masked(&text, names);
            if OF_TYPE.iter().any(|part| path.contains(part)) {
                if let Some(own) = of_type {
                    self.put(&format!("{subject}{OF}{own}"), &path, text);
                }
                self.put(subject, &path, "<of its type>".to_owned());
                continue;
            }
            let chosen = CHOSEN.iter().find(|(end, _)| path.ends_with(end));
            let text = match chosen {
                Some((_, word)) => (*word).to_owned(),
                None if PACKED.iter().any(|part| path.contains(part)) => "<amount>".to_owned(),
                None => text,
            };
            self.put(subject, &path, text);
        }
    }

    /// Adds one value.
    pub(super) fn put(&mut self, subject: &str, path: &str, value: String) {
        let paths = self.0.entry(subject.to_owned()).or_default();
        let path = path.trim_start_matches('.').to_owned();
        paths.entry(path).or_default().insert(value);
    }
}

/// Paths and values of a tree. Elements of lists are known by their name, where they have one; lists of plain values are one value.
fn flatten(path: String, value: &Value, leaves: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (key, value) in fields {
                if !DROPPED.contains(&key.as_str()) {
                    flatten(format!("{path}.{key}"), value, leaves);
                }
            }
        }
        Value::Array(elements) if elements.iter().any(Value::is_object) => {
            for element in elements {
                let (name, rest) = named(element);
                let own = format!("{path}[{name}]");
                let is_all = rest.as_object().is_some_and(Map::is_empty);
                if is_all {
                    leaves.push((own, "there".to_owned()));
                } else {
                    flatten(own, &rest, leaves);
                }
            }
        }
        Value::Array(elements) => {
            let texts: BTreeSet<String> = elements.iter().map(text).collect();
            let texts: Vec<String> = texts.into_iter().collect();
            leaves.push((path, format!("[{}]", texts.join(", "))));
        }
        plain => leaves.push((path, text(plain))),
    }
}

/// The name of an element of a list, and the element without it.
fn named(element: &Value) -> (String, Value) {
    let name = NAMES.iter().find(|name| element[**name].is_string());
    let Some((name, fields)) = name.zip(element.as_object()) else {
        return (String::new(), element.clone());
    };
    let mut rest = fields.clone();
    let own = rest.remove(*name).unwrap_or_default();
    (text(&own), rest.into())
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value without random names and ids.
fn masked(text: &str, names: &Names) -> String {
    if let Some(word) = names.get(text) {
        return (*word).to_owned();
    }
    let ids = [
        ("i-", "<instance>"),
        ("lt-", "<template id>"),
        ("fleet-", "<fleet>"),
    ];
    for (begin, word) in ids {
        let rest = text.strip_prefix(begin).unwrap_or_default();
        let is_id = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        if rest.len() >= 17 && rest.chars().all(is_id) {
            return word.to_owned();
        }
    }
    text.to_owned()
}

/// The content of a launch template, with its user data read.
pub(super) fn template(data: &Value) -> Value {
    let mut data = data.clone();
    if let Some(encoded) = data["UserData"].as_str().map(str::to_owned) {
        data["UserData"] = match node_config(&encoded) {
            Some(config) => json!({"NodeConfig": with_labels(config)}),
            None => json!({"other": encoded}),
        };
    }
    data
}

/// A `NodeConfig` with the labels of its flags as fields.
fn with_labels(mut config: Value) -> Value {
    let labels: Map<String, Value> = node_labels(&config)
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.into()))
        .collect();
    let kubelet = &mut config["spec"]["kubelet"];
    if let Some(flags) = kubelet["flags"].as_array_mut() {
        let is_label = |flag: &Value| {
            let flag = flag.as_str().unwrap_or_default();
            flag.starts_with("--node-labels=")
        };
        flags.retain(|flag| !is_label(flag));
    }
    kubelet["labels"] = labels.into();
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of_type: Option<&str>, object: &Value) -> Vec<String> {
        let names = Names::from([("general-x7x".to_owned(), "<claim>")]);
        let mut rows = Rows::default();
        rows.add("Kind", of_type, object, &names);
        let subjects = rows.0.into_iter();
        let lines = subjects.flat_map(|(subject, paths)| {
            let line = move |(path, values): (String, BTreeSet<String>)| {
                let values: Vec<String> = values.into_iter().collect();
                format!("{subject} {path} = {}", values.join(" | "))
            };
            paths.into_iter().map(line)
        });
        lines.collect()
    }

    #[test]
    fn times_and_random_names_are_left_out_and_the_rest_is_kept() {
        let object = json!({
            "metadata": {"uid": "1", "labels": {"team": "shop"}, "finalizers": ["b", "a"]},
            "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}, {"key": "y", "effect": "NoExecute"}]},
            "status": {
                "nodeName": "general-x7x", "providerID": "aws:///us-east-1a/i-1",
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "now", "message": "m"}],
            },
        });
        let expected = [
            "Kind metadata.finalizers = [a, b]",
            "Kind metadata.labels.team = shop",
            "Kind spec.taints[x].effect = NoSchedule",
            "Kind spec.taints[y].effect = NoExecute",
            "Kind status.conditions[Ready].status = True",
            "Kind status.nodeName = <claim>",
            "Kind status.providerID = <instance>",
        ];
        assert_eq!(rows(None, &object), expected);
    }

    #[test]
    fn what_a_type_decides_is_kept_by_type() {
        let object = json!({"status": {"capacity": {"cpu": "2"}}});
        let expected = [
            "Kind status.capacity.cpu = <of its type>",
            "Kind of m5.large status.capacity.cpu = 2",
        ];
        assert_eq!(rows(Some("m5.large"), &object), expected);
        assert_eq!(rows(None, &object), expected[..1]);
    }

    #[test]
    fn elements_are_known_by_their_names_and_plain_lists_are_sorted() {
        let object = json!({"TagSpecification": [
            {"ResourceType": "instance", "Tag": [{"Key": "a", "Value": "lt-00000000000000001"}]},
            {"ResourceType": "volume"},
        ], "Overrides": [{"Zone": "b"}, {"Zone": "a"}], "ids": []});
        let expected = [
            "Kind Overrides[].Zone = a | b",
            "Kind TagSpecification[instance].Tag[a].Value = <template id>",
            "Kind TagSpecification[volume] = there",
            "Kind ids = []",
        ];
        assert_eq!(rows(None, &object), expected);
    }

    #[test]
    fn labels_of_a_nodes_flags_are_fields() {
        let config =
            json!({"spec": {"kubelet": {"flags": ["--node-labels=\"a=1,b=2\"", "--v=2"]}}});
        let expected =
            json!({"spec": {"kubelet": {"flags": ["--v=2"], "labels": {"a": "1", "b": "2"}}}});
        assert_eq!(with_labels(config), expected);
    }
}
