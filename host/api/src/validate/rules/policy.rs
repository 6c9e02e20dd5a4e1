//! Rules of a policy.

use serde_json::Value;

use super::super::finding::Findings;
use super::{items, text};

/// The rules of a policy.
pub(super) fn policy(spec: &Value, findings: &mut Findings) {
    let null = Value::Null;
    let selector = spec.get("nodePoolSelector").unwrap_or(&null);
    for (at, expression) in items(selector, "matchExpressions").iter().enumerate() {
        let operator = text(expression, "operator");
        let is_listed = !items(expression, "values").is_empty();
        let path = format!("spec.nodePoolSelector.matchExpressions[{at}].values");
        match operator {
            "In" | "NotIn" if !is_listed => findings.error(
                path,
                format!("is empty; operator {operator} needs at least one value"),
            ),
            "Exists" | "DoesNotExist" if is_listed => findings.error(
                path,
                format!("is not empty; operator {operator} takes no values"),
            ),
            _ => {}
        }
    }
}
