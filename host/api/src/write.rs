//! Parts of objects as the API writes them, which kinds, plans and requests have in common.
//!
//! What is written here is read back as the same value by [`crate::convert`].

use std::sync::Arc;

use k8s_openapi::jiff;
use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::labels::Labels;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{ClassRef, NodeClaim, PodSpec, Taint};
use serde_json::{Map, Value, json};

use crate::convert::pod::write_spec;
use crate::duration;
use crate::keys;
use crate::object::Kind;

/// An instant, such as `2026-01-31T09:00:00Z`; the first or last of the calendar, which ends with year 9999, for one beyond it.
pub fn instant(instant: Timestamp) -> String {
    let millis = instant.millis();
    let known = jiff::Timestamp::from_millisecond(millis).unwrap_or(if millis < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    });
    known.to_string()
}

/// Labels or annotations.
pub fn map(labels: &Labels) -> Value {
    let one = |(key, value): (&Arc<str>, &Arc<str>)| (key.to_string(), Value::from(value.as_ref()));
    Value::Object(labels.iter().map(one).collect())
}

/// Suffixes of whole powers of two, the largest first.
const BINARY: [(&str, u32); 6] = [
    ("Ei", 60),
    ("Pi", 50),
    ("Ti", 40),
    ("Gi", 30),
    ("Mi", 20),
    ("Ki", 10),
];

/// Suffixes of whole powers of a thousand, the largest first.
const DECIMAL: [(&str, u32); 6] = [
    ("E", 18),
    ("P", 15),
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("k", 3),
];

/// An amount as a quantity in its shortest exact form, as an API server and every client in Go write it: `2`, `250m`, `1536Mi`, `5G`.
pub fn quantity(name: &ResourceName, amount: i64) -> String {
    match name {
        ResourceName::Cpu if amount % 1000 == 0 => decimal(amount / 1000),
        ResourceName::Cpu => format!("{amount}m"),
        ResourceName::Memory | ResourceName::EphemeralStorage => bytes(amount),
        _ => decimal(amount),
    }
}

fn bytes(amount: i64) -> String {
    let exact = |(_, power): &&(&str, u32)| amount != 0 && amount % (1_i64 << power) == 0;
    match BINARY.iter().find(exact) {
        Some((suffix, power)) => format!("{}{suffix}", amount >> power),
        None => decimal(amount),
    }
}

fn decimal(amount: i64) -> String {
    let exact = |(_, power): &&(&str, u32)| amount != 0 && amount % 10_i64.pow(*power) == 0;
    match DECIMAL.iter().find(exact) {
        Some((suffix, power)) => format!("{}{suffix}", amount / 10_i64.pow(*power)),
        None => amount.to_string(),
    }
}

/// Amounts as quantities.
pub fn amounts(resources: &Resources) -> Value {
    let one = |(name, amount)| (ToString::to_string(name), quantity(name, amount).into());
    Value::Object(resources.iter().map(one).collect())
}

/// Expressions of one requirement. One that compares with nothing has no values.
pub fn expressions(requirement: &Requirement) -> Vec<Value> {
    let one = |(operator, values): (_, Vec<Arc<str>>)| {
        let mut entry = json!({
            "key": requirement.key().as_str(),
            "operator": format!("{operator:?}"),
        });
        if !values.is_empty() {
            entry["values"] = json!(values);
        }
        if let Some(count) = requirement.min_values() {
            entry["minValues"] = count.into();
        }
        entry
    };
    requirement.to_expressions().into_iter().map(one).collect()
}

/// Expressions of many requirements.
pub fn all_expressions<'a>(requirements: impl IntoIterator<Item = &'a Requirement>) -> Value {
    Value::Array(requirements.into_iter().flat_map(expressions).collect())
}

/// Taints. One without a value has no such field: the API takes no empty one.
pub fn taints(taints: &[Taint]) -> Value {
    let one = |taint: &Taint| {
        let mut entry = json!({"key": taint.key, "effect": taint.effect.to_string()});
        if !taint.value.is_empty() {
            entry["value"] = taint.value.as_ref().into();
        }
        entry
    };
    Value::Array(taints.iter().map(one).collect())
}

/// The reference to a provider's class.
pub fn class(class: &ClassRef) -> Value {
    json!({"group": class.group, "kind": class.kind, "name": class.name})
}

/// A duration, `Never` for none.
pub fn or_never(span: Option<Span>) -> String {
    span.map_or_else(|| "Never".to_owned(), duration::write)
}

/// The specification of a claim. It may never change, so it is written as a client in Go writes what it has read: no empty lists, and amounts
/// and durations in the form that it gives them. Any other makes each of its updates of the claim, be it of a label, a change that is refused.
pub fn claim_spec(claim: &NodeClaim) -> Value {
    let mut resources = json!({});
    if !claim.requests.is_empty() {
        resources["requests"] = amounts(&claim.requests);
    }
    let mut spec = json!({
        "nodeClassRef": class(&claim.class),
        "requirements": all_expressions(claim.requirements.iter()),
        "resources": resources,
        "expireAfter": or_never(claim.expire_after),
    });
    for (field, own) in [
        ("taints", &claim.taints),
        ("startupTaints", &claim.startup_taints),
    ] {
        if !own.is_empty() {
            spec[field] = taints(own);
        }
    }
    if let Some(grace) = claim.termination_grace {
        spec["terminationGracePeriod"] = duration::write_whole(grace).into();
    }
    spec
}

/// A NodeClaim as it is created. Deleting its pool deletes it.
pub fn new_claim(claim: &NodeClaim, pool: &Uid) -> Value {
    json!({
        "apiVersion": Kind::NodeClaim.api_version(),
        "kind": Kind::NodeClaim.as_str(),
        "metadata": {
            "name": claim.name.as_str(),
            "labels": map(&claim.labels),
            "annotations": map(&claim.annotations),
            "finalizers": [keys::FINALIZER],
            "ownerReferences": [{
                "apiVersion": Kind::NodePool.api_version(),
                "kind": Kind::NodePool.as_str(),
                "name": claim.pool.as_str(),
                "uid": pool.as_str(),
                "blockOwnerDeletion": true,
            }],
        },
        "spec": claim_spec(claim),
    })
}

/// The pod template of a workload that keeps replicas.
pub fn pod_template(labels: &Labels, pods: &PodSpec) -> Value {
    let mut meta = Map::new();
    put(&mut meta, "labels", map(labels));
    json!({ "metadata": meta, "spec": write_spec(pods) })
}

/// An object's frame: version, kind, metadata and the fields given.
pub(crate) fn framed(kind: Kind, metadata: Value, fields: Value) -> Value {
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), kind.api_version().into());
    object.insert("kind".to_owned(), kind.as_str().into());
    object.insert("metadata".to_owned(), metadata);
    if let Value::Object(fields) = fields {
        object.extend(fields);
    }
    Value::Object(object)
}

/// Metadata of a cluster-wide object.
pub(crate) fn metadata(name: &str, uid: Option<&Uid>, created: Timestamp) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), name.into());
    if let Some(uid) = uid {
        metadata.insert("uid".to_owned(), uid.as_str().into());
    }
    if created != Timestamp::default() {
        metadata.insert("creationTimestamp".to_owned(), instant(created).into());
    }
    metadata
}

/// Metadata of a namespaced object.
pub(crate) fn namespaced(
    name: &ObjectName,
    uid: Option<&Uid>,
    created: Timestamp,
) -> Map<String, Value> {
    let mut metadata = metadata(&name.name, uid, created);
    metadata.insert("namespace".to_owned(), name.namespace.as_ref().into());
    metadata
}

/// Adds a field unless it is empty.
pub(crate) fn put(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let is_empty = match &value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if !is_empty {
        fields.insert(name.to_owned(), value);
    }
}

/// Adds the object's generation where it has one.
pub(crate) fn generation(metadata: &mut Map<String, Value>, generation: i64) {
    if generation != 0 {
        metadata.insert("generation".to_owned(), generation.into());
    }
}

/// Adds our finalizer where the object carries it.
pub(crate) fn held(metadata: &mut Map<String, Value>, held: bool) {
    if held {
        metadata.insert("finalizers".to_owned(), [keys::FINALIZER][..].into());
    }
}

/// Adds since when the object has been asked to go.
pub(crate) fn deleting(metadata: &mut Map<String, Value>, deleting: Option<Timestamp>) {
    if let Some(at) = deleting {
        metadata.insert("deletionTimestamp".to_owned(), instant(at).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_short_and_exact() {
        let written = |name: &str, amount| quantity(&ResourceName::from(name), amount);
        assert_eq!(written("cpu", 2000), "2");
        assert_eq!(written("cpu", 1930), "1930m");
        assert_eq!(written("memory", 1 << 30), "1Gi");
        assert_eq!(written("memory", 1536 << 20), "1536Mi");
        assert_eq!(written("memory", 1_000_000_001), "1000000001");
        assert_eq!(written("memory", 5_000_000_000), "5G");
        assert_eq!(written("memory", 1_024_000), "1000Ki");
        assert_eq!(written("cpu", 1_500_000), "1500");
        assert_eq!(written("cpu", 2_000_000), "2k");
        assert_eq!(written("pods", 1024), "1024");
        let mut amount: i64 = 1;
        while amount < i64::MAX / 3 {
            for name in [
                "cpu",
                "memory",
                "ephemeral-storage",
                "pods",
                "nvidia.com/gpu",
            ] {
                for amount in [0, amount, amount << 1, amount * 3 / 2] {
                    let name = ResourceName::from(name);
                    let read = name.parse_amount(&quantity(&name, amount));
                    assert_eq!(read, Ok(amount), "{name}");
                }
            }
            amount = amount * 3 / 2 + 1;
        }
    }
}
