//! Conditions of an object's status: those that we know, both ways.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use plimsoll_base::time::Timestamp;
use plimsoll_model::provider::ClassStatus;
use plimsoll_model::{ConditionStatus, ConditionType};
use serde_json::{Value, json};

use super::metadata;
use crate::intern::Interner;
use crate::kinds::Condition;
use crate::write;

/// The conditions of types that we know. One without a time holds since the object's creation. Messages are not shared: they
/// may be as many as there are conditions.
pub(super) fn conditions(
    written: &[Condition],
    created: Timestamp,
    interner: &mut Interner,
) -> plimsoll_model::Conditions {
    let known = written.iter().filter_map(|written| {
        let kind = ConditionType::parse(&written.kind)?;
        let mut condition = condition(written, created);
        condition.reason = interner.text(&written.reason);
        Some((kind, condition))
    });
    known.collect()
}

/// The same but for `Ready`, which follows from the others.
pub(super) fn conditions_without_ready(
    written: &[Condition],
    created: Timestamp,
    interner: &mut Interner,
) -> plimsoll_model::Conditions {
    let all = conditions(written, created, interner);
    let own = all.iter().filter(|(kind, _)| *kind != ConditionType::Ready);
    own.map(|(kind, own)| (kind, own.clone())).collect()
}

/// Conditions as they are written.
pub(super) fn conditions_value(conditions: &plimsoll_model::Conditions) -> Vec<Value> {
    let each = conditions.iter();
    each.map(|(kind, own)| condition_value(kind.as_str(), own))
        .collect()
}

/// A condition as it is written, of whatever type.
pub fn condition(written: &Condition, created: Timestamp) -> plimsoll_model::Condition {
    let since = written.last_transition_time.as_ref();
    plimsoll_model::Condition {
        status: ConditionStatus::parse(&written.status),
        reason: Arc::from(written.reason.as_str()),
        message: Arc::from(written.message.as_str()),
        since: since.map_or(created, metadata::instant),
        generation: written.observed_generation,
    }
}

/// The word of a provider's class on itself: its generation, whether it goes, and its condition `Ready`.
pub fn class_status(metadata: &ObjectMeta, ready: Option<&Condition>) -> ClassStatus {
    let created = metadata.creation_timestamp.as_ref();
    let created = created.map_or(0, |time| time.0.as_millisecond());
    ClassStatus {
        generation: metadata.generation.unwrap_or_default(),
        deleting: metadata.deletion_timestamp.is_some(),
        ready: ready.map(|ready| condition(ready, Timestamp::from_millis(created))),
    }
}

/// One condition as it is written.
pub fn condition_value(kind: &str, condition: &plimsoll_model::Condition) -> Value {
    let mut value = json!({
        "type": kind,
        "status": condition.status.as_str(),
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": write::instant(condition.since),
    });
    if let Some(generation) = condition.generation {
        value["observedGeneration"] = generation.into();
    }
    value
}
