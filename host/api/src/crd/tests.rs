//! The types write only what the schemas allow, field by field.

use serde_json::{Value, json};

use super::{Provider, definitions, karpenter, rules, schema};
use crate::kinds::{NodeClaim, NodeOverlay, NodePool};

/// Paths of a value that the schema has no property for: the API server would drop them.
fn pruned(value: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let known = schema["properties"].get(name);
                match known.or_else(|| schema.get("additionalProperties")) {
                    Some(known) => pruned(field, known, &format!("{path}.{name}"), found),
                    None => found.push(format!("{path}.{name}")),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                pruned(item, &schema["items"], path, found);
            }
        }
        _ => assert!(
            schema.get("type").is_some() || schema.get("anyOf").is_some(),
            "{path}"
        ),
    }
}

fn check(kind: &str, written: &Value) {
    let definitions = karpenter();
    let definition = definitions
        .iter()
        .find(|definition| definition["spec"]["names"]["kind"] == kind)
        .expect("a definition");
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let mut found = Vec::new();
    for part in ["spec", "status"] {
        pruned(
            &written[part],
            &schema["properties"][part],
            part,
            &mut found,
        );
    }
    assert_eq!(found, Vec::<String>::new(), "{kind}");
}

fn requirement() -> Value {
    json!({"key": "a/b", "operator": "In", "values": ["x"], "minValues": 1})
}

fn machine() -> Value {
    let taint = json!({"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"});
    json!({
        "expireAfter": "720h", "nodeClassRef": {"group": "g", "kind": "k", "name": "n"},
        "requirements": [requirement()], "startupTaints": [taint], "taints": [taint],
        "terminationGracePeriod": "1h",
    })
}

fn condition() -> Value {
    json!({
        "type": "Ready", "status": "True", "reason": "Ready", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
    })
}

#[test]
fn every_field_of_a_pool_is_in_its_definition() {
    let written = json!({
        "metadata": {},
        "spec": {
            "disruption": {
                "budgets": [{"nodes": "1", "reasons": ["Empty"], "schedule": "@daily", "duration": "1h"}],
                "consolidateAfter": "0s", "consolidationPolicy": "Balanced",
            },
            "limits": {"cpu": "1"}, "replicas": 1, "weight": 1,
            "template": {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}, "spec": machine()},
        },
        "status": {
            "conditions": [condition()], "nodeClassObservedGeneration": 1, "nodes": 1, "resources": {"cpu": "1"},
        },
    });
    let read: NodePool = serde_json::from_value(written).unwrap();
    check("NodePool", &serde_json::to_value(read).unwrap());
}

#[test]
fn every_field_of_a_claim_is_in_its_definition() {
    let mut spec = machine();
    spec["resources"] = json!({"requests": {"cpu": "1"}});
    let written = json!({
        "metadata": {},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": "1"}, "capacity": {"cpu": "1"}, "conditions": [condition()], "imageID": "i",
            "lastPodEventTime": "2026-01-01T00:00:00Z", "nodeName": "n", "providerID": "p",
        },
    });
    let read: NodeClaim = serde_json::from_value(written).unwrap();
    check("NodeClaim", &serde_json::to_value(read).unwrap());
}

#[test]
fn every_field_of_an_overlay_is_in_its_definition() {
    let mut plain = requirement();
    plain.as_object_mut().unwrap().remove("minValues");
    let written = json!({
        "metadata": {},
        "spec": {"capacity": {"a/b": "1"}, "price": "1", "priceAdjustment": "+1", "requirements": [plain], "weight": 1},
        "status": {"conditions": [condition()]},
    });
    let read: NodeOverlay = serde_json::from_value(written).unwrap();
    check("NodeOverlay", &serde_json::to_value(read).unwrap());
}

#[test]
fn every_kind_has_a_definition_and_every_rule_its_field() {
    for provider in [Provider::Aws, Provider::Kwok] {
        assert!(definitions(provider).iter().all(Value::is_object));
        for table in &crate::schema::TABLES {
            let mut left = rules::of(table.kind, provider);
            schema::of(&table.root, &mut left);
            let left: Vec<_> = left.keys().collect();
            assert!(left.is_empty(), "{}: {left:?}", table.kind);
        }
    }
}

/// Keys of the domain of AWS are any under KWOK, whose lists of types label them as they like.
#[test]
fn only_the_rules_for_aws_know_its_labels() {
    let names_it = |provider| {
        let of_aws = |definition: &&Value| definition.to_string().contains("/instance-tenancy");
        let definitions = definitions(provider);
        let found = definitions.iter().filter(of_aws).map(|definition| {
            let kind = definition["spec"]["names"]["kind"].as_str();
            kind.unwrap_or_default().to_owned()
        });
        found.collect::<Vec<_>>()
    };
    assert_eq!(names_it(Provider::Aws), ["NodePool", "NodeClaim"]);
    assert_eq!(names_it(Provider::Kwok), Vec::<String>::new());
}

#[test]
fn a_pool_is_scaled_by_its_replicas_which_it_has_for_good() {
    let pool = &karpenter()[0]["spec"]["versions"][0];
    let scale = &pool["subresources"]["scale"];
    assert_eq!(scale["specReplicasPath"], ".spec.replicas");
    assert_eq!(scale["statusReplicasPath"], ".status.nodes");
    let spec = &pool["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let rules = spec["x-kubernetes-validations"].as_array().unwrap();
    assert_eq!(rules.len(), 3);
    let looks_back = |rule: &&Value| rule["rule"].as_str().unwrap().contains("oldSelf");
    assert_eq!(rules.iter().filter(looks_back).count(), 1);
}
