//! `karpenter.sh/v1 NodeClaim`.

use plimsoll_core::ids::{ClaimName, NodeName, PoolName, ProviderId};
use plimsoll_core::labels;
use plimsoll_core::model::{ClaimPhase, NodeClaim};
use plimsoll_core::time::Timestamp;
use serde_json::{Value, json};

use super::amounts::amounts;
use super::{metadata, pool, requirement, taint};
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::kinds::{self, Condition, NodeClaimStatus};
use crate::object::Kind;
use crate::write;

/// A claim. Its pool is named by its label, or else by its owner.
pub(crate) fn node_claim(
    written: &kinds::NodeClaim,
    interner: &mut Interner,
) -> Result<NodeClaim, FieldError> {
    let (metadata, spec) = (&written.metadata, &written.spec);
    let nothing = NodeClaimStatus::default();
    let status = written.status.as_ref().unwrap_or(&nothing);
    let created = metadata::created(metadata);
    let (phase, phase_since) = phase(&status.conditions, created);
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Ok(NodeClaim {
        name: ClaimName::from(interner.text(metadata::name(metadata)?)),
        uid: metadata::uid(metadata),
        pool: pool_name(written, interner)?,
        class: pool::class(&spec.node_class_ref, interner).within("spec.nodeClassRef")?,
        provider_id: filled(&status.provider_id).map(ProviderId::from),
        node: filled(&status.node_name).map(|name| NodeName::from(interner.text(&name))),
        labels: metadata::labels(metadata, interner),
        annotations: metadata::annotations(metadata, interner),
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
        phase,
        created,
        phase_since,
        expire_after: pool::expiry(spec.expire_after.as_deref()).within("spec")?,
        termination_grace: pool::grace(spec.termination_grace_period.as_deref()).within("spec")?,
        deleting: metadata::deleting(metadata),
        instance_terminating: is_true(&status.conditions, "InstanceTerminating").is_some(),
    })
}

fn pool_name(written: &kinds::NodeClaim, interner: &mut Interner) -> Result<PoolName, FieldError> {
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
        .ok_or_else(|| {
            let expected = "the name of the claim's pool";
            FieldError::missing("metadata.labels[karpenter.sh/nodepool]", expected)
        })
}

/// The condition of a type, when it is true.
fn is_true<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions
        .iter()
        .find(|condition| condition.kind == kind && condition.status == "True")
}

/// The furthest phase reached, and since when. A phase counts only when those before it do.
fn phase(conditions: &[Condition], created: Timestamp) -> (ClaimPhase, Timestamp) {
    let mut reached = (ClaimPhase::Created, created);
    for (kind, phase) in [
        ("Launched", ClaimPhase::Launched),
        ("Registered", ClaimPhase::Registered),
        ("Initialized", ClaimPhase::Initialized),
    ] {
        let Some(condition) = is_true(conditions, kind) else {
            break;
        };
        let since = condition.last_transition_time.as_ref();
        reached = (phase, since.map_or(reached.1, metadata::instant));
    }
    reached
}

/// A claim as it is written; its pool is named by label and owner.
pub(crate) fn to_value(claim: &NodeClaim) -> Value {
    let mut meta = write::metadata(claim.name.as_str(), Some(&claim.uid), claim.created);
    write::put(&mut meta, "labels", write::map(&claim.labels));
    write::put(&mut meta, "annotations", write::map(&claim.annotations));
    write::deleting(&mut meta, claim.deleting);
    let owner = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": claim.pool.as_str(), "uid": "",
    });
    meta.insert("ownerReferences".to_owned(), json!([owner]));
    let since = write::instant(claim.phase_since);
    let reached = |(kind, phase): (&str, ClaimPhase)| {
        (claim.phase >= phase)
            .then(|| json!({"type": kind, "status": "True", "lastTransitionTime": since}))
    };
    let mut conditions: Vec<Value> = [
        ("Launched", ClaimPhase::Launched),
        ("Registered", ClaimPhase::Registered),
        ("Initialized", ClaimPhase::Initialized),
    ]
    .into_iter()
    .filter_map(reached)
    .collect();
    if claim.instance_terminating {
        conditions.push(json!({"type": "InstanceTerminating", "status": "True"}));
    }
    let status = json!({
        "providerID": claim.provider_id.as_ref().map(ProviderId::as_str),
        "nodeName": claim.node.as_ref().map(NodeName::as_str),
        "capacity": write::amounts(&claim.capacity),
        "allocatable": write::amounts(&claim.allocatable),
        "conditions": conditions,
    });
    write::framed(
        Kind::NodeClaim,
        Value::Object(meta),
        json!({"spec": write::claim_spec(claim), "status": status}),
    )
}
