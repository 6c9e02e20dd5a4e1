//! Rules of pools, claims, overlays and buffers.

use serde_json::Value;

use super::super::finding::Findings;
use super::labels::{User, key, requirements};
use super::{has, items, text};
use crate::schema::known::{OF_TYPES, Use};

/// The rules of a pool.
pub(super) fn pool(spec: &Value, findings: &mut Findings) {
    let null = Value::Null;
    let template = spec.get("template").unwrap_or(&null);
    if has(spec, "replicas") {
        if has(spec, "weight") {
            findings.error("spec.weight", "stands beside replicas; a pool of a fixed size is not chosen by weight, expected one of the two");
        }
        let limits = spec.get("limits").and_then(Value::as_object);
        let others = limits.into_iter().flatten().map(|(name, _)| name.as_str());
        let others: Vec<&str> = others.filter(|name| *name != "nodes").collect();
        if !others.is_empty() {
            findings.error(
                "spec.limits",
                format!(
                    "names {}; a pool with replicas may limit nodes only",
                    others.join(", ")
                ),
            );
        }
    }
    for (at, budget) in items(spec.get("disruption").unwrap_or(&null), "budgets")
        .iter()
        .enumerate()
    {
        let (given, missing) = match (has(budget, "schedule"), has(budget, "duration")) {
            (true, false) => ("schedule", "duration"),
            (false, true) => ("duration", "schedule"),
            _ => continue,
        };
        let path = format!("spec.disruption.budgets[{at}].{missing}");
        findings.error(
            path,
            format!(
                "is missing; expected one beside {given}: a window has a beginning and a length"
            ),
        );
    }
    let inner = template.get("spec").unwrap_or(&null);
    let user = User {
        by: Use::Pool,
        class: class_group(inner),
    };
    let labels = template
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    for name in labels.into_iter().flatten().map(|(name, _)| name) {
        let path = format!("spec.template.metadata.labels.{name}");
        key(&path, name, user, findings);
    }
    class_reference("spec.template.spec", inner, findings);
    requirements("spec.template.spec", inner, user, findings);
}

/// The rules of a claim.
pub(super) fn claim(spec: &Value, findings: &mut Findings) {
    class_reference("spec", spec, findings);
    let user = User {
        by: Use::Claim,
        class: class_group(spec),
    };
    requirements("spec", spec, user, findings);
}

/// Group of the node class that a pool or claim names.
fn class_group(holder: &Value) -> &str {
    holder
        .get("nodeClassRef")
        .map_or("", |reference| text(reference, "group"))
}

fn class_reference(path: &str, holder: &Value, findings: &mut Findings) {
    let Some(reference) = holder.get("nodeClassRef") else {
        return;
    };
    for (field, expected) in [
        (
            "group",
            "the API group of the class, such as karpenter.k8s.aws",
        ),
        ("kind", "the kind of the class, such as EC2NodeClass"),
        ("name", "the name of the class"),
    ] {
        if text(reference, field).is_empty() {
            findings.error(
                format!("{path}.nodeClassRef.{field}"),
                format!("is empty; expected {expected}"),
            );
        }
    }
}

/// The rules of an overlay.
pub(super) fn overlay(spec: &Value, findings: &mut Findings) {
    if has(spec, "price") && has(spec, "priceAdjustment") {
        findings.error(
            "spec.priceAdjustment",
            "stands beside price; expected one of the two",
        );
    }
    let capacity = spec.get("capacity").and_then(Value::as_object);
    for name in capacity.into_iter().flatten().map(|(name, _)| name) {
        if OF_TYPES.contains(&name.as_str()) {
            findings.error(
                format!("spec.capacity.{name}"),
                "is what the type itself has; an overlay may add other resources only",
            );
        }
    }
    let user = User {
        by: Use::Overlay,
        class: "",
    };
    requirements("spec", spec, user, findings);
}

/// The rules of a buffer.
pub(super) fn buffer(spec: &Value, findings: &mut Findings) {
    if !has(spec, "podTemplateRef") {
        return;
    }
    if has(spec, "scalableRef") {
        findings.error(
            "spec.scalableRef",
            "stands beside podTemplateRef; expected one of the two",
        );
    }
    if !has(spec, "replicas") && !has(spec, "limits") {
        findings.error(
            "spec.replicas",
            "is missing; a buffer of a pod template needs replicas or limits",
        );
    }
}
