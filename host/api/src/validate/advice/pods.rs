//! Pods that speak of older versions, or in words that are not read.

use serde_json::Value;

use super::super::finding::Findings;
use crate::duration;

const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
/// Annotations and labels of older versions and what took their place.
const OLD_ANNOTATIONS: [(&str, &str); 2] = [
    ("karpenter.sh/do-not-evict", DO_NOT_DISRUPT),
    ("karpenter.sh/do-not-consolidate", DO_NOT_DISRUPT),
];
const OLD_LABELS: [(&str, &str); 2] = [
    ("karpenter.sh/provisioner-name", "karpenter.sh/nodepool"),
    ("karpenter.sh/machine-name", "karpenter.sh/nodepool"),
];
const OLD_TAINTS: [(&str, &str); 1] = [("karpenter.sh/disruption", "karpenter.sh/disrupted")];

/// Remarks about a pod, or about the template of a workload's pods.
pub(in super::super) fn of_pods(value: &Value, findings: &mut Findings) {
    let (holder, prefix) = match value.pointer("/spec/template") {
        Some(template) => (template, "spec.template."),
        None => (value, ""),
    };
    let fields = |pointer: &str| {
        holder
            .pointer(pointer)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    };
    for (name, value) in fields("/metadata/annotations") {
        let path = format!("{prefix}metadata.annotations.{name}");
        if let Some((_, now)) = OLD_ANNOTATIONS.iter().find(|(old, _)| old == name) {
            findings.fault(&path, format!("is not read any more; it is {now} now"));
        }
        let value = value.as_str().unwrap_or_default();
        let is_read = ["true", "false"].contains(&value) || duration::parse(value).is_some();
        if name == DO_NOT_DISRUPT && !is_read {
            findings.fault(
                path,
                format!(
                    "is \"{value}\" and protects nothing; expected true or a duration such as 30m"
                ),
            );
        }
    }
    for (name, _) in fields("/spec/nodeSelector") {
        if let Some((_, now)) = OLD_LABELS.iter().find(|(old, _)| old == name) {
            findings.fault(
                format!("{prefix}spec.nodeSelector.{name}"),
                format!("is a label of no node any more; it is {now} now"),
            );
        }
    }
    let tolerations = holder
        .pointer("/spec/tolerations")
        .and_then(Value::as_array);
    for (at, toleration) in tolerations.into_iter().flatten().enumerate() {
        let key = toleration
            .get("key")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if let Some((_, now)) = OLD_TAINTS.iter().find(|(old, _)| *old == key) {
            findings.fault(
                format!("{prefix}spec.tolerations[{at}].key"),
                format!("is {key}, a taint of no node any more; it is {now} now"),
            );
        }
    }
}
