//! Disruption budgets of workloads that hold more than their author may think.

use serde_json::Value;

use super::super::finding::Findings;

/// Remarks about a PodDisruptionBudget.
pub(in super::super) fn of_budgets(value: &Value, findings: &mut Findings) {
    let has = |field: &str| {
        let written = value.pointer(&format!("/spec/{field}"));
        written.is_some_and(|written| !written.is_null())
    };
    if !has("minAvailable") && !has("maxUnavailable") {
        findings.fault(
            "spec",
            "has neither minAvailable nor maxUnavailable: no pod of it that has begun to run is ever evicted; expected one of the two",
        );
    }
}
