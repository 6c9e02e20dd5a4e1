//! `v1 Node`.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_base::ids::{NodeName, ProviderId};
use plimsoll_base::time::Timestamp;
use plimsoll_model::{Condition, ConditionStatus, Node, NodeConditions};
use serde_json::{Map, Value, json};

use super::amounts::amounts_or_none;
use super::condition::condition_value;
use super::{metadata, taint};
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::object::Kind;
use crate::write;

/// A node. Where the status gives no allocatable, capacity stands in for it, as the kubelet reports it.
pub fn node(written: &k8s::Node, interner: &mut Interner) -> Result<Node, FieldError> {
    let metadata = &written.metadata;
    let spec = written.spec.as_ref();
    let status = written.status.as_ref();
    let capacity = amounts_or_none(status.and_then(|s| s.capacity.as_ref()), interner)
        .within("status.capacity")?;
    let allocatable = match status.and_then(|s| s.allocatable.as_ref()) {
        None => capacity.clone(),
        list => amounts_or_none(list, interner).within("status.allocatable")?,
    };
    let taints = spec
        .and_then(|spec| spec.taints.as_deref())
        .unwrap_or_default();
    let created = metadata::created(metadata);
    let said = status.and_then(|status| status.conditions.as_deref());
    let said = said.unwrap_or_default();
    Ok(Node {
        name: NodeName::from(interner.text(metadata::name(metadata)?)),
        uid: metadata::uid(metadata),
        provider_id: spec
            .and_then(|spec| spec.provider_id.as_deref())
            .filter(|id| !id.is_empty())
            .map(ProviderId::from),
        labels: metadata::labels(metadata, interner),
        annotations: metadata::annotations(metadata, interner),
        taints: taint::of_node(taints, interner).within("spec.taints")?,
        capacity,
        allocatable,
        features: features(status, interner),
        conditions: conditions(said, created, interner),
        created,
        deleting: metadata::deleting(metadata),
        held: metadata::held(metadata),
    })
}

fn features(status: Option<&k8s::NodeStatus>, interner: &mut Interner) -> Vec<Arc<str>> {
    let declared = status.and_then(|status| status.declared_features.as_ref());
    let names = declared.into_iter().flatten();
    let mut result: Vec<Arc<str>> = names.map(|name| interner.text(name)).collect();
    result.sort_unstable();
    result.dedup();
    result
}

/// Conditions of every type. One without a time holds since the node's creation.
fn conditions(
    written: &[k8s::NodeCondition],
    created: Timestamp,
    interner: &mut Interner,
) -> NodeConditions {
    let each = written.iter().map(|own| {
        let since = own.last_transition_time.as_ref();
        let condition = Condition {
            status: ConditionStatus::parse(&own.status),
            reason: interner.text(own.reason.as_deref().unwrap_or_default()),
            message: Arc::from(own.message.as_deref().unwrap_or_default()),
            since: since.map_or(created, metadata::instant),
            generation: None,
        };
        (interner.text(&own.type_), condition)
    });
    each.collect()
}

/// A node as it is written.
pub(crate) fn to_value(node: &Node) -> Value {
    let mut meta = write::metadata(node.name.as_str(), Some(&node.uid), node.created);
    write::put(&mut meta, "labels", write::map(&node.labels));
    write::put(&mut meta, "annotations", write::map(&node.annotations));
    write::held(&mut meta, node.held);
    write::deleting(&mut meta, node.deleting);
    let mut spec = Map::new();
    write::put(&mut spec, "taints", write::taints(&node.taints));
    if let Some(id) = &node.provider_id {
        spec.insert("providerID".to_owned(), id.as_str().into());
    }
    let conditions = node.conditions.iter();
    let conditions: Vec<Value> = conditions
        .map(|(kind, own)| condition_value(kind, own))
        .collect();
    let mut status = Map::new();
    status.insert("capacity".to_owned(), write::amounts(&node.capacity));
    status.insert("allocatable".to_owned(), write::amounts(&node.allocatable));
    write::put(&mut status, "declaredFeatures", json!(node.features));
    status.insert("conditions".to_owned(), conditions.into());
    write::framed(
        Kind::Node,
        Value::Object(meta),
        json!({"spec": spec, "status": status}),
    )
}

#[cfg(test)]
mod tests {
    use plimsoll_model::Readiness;

    use super::*;

    #[test]
    fn conditions_of_every_type_are_read_and_written() {
        let written = json!({
            "metadata": {"name": "n1", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"declaredFeatures": ["B", "A"], "conditions": [
                {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "no network",
                 "lastHeartbeatTime": "2026-01-03T00:00:00Z", "lastTransitionTime": "2026-01-02T00:00:00Z"},
                {"type": "example.com/Gpu", "status": "sideways"},
            ]},
        });
        let read = |value: Value| {
            let written: k8s::Node = serde_json::from_value(value).expect("a node");
            node(&written, &mut Interner::default()).expect("it is read")
        };
        let seen = read(written);
        assert_eq!(seen.readiness(), Readiness::NotReady);
        assert_eq!(seen.features, ["A".into(), "B".into()]);
        let ready = seen.conditions.get("Ready").expect("it is said");
        assert_eq!(
            (&*ready.reason, &*ready.message),
            ("KubeletNotReady", "no network")
        );
        assert_eq!(ready.since.millis(), 1_767_312_000_000);
        let gpu = seen.conditions.get("example.com/Gpu").expect("it is said");
        assert_eq!(
            (gpu.status, gpu.since),
            (ConditionStatus::Unknown, seen.created)
        );
        assert_eq!(read(to_value(&seen)), seen);
    }
}
