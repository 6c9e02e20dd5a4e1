//! `karpenter.sh/v1 NodeClaim`.

use plimsoll_base::ids::{ClaimName, NodeName, PoolName, ProviderId};
use plimsoll_base::labels;
use plimsoll_model::NodeClaim;
use serde_json::{Value, json};

use super::amounts::amounts;
use super::{condition, metadata, pool, requirement, taint, unread};
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::keys;
use crate::kinds::{self, NodeClaimStatus};
use crate::object::Kind;
use crate::write;

/// A claim. Its pool is named by its label, or else by its owner; one that names none stands alone.
pub(crate) fn node_claim(
    written: &kinds::NodeClaim,
    interner: &mut Interner,
) -> Result<NodeClaim, FieldError> {
    let (metadata, spec) = (&written.metadata, &written.spec);
    let nothing = NodeClaimStatus::default();
    let status = written.status.as_ref().unwrap_or(&nothing);
    let created = metadata::created(metadata);
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Ok(NodeClaim {
        name: ClaimName::from(interner.text(metadata::name(metadata)?)),
        uid: metadata::uid(metadata),
        pool: pool_name(written, interner),
        class: pool::class(&spec.node_class_ref, interner).within("spec.nodeClassRef")?,
        provider_id: filled(&status.provider_id).map(ProviderId::from),
        node: filled(&status.node_name).map(|name| NodeName::from(interner.text(&name))),
        labels: metadata::labels(metadata, interner),
        annotations: unread::without(interner.map(metadata.annotations.iter().flatten())),
        requirements: requirement::of_pool(&spec.requirements, interner)
            .within("spec.requirements")?
            .into_iter()
            .collect(),
        requests: amounts(&spec.resources.requests, interner).within("spec.resources.requests")?,
        taints: taint::of_template(&spec.taints, interner).within("spec.taints")?,
        startup_taints: taint::of_template(&spec.startup_taints, interner)
            .within("spec.startupTaints")?,
        capacity: amounts(&status.capacity, interner).within("status.capacity")?,
        allocatable: amounts(&status.allocatable, interner).within("status.allocatable")?,
        created,
        conditions: condition::conditions(&status.conditions, created, interner),
        expire_after: pool::expiry(spec.expire_after.as_deref()).within("spec")?,
        termination_grace: pool::grace(spec.termination_grace_period.as_deref()).within("spec")?,
        deleting: metadata::deleting(metadata),
        drained_by: metadata::annotation(metadata, keys::TERMINATION_TIMESTAMP)
            .and_then(metadata::written_instant),
        last_pod_event: status.last_pod_event_time.as_ref().map(metadata::instant),
        held: metadata::held(metadata),
        unread: unread::of(metadata),
    })
}

fn pool_name(written: &kinds::NodeClaim, interner: &mut Interner) -> PoolName {
    let metadata = &written.metadata;
    let label = metadata
        .labels
        .as_ref()
        .and_then(|labels| labels.get(labels::NODEPOOL));
    let owner = || {
        let mut owners = metadata.owner_references.iter().flatten();
        owners
            .find(|owner| owner.kind == "NodePool")
            .map(|owner| &owner.name)
    };
    label
        .or_else(owner)
        .map(|name| PoolName::from(interner.text(name)))
        .unwrap_or_default()
}

/// A claim as it is written; its pool is named by label and owner.
pub(crate) fn to_value(claim: &NodeClaim) -> Value {
    let mut meta = write::metadata(claim.name.as_str(), Some(&claim.uid), claim.created);
    write::put(&mut meta, "labels", write::map(&claim.labels));
    let mut annotations = write::map(&claim.annotations);
    if let Value::Object(fields) = &mut annotations {
        unread::write(&claim.unread, fields);
    }
    write::put(&mut meta, "annotations", annotations);
    write::held(&mut meta, claim.held);
    write::deleting(&mut meta, claim.deleting);
    if !claim.pool.as_str().is_empty() {
        let owner = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": claim.pool.as_str(), "uid": "",
        });
        meta.insert("ownerReferences".to_owned(), json!([owner]));
    }
    let conditions = condition::conditions_value(&claim.conditions);
    if let Some(at) = claim.drained_by {
        let at = write::instant(at).into();
        let annotations = meta.entry("annotations").or_insert_with(|| json!({}));
        annotations[keys::TERMINATION_TIMESTAMP] = at;
    }
    let mut status = json!({
        "providerID": claim.provider_id.as_ref().map(ProviderId::as_str),
        "nodeName": claim.node.as_ref().map(NodeName::as_str),
        "capacity": write::amounts(&claim.capacity),
        "allocatable": write::amounts(&claim.allocatable),
        "conditions": conditions,
    });
    if let Some(at) = claim.last_pod_event {
        status["lastPodEventTime"] = write::instant(at).into();
    }
    write::framed(
        Kind::NodeClaim,
        Value::Object(meta),
        json!({"spec": write::claim_spec(claim), "status": status}),
    )
}
