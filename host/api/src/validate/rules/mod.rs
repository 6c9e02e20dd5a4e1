//! Agreement between fields: the rules that the API attaches to objects and lists.
//!
//! Called only for objects whose fields hold what they may, so every look-up may take types for granted and skips what
//! is absent. Where the API's own rule has a hole (an exclusion that holds only if every term breaks it), so has ours.

mod image;
mod labels;
mod node_class;
mod policy;
mod pool;

use serde_json::Value;

use super::finding::Findings;
use super::{items, text};

/// Holds an object of a kind against its rules.
pub(super) fn check(kind: &str, value: &Value, findings: &mut Findings) {
    let null = Value::Null;
    let spec = value.get("spec").unwrap_or(&null);
    match kind {
        "NodePool" => pool::pool(spec, findings),
        "NodeClaim" => pool::claim(spec, findings),
        "NodeOverlay" => pool::overlay(spec, findings),
        "CapacityBuffer" => pool::buffer(spec, findings),
        "EC2NodeClass" => node_class::check(spec, findings),
        "Policy" => policy::policy(spec, findings),
        _ => {}
    }
}

/// `true` if a field is there.
fn has(value: &Value, name: &str) -> bool {
    value.get(name).is_some_and(|value| !value.is_null())
}
