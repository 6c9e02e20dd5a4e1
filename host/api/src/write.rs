//! The core's model back as the API writes it: the parts that a file and a server have in common.
//!
//! What is written here is read back as the same value by [`crate::convert`].

use std::sync::Arc;

use k8s_openapi::jiff;
use plimsoll_core::labels::Labels;
use plimsoll_core::model::{ClassRef, NodeClaim, Taint};
use plimsoll_core::requirement::Requirement;
use plimsoll_core::resources::{ResourceName, Resources};
use plimsoll_core::time::{Span, Timestamp};
use serde_json::{Value, json};

use crate::duration;

/// An instant, such as `2026-01-31T09:00:00Z`; the epoch for one that no calendar has.
pub fn instant(instant: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(instant.millis()).map_or_else(
        |_| String::from("1970-01-01T00:00:00Z"),
        |instant| instant.to_string(),
    )
}

/// Labels or annotations.
pub fn map(labels: &Labels) -> Value {
    let one = |(key, value): (&Arc<str>, &Arc<str>)| (key.to_string(), Value::from(value.as_ref()));
    Value::Object(labels.iter().map(one).collect())
}

/// An amount as a quantity.
pub fn quantity(name: &ResourceName, amount: i64) -> String {
    match name {
        ResourceName::Cpu => format!("{amount}m"),
        _ => amount.to_string(),
    }
}

/// Amounts as quantities.
pub fn amounts(resources: &Resources) -> Value {
    let one = |(name, amount)| (ToString::to_string(name), quantity(name, amount).into());
    Value::Object(resources.iter().map(one).collect())
}

/// Expressions of one requirement.
pub fn expressions(requirement: &Requirement) -> Vec<Value> {
    let one = |(operator, values): (_, Vec<Arc<str>>)| {
        let mut entry = json!({
            "key": requirement.key().as_str(),
            "operator": format!("{operator:?}"),
            "values": values,
        });
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

/// The specification of a claim.
pub fn claim_spec(claim: &NodeClaim) -> Value {
    let mut spec = json!({
        "nodeClassRef": class(&claim.class),
        "requirements": all_expressions(claim.requirements.iter()),
        "resources": {"requests": amounts(&claim.requests)},
        "taints": taints(&claim.taints),
        "startupTaints": taints(&claim.startup_taints),
        "expireAfter": or_never(claim.expire_after),
    });
    if let Some(grace) = claim.termination_grace {
        spec["terminationGracePeriod"] = duration::write(grace).into();
    }
    spec
}
