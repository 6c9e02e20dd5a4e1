//! Advice on objects that a server takes and a controller then refuses, ignores, or reads otherwise than was meant.

mod budgets;
mod class;
mod kubelet;
mod pods;
mod pool;

use serde_json::Value;

use super::finding::Findings;

pub(super) use budgets::of_budgets;
pub use kubelet::kubelet_unsupported;
pub(super) use pods::of_pods;

/// Remarks about one of Karpenter's objects.
pub(super) fn of_karpenter(kind: &str, value: &Value, findings: &mut Findings) {
    let null = Value::Null;
    let spec = value.get("spec").unwrap_or(&null);
    match kind {
        "NodePool" => pool::check(spec, findings),
        "EC2NodeClass" => {
            class::check(spec, findings);
            kubelet::check(spec, findings);
        }
        _ => {}
    }
}
