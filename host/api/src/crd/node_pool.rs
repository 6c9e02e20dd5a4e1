//! The schema of [`crate::kinds::NodePool`].

use plimsoll_core::model::DisruptionReason;
use serde_json::{Value, json};

use super::node_claim::machine_fields;
use super::schema::{
    DURATION_OR_NEVER, VALUE, choice, conditions, integer, list, map, object, pattern, quantities,
    text, with_default, with_rules,
};
use super::{AGE, Column, READY, WEIGHT};

pub(super) const COLUMNS: [Column; 7] = [
    (
        "NodeClass",
        "string",
        ".spec.template.spec.nodeClassRef.name",
        false,
    ),
    ("Nodes", "string", ".status.nodes", false),
    READY,
    AGE,
    WEIGHT,
    ("CPU", "string", ".status.resources.cpu", true),
    ("Memory", "string", ".status.resources.memory", true),
];

const SCHEDULE: &str =
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$";
const WINDOW: &str = "^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$";

/// CEL rules of a static pool, and the sentence for a breach.
const STATIC: [(&str, &str); 3] = [
    (
        "has(oldSelf.replicas) == has(self.replicas)",
        "a pool is static or not for good: replicas cannot be added or removed",
    ),
    (
        r#"!has(self.replicas) || !has(self.limits) || size(self.limits) == ("nodes" in self.limits ? 1 : 0)"#,
        "a pool with replicas may limit nodes only",
    ),
    (
        "!(has(self.replicas) && has(self.weight))",
        "a pool with replicas is not chosen by weight",
    ),
];

pub(super) fn schema() -> Value {
    let spec = object(
        &["template"],
        vec![
            ("disruption", disruption()),
            ("limits", quantities()),
            ("replicas", integer(0, None)),
            ("template", template()),
            ("weight", integer(1, Some(100))),
        ],
    );
    let spec = with_rules(spec, &STATIC);
    let status = object(
        &[],
        vec![
            ("conditions", conditions()),
            ("nodeClassObservedGeneration", integer(0, None)),
            ("nodes", integer(0, None)),
            ("resources", quantities()),
        ],
    );
    object(&["spec"], vec![("spec", spec), ("status", status)])
}

fn disruption() -> Value {
    let reasons = choice(&DisruptionReason::LISTED.map(DisruptionReason::as_str));
    let budget = object(
        &["nodes"],
        vec![
            ("duration", pattern(WINDOW)),
            (
                "nodes",
                with_default(pattern("^((100|[0-9]{1,2})%|[0-9]+)$"), json!("10%")),
            ),
            ("reasons", list(&reasons)),
            ("schedule", pattern(SCHEDULE)),
        ],
    );
    let mut budgets = with_default(list(&budget), json!([{"nodes": "10%"}]));
    budgets["maxItems"] = 50.into();
    let both = "self.all(x, has(x.schedule) == has(x.duration))";
    let budgets = with_rules(
        budgets,
        &[(both, "expected schedule and duration together")],
    );
    let policies = ["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"];
    let fields = vec![
        ("budgets", budgets),
        (
            "consolidateAfter",
            with_default(pattern(DURATION_OR_NEVER), json!("0s")),
        ),
        (
            "consolidationPolicy",
            with_default(choice(&policies), json!("WhenEmptyOrUnderutilized")),
        ),
    ];
    with_default(object(&[], fields), json!({"consolidateAfter": "0s"}))
}

fn template() -> Value {
    let mut value = pattern(VALUE);
    value["maxLength"] = 63.into();
    let mut labels = map(&value);
    labels["maxProperties"] = 100.into();
    let labels = with_rules(
        labels,
        &[
            (
                r#"self.all(x, x == "karpenter.sh/capacity-type" || !x.find("^([^/]+)").endsWith("karpenter.sh"))"#,
                "the domain karpenter.sh is reserved",
            ),
            (
                r#"self.all(x, x != "kubernetes.io/hostname")"#,
                "the host name is the kubelet's to set",
            ),
        ],
    );
    let metadata = object(&[], vec![("annotations", map(&text())), ("labels", labels)]);
    let spec = object(&["nodeClassRef", "requirements"], machine_fields());
    object(&["spec"], vec![("metadata", metadata), ("spec", spec)])
}
