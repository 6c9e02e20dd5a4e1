//! Columns of what `kubectl get` prints.

use serde_json::{Value, json};

/// A column.
#[derive(Clone, Copy)]
pub(super) struct Column {
    name: &'static str,
    kind: &'static str,
    path: &'static str,
    /// Shown with `-o wide` alone.
    is_wide: bool,
}

impl Column {
    /// The column in a definition.
    pub(super) fn to_value(self) -> Value {
        let mut column = json!({"name": self.name, "type": self.kind, "jsonPath": self.path});
        if self.is_wide {
            column["priority"] = 1.into();
        }
        column
    }
}

const fn text(name: &'static str, path: &'static str) -> Column {
    Column {
        name,
        kind: "string",
        path,
        is_wide: false,
    }
}

const fn integer(name: &'static str, path: &'static str) -> Column {
    Column {
        kind: "integer",
        ..text(name, path)
    }
}

const fn wide(column: Column) -> Column {
    Column {
        is_wide: true,
        ..column
    }
}

/// The condition `Ready`.
const READY: Column = text("Ready", r#".status.conditions[?(@.type=="Ready")].status"#);
/// Time since the creation.
const AGE: Column = Column {
    kind: "date",
    ..text("Age", ".metadata.creationTimestamp")
};
/// The weight among objects of the kind.
const WEIGHT: Column = wide(integer("Weight", ".spec.weight"));

pub(super) const NODE_POOL: [Column; 7] = [
    text("NodeClass", ".spec.template.spec.nodeClassRef.name"),
    text("Nodes", ".status.nodes"),
    READY,
    AGE,
    WEIGHT,
    wide(text("CPU", ".status.resources.cpu")),
    wide(text("Memory", ".status.resources.memory")),
];

pub(super) const NODE_CLAIM: [Column; 11] = [
    text(
        "Type",
        r".metadata.labels.node\.kubernetes\.io/instance-type",
    ),
    text("Capacity", r".metadata.labels.karpenter\.sh/capacity-type"),
    text("Zone", r".metadata.labels.topology\.kubernetes\.io/zone"),
    text("Node", ".status.nodeName"),
    READY,
    AGE,
    wide(text("ImageID", ".status.imageID")),
    wide(text("ID", ".status.providerID")),
    wide(text("NodePool", r".metadata.labels.karpenter\.sh/nodepool")),
    wide(text("NodeClass", ".spec.nodeClassRef.name")),
    wide(text(
        "Drifted",
        r#".status.conditions[?(@.type=="Drifted")].status"#,
    )),
];

pub(super) const NODE_OVERLAY: [Column; 3] = [READY, AGE, WEIGHT];

pub(super) const CAPACITY_BUFFER: [Column; 7] = [
    text("Strategy", ".spec.provisioningStrategy"),
    text("PodTemplate", ".status.podTemplateRef.name"),
    integer("Replicas", ".status.replicas"),
    text("ConditionsType", ".status.conditions[*].type"),
    text("ConditionsStatus", ".status.conditions[*].status"),
    text("ConditionsReason", ".status.conditions[*].reason"),
    AGE,
];

pub(super) const EC2_NODE_CLASS: [Column; 3] = [READY, AGE, wide(text("Role", ".spec.role"))];

pub(super) const POLICY: [Column; 13] = [
    text("Hook", ".spec.hook"),
    text("Mode", ".spec.mode"),
    READY,
    text("Reason", r#".status.conditions[?(@.type=="Ready")].reason"#),
    text("Serving", ".status.serving"),
    integer("Pools", ".status.pools"),
    integer("Conflicts", ".status.conflicts"),
    integer("Faults", ".status.faults"),
    AGE,
    wide(integer("Calls", ".status.calls")),
    wide(text("NodePools", ".status.nodePools")),
    wide(integer("Agrees", ".status.shadow.agreementPercent")),
    wide(text("Regret/h", ".status.shadow.regretDollarsPerHour")),
];
