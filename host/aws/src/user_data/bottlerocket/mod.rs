//! User data of Bottlerocket: one TOML document, the class's own settings with those by which the node joins as it was planned.
//!
//! | the class's own | in the document |
//! |---|---|
//! | tables beside `kubernetes`, such as `settings.ntp` | as they are written |
//! | the cluster's name, endpoint and certificate | those of the cluster; another value is refused |
//! | `max-pods` | the number that the node was planned with; one that `spec.kubelet` does not say is refused |
//! | `node-labels` | merged by key; those of the claim win, as with Karpenter |
//! | `node-taints` | refused, where Karpenter drops them: pods are planned by the taints of NodePools |
//! | a setting that `spec.kubelet` has, too | merged by key; another value for the same key is refused, where Karpenter drops the class's table |
//! | other settings of `kubernetes` | as they are written; those that Karpenter drops are refused |
//!
//! Written settings are in the order of their names, since templates are named after their content.

mod class_settings;
mod kubelet;

use toml::{Table, Value};

use super::{ClusterAccess, NodeSetup, UserDataError};
use class_settings::class_settings;
use kubelet::{KubeletSetting, kubelet_settings};

/// Bootstrap command that joins local disks.
const LOCAL_DISKS: &str = "000-mount-instance-storage";
/// Folders of a node that pods fill, and that belong on local disks.
const FOLDERS: [&str; 3] = ["/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"];

/// The document. Fails with all that the class's own settings would lose.
pub(super) fn text(cluster: &ClusterAccess, node: &NodeSetup) -> Result<String, UserDataError> {
    let mut settings = class_settings(node.custom.as_deref().unwrap_or_default())?;
    let mut faults = Vec::new();
    let mut kubernetes = table(settings.remove("kubernetes"));
    join_cluster(&mut kubernetes, cluster, &mut faults);
    for setting in kubelet_settings(node) {
        put(&mut kubernetes, setting, &mut faults);
    }
    labels(&mut kubernetes, node);
    taints(&mut kubernetes, node, &mut faults);
    settings.insert("kubernetes".to_owned(), kubernetes.into());
    if node.joins_local_disks {
        join_local_disks(&mut settings, node, &mut faults);
    }
    if !faults.is_empty() {
        return Err(UserDataError::Settings(faults));
    }
    let document = Table::from_iter([("settings".to_owned(), sorted(settings.into()))]);
    let text = toml::to_string(&document);
    Ok(text.expect("tables of plain values are written as TOML"))
}

/// The table that a value is; an empty one where there is none. Other forms were refused before.
fn table(value: Option<Value>) -> Table {
    match value {
        Some(Value::Table(table)) => table,
        _ => Table::new(),
    }
}

/// Cluster's name, endpoint and certificate. The class's own stay where the cluster's are not known.
fn join_cluster(kubernetes: &mut Table, cluster: &ClusterAccess, faults: &mut Vec<String>) {
    for (key, value) in [
        ("api-server", &cluster.endpoint),
        ("cluster-certificate", &cluster.ca_bundle),
        ("cluster-name", &cluster.name),
    ] {
        let own = kubernetes.get(key).and_then(Value::as_str);
        match own {
            _ if value.is_empty() => {}
            Some(own) if own != value => faults.push(format!(
                "settings.kubernetes.{key} is {}; expected none, or that of the cluster, {}",
                shown(&own.into()),
                shown(&value.as_str().into())
            )),
            _ => {
                kubernetes.insert(key.to_owned(), value.as_str().into());
            }
        }
    }
}

/// Puts a setting where the class's own has room for it; a fault where one of the two would be lost.
fn put(kubernetes: &mut Table, setting: KubeletSetting, faults: &mut Vec<String>) {
    let KubeletSetting {
        key,
        field,
        value,
        class_says,
    } = setting;
    let path = format!("settings.kubernetes.{key}");
    match (kubernetes.get_mut(key), value) {
        (None, value) => {
            kubernetes.insert(key.to_owned(), value);
        }
        (Some(Value::Table(own)), Value::Table(entries)) => {
            let said = class_says.as_ref().and_then(Value::as_table);
            for (name, entry) in entries {
                let said = said.and_then(|said| said.get(&name));
                let contradicts =
                    |own: &Value| *own != entry && said.is_some_and(|said| said != own);
                match own.get(&name) {
                    Some(kept) if contradicts(kept) => faults.push(twice(
                        &format!("{path}.{name}"),
                        kept,
                        &format!("{field}.{name}"),
                        &entry,
                    )),
                    Some(_) => {}
                    None => {
                        own.insert(name, entry);
                    }
                }
            }
        }
        (Some(own), value) => match class_says {
            Some(_) if *own != value => {
                faults.push(twice(&path, own, field, &value));
            }
            None if key == "max-pods" => faults.push(format!(
                "{path} is {}; expected it in spec.kubelet.maxPods, by which nodes are planned",
                shown(own)
            )),
            _ => {}
        },
    }
}

/// A setting that the class has twice, with two values.
fn twice(path: &str, own: &Value, field: &str, value: &Value) -> String {
    format!(
        "{path} is {} and spec.kubelet.{field} is {}; expected the same value, or only one of them",
        shown(own),
        shown(value)
    )
}

fn labels(kubernetes: &mut Table, node: &NodeSetup) {
    let own = super::labels::allowed(&node.labels);
    let own = own.map(|(key, value)| (key.to_owned(), Value::from(value)));
    let mut all = table(kubernetes.remove("node-labels"));
    all.extend(own);
    if !all.is_empty() {
        kubernetes.insert("node-labels".to_owned(), all.into());
    }
}

/// Values and effects of taints by key.
fn taints(kubernetes: &mut Table, node: &NodeSetup, faults: &mut Vec<String>) {
    for key in table(kubernetes.remove("node-taints")).keys() {
        faults.push(format!(
            "settings.kubernetes.node-taints has \"{key}\"; expected it in taints or startupTaints of the NodePool, by which pods are scheduled"
        ));
    }
    let mut all = Table::new();
    for taint in &node.taints {
        let entry = format!("{}:{}", taint.value, taint.effect);
        let of_key = all.entry(taint.key.to_string());
        let of_key = of_key.or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(entries) = of_key {
            entries.push(entry.into());
        }
    }
    if !all.is_empty() {
        kubernetes.insert("node-taints".to_owned(), all.into());
    }
}

/// Joins local disks at every boot, before kubelet starts.
fn join_local_disks(settings: &mut Table, node: &NodeSetup, faults: &mut Vec<String>) {
    let words = |words: &[&str]| Value::Array(words.iter().map(|word| (*word).into()).collect());
    let begin = ["apiclient", "ephemeral-storage"];
    let mut bind = [&begin[..], &["bind"]].concat();
    if !node.release.knows_folders() {
        bind.push("--dirs");
        bind.extend(FOLDERS);
    }
    let init = [&begin[..], &["init"]].concat();
    let command = Table::from_iter([
        (
            "commands".to_owned(),
            Value::Array(vec![words(&init), words(&bind)]),
        ),
        ("mode".to_owned(), "always".into()),
        ("essential".to_owned(), true.into()),
    ]);
    let command = Value::Table(command);
    let mut commands = table(settings.remove("bootstrap-commands"));
    match commands.get(LOCAL_DISKS) {
        Some(own) if *own != command => faults.push(format!(
            "settings.bootstrap-commands.{LOCAL_DISKS} differs from the one that spec.instanceStorePolicy RAID0 writes; expected only one of them"
        )),
        _ => {
            commands.insert(LOCAL_DISKS.to_owned(), command);
        }
    }
    settings.insert("bootstrap-commands".to_owned(), commands.into());
}

/// A value with its tables in the order of their keys, whatever order the parser keeps.
fn sorted(value: Value) -> Value {
    match value {
        Value::Table(table) => {
            let mut entries: Vec<_> = table.into_iter().collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            let entries = entries.into_iter();
            Value::Table(entries.map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// A value as a sentence shows it; long ones are cut.
fn shown(value: &Value) -> String {
    cut(&value.to_string())
}

/// Text of at most 60 letters.
fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
