//! Taints and tolerations.

use k8s_openapi::api::core::v1 as k8s;
use plimsoll_model::{Effect, Taint, Toleration, TolerationOperator};

use super::each;
use crate::error::FieldError;
use crate::intern::Interner;
use crate::kinds::TaintEntry;

const EFFECTS: &str = "NoSchedule, PreferNoSchedule or NoExecute";

fn effect(text: &str) -> Result<Effect, FieldError> {
    match text {
        "NoSchedule" => Ok(Effect::NoSchedule),
        "PreferNoSchedule" => Ok(Effect::PreferNoSchedule),
        "NoExecute" => Ok(Effect::NoExecute),
        other => Err(FieldError::unexpected("effect", other, EFFECTS)),
    }
}

fn taint(
    key: &str,
    value: Option<&str>,
    effect_text: &str,
    interner: &mut Interner,
) -> Result<Taint, FieldError> {
    Ok(Taint {
        key: interner.text(key),
        value: interner.text(value.unwrap_or_default()),
        effect: effect(effect_text)?,
    })
}

/// Taints of a node.
pub(super) fn of_node(
    taints: &[k8s::Taint],
    interner: &mut Interner,
) -> Result<Vec<Taint>, FieldError> {
    each(taints, |entry| {
        taint(&entry.key, entry.value.as_deref(), &entry.effect, interner)
    })
}

/// Taints of a pool or claim.
pub(super) fn of_template(
    taints: &[TaintEntry],
    interner: &mut Interner,
) -> Result<Vec<Taint>, FieldError> {
    each(taints, |entry| {
        taint(&entry.key, entry.value.as_deref(), &entry.effect, interner)
    })
}

/// Tolerations of a pod.
pub(super) fn tolerations(
    entries: &[k8s::Toleration],
    interner: &mut Interner,
) -> Result<Vec<Toleration>, FieldError> {
    each(entries, |entry| toleration(entry, interner))
}

fn toleration(entry: &k8s::Toleration, interner: &mut Interner) -> Result<Toleration, FieldError> {
    let operator = match entry.operator.as_deref() {
        None | Some("" | "Equal") => TolerationOperator::Equal,
        Some("Exists") => TolerationOperator::Exists,
        Some("Lt") => TolerationOperator::Lt,
        Some("Gt") => TolerationOperator::Gt,
        Some(other) => {
            let expected = "Equal, Exists, Lt or Gt";
            return Err(FieldError::unexpected("operator", other, expected));
        }
    };
    Ok(Toleration {
        key: interner.text(entry.key.as_deref().unwrap_or_default()),
        operator,
        value: interner.text(entry.value.as_deref().unwrap_or_default()),
        effect: match entry.effect.as_deref() {
            None | Some("") => None,
            Some(text) => Some(effect(text)?),
        },
    })
}
