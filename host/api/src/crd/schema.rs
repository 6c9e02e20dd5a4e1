//! Words for schemas: what the kinds have in common, as an API server's structural schema.

use serde_json::{Map, Value, json};

const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";
/// A label key with or without its domain.
const KEY: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";
/// A label value.
pub(super) const VALUE: &str = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
/// A duration in whole seconds, minutes and hours.
pub(super) const DURATION: &str = "^([0-9]+(s|m|h))+$";
/// The same, or for good.
pub(super) const DURATION_OR_NEVER: &str = "^(([0-9]+(s|m|h))+|Never)$";

/// An object with these fields; those named in `required` must be there.
pub(super) fn object(required: &[&str], fields: Vec<(&str, Value)>) -> Value {
    let properties: Map<String, Value> = fields
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

pub(super) fn text() -> Value {
    json!({"type": "string"})
}

pub(super) fn pattern(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

pub(super) fn choice(values: &[&str]) -> Value {
    json!({"type": "string", "enum": values})
}

pub(super) fn integer(least: i64, most: Option<i64>) -> Value {
    let mut schema = json!({"type": "integer", "format": "int64", "minimum": least});
    if let Some(most) = most {
        schema["maximum"] = most.into();
    }
    schema
}

pub(super) fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

/// A list that is replaced as a whole.
pub(super) fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items, "x-kubernetes-list-type": "atomic"})
}

pub(super) fn map(values: &Value) -> Value {
    json!({"type": "object", "additionalProperties": values})
}

pub(super) fn quantities() -> Value {
    map(&json!({
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": QUANTITY,
        "x-kubernetes-int-or-string": true,
    }))
}

pub(super) fn with_default(mut schema: Value, default: Value) -> Value {
    schema["default"] = default;
    schema
}

/// Adds rules that the API server evaluates, each with the words of its refusal.
pub(super) fn with_rules(mut schema: Value, rules: &[(&str, &str)]) -> Value {
    let rules = rules
        .iter()
        .map(|(rule, message)| json!({"rule": rule, "message": message}));
    schema["x-kubernetes-validations"] = rules.collect();
    schema
}

/// The reference to a provider's class.
pub(super) fn class_reference() -> Value {
    let filled = |schema: Value| with_rules(schema, &[("self != ''", "expected some text")]);
    object(
        &["group", "kind", "name"],
        vec![
            ("group", filled(pattern("^[^/]*$"))),
            ("kind", filled(text())),
            ("name", filled(text())),
        ],
    )
}

/// Requirements; with the number of values that must stay possible where that can be asked for.
pub(super) fn requirements(min_values: bool) -> Value {
    let mut key = pattern(KEY);
    key["maxLength"] = 316.into();
    let key = with_rules(
        key,
        &[
            (
                r#"self in ["karpenter.sh/capacity-type", "karpenter.sh/nodepool"] || !self.find("^([^/]+)").endsWith("karpenter.sh")"#,
                "the domain karpenter.sh is reserved",
            ),
            (
                r#"self != "kubernetes.io/hostname""#,
                "the host name is the kubelet's to set",
            ),
        ],
    );
    let operators = [
        "In",
        "NotIn",
        "Exists",
        "DoesNotExist",
        "Gt",
        "Lt",
        "Gte",
        "Lte",
    ];
    let mut fields = vec![
        ("key", key),
        ("operator", choice(&operators)),
        ("values", list(&text())),
    ];
    let mut rules = vec![
        (
            "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)",
            "operator In: expected at least one value",
        ),
        (
            "self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? x.values.size() == 1 && int(x.values[0]) >= 0 : true)",
            "operators Gt, Lt, Gte and Lte: expected one integer that is not negative",
        ),
    ];
    if min_values {
        fields.push(("minValues", integer(1, Some(50))));
        rules.push((
            "self.all(x, x.operator == 'In' && has(x.minValues) ? x.values.size() >= x.minValues : true)",
            "operator In: expected at least minValues values",
        ));
    }
    let mut schema = list(&object(&["key", "operator"], fields));
    schema["maxItems"] = 100.into();
    with_rules(schema, &rules)
}

pub(super) fn taints() -> Value {
    let mut key = pattern(KEY);
    key["minLength"] = 1.into();
    list(&object(
        &["effect", "key"],
        vec![
            ("key", key),
            ("value", pattern(KEY)),
            (
                "effect",
                choice(&["NoSchedule", "PreferNoSchedule", "NoExecute"]),
            ),
            ("timeAdded", time()),
        ],
    ))
}

pub(super) fn conditions() -> Value {
    let mut reason = pattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$");
    reason["minLength"] = 1.into();
    reason["maxLength"] = 1024.into();
    let mut message = text();
    message["maxLength"] = 32_768.into();
    let fields = vec![
        ("type", text()),
        ("status", choice(&["True", "False", "Unknown"])),
        ("reason", reason),
        ("message", message),
        ("lastTransitionTime", time()),
        ("observedGeneration", integer(0, None)),
    ];
    let required = ["lastTransitionTime", "message", "reason", "status", "type"];
    json!({"type": "array", "items": object(&required, fields)})
}
