//! The schema of [`crate::kinds::NodeClaim`].

use serde_json::{Value, json};

use super::schema::{
    DURATION, DURATION_OR_NEVER, class_reference, conditions, object, pattern, quantities,
    requirements, taints, text, time, with_default, with_rules,
};
use super::{AGE, Column, READY};

pub(super) const COLUMNS: [Column; 11] = [
    (
        "Type",
        "string",
        r".metadata.labels.node\.kubernetes\.io/instance-type",
        false,
    ),
    (
        "Capacity",
        "string",
        r".metadata.labels.karpenter\.sh/capacity-type",
        false,
    ),
    (
        "Zone",
        "string",
        r".metadata.labels.topology\.kubernetes\.io/zone",
        false,
    ),
    ("Node", "string", ".status.nodeName", false),
    READY,
    AGE,
    ("ImageID", "string", ".status.imageID", true),
    ("ID", "string", ".status.providerID", true),
    (
        "NodePool",
        "string",
        r".metadata.labels.karpenter\.sh/nodepool",
        true,
    ),
    ("NodeClass", "string", ".spec.nodeClassRef.name", true),
    (
        "Drifted",
        "string",
        r#".status.conditions[?(@.type=="Drifted")].status"#,
        true,
    ),
];

pub(super) fn schema() -> Value {
    let mut fields = machine_fields();
    fields.push(("resources", object(&[], vec![("requests", quantities())])));
    let spec = object(&["nodeClassRef", "requirements"], fields);
    let spec = with_rules(spec, &[("self == oldSelf", "spec cannot be changed")]);
    let status = vec![
        ("allocatable", quantities()),
        ("capacity", quantities()),
        ("conditions", conditions()),
        ("imageID", text()),
        ("lastPodEventTime", time()),
        ("nodeName", text()),
        ("providerID", text()),
    ];
    object(
        &["spec"],
        vec![("spec", spec), ("status", object(&[], status))],
    )
}

/// The fields of a claim that a pool's template has, too.
pub(super) fn machine_fields() -> Vec<(&'static str, Value)> {
    vec![
        (
            "expireAfter",
            with_default(pattern(DURATION_OR_NEVER), json!("720h")),
        ),
        ("nodeClassRef", class_reference()),
        ("requirements", requirements(true)),
        ("startupTaints", taints()),
        ("taints", taints()),
        ("terminationGracePeriod", pattern(DURATION)),
    ]
}
