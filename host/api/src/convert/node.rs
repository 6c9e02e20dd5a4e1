//! `v1 Node`.

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_core::ids::{NodeName, ProviderId};
use plimsoll_core::model::{Node, Readiness};
use serde_json::{Map, Value, json};

use super::amounts::amounts_or_none;
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
        ready: readiness(status),
        created: metadata::created(metadata),
        deleting: metadata::deleting(metadata),
        held: metadata::held(metadata),
    })
}

fn readiness(status: Option<&k8s::NodeStatus>) -> Readiness {
    let conditions = status.and_then(|status| status.conditions.as_deref());
    let ready = conditions
        .unwrap_or_default()
        .iter()
        .find(|condition| condition.type_ == "Ready");
    match ready.map(|condition| condition.status.as_str()) {
        Some("True") => Readiness::Ready,
        Some("False") => Readiness::NotReady,
        _ => Readiness::Unknown,
    }
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
    let ready = match node.ready {
        Readiness::Ready => "True",
        Readiness::NotReady => "False",
        Readiness::Unknown => "Unknown",
    };
    let status = json!({
        "capacity": write::amounts(&node.capacity),
        "allocatable": write::amounts(&node.allocatable),
        "conditions": [{"type": "Ready", "status": ready}],
    });
    write::framed(
        Kind::Node,
        Value::Object(meta),
        json!({"spec": spec, "status": status}),
    )
}
