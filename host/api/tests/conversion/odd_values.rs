//! Objects of servers that know more than this version: whatever stands in one field, the rest of the object is read, and the field is named.

use plimsoll_api::{Interner, Kind, Object, read_class, read_tolerant};
use serde_json::{Value, json};

/// Values that a field may have in a version to come, or by mistake.
fn odd() -> [Value; 9] {
    [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(""),
        json!("odd"),
        json!([{"odd": 1}]),
        json!({"odd": {"a": []}}),
    ]
}

fn pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {
            "name": "general", "uid": "u1",
            "labels": {"team": "a"},
            "annotations": {
                "plimsoll.dev/packing": "price",
                "plimsoll.dev/nodes-in-flight": "4",
                "plimsoll.dev/nodes-per-minute": "4",
                "plimsoll.dev/dollars-per-hour": "2.5",
                "plimsoll.dev/rank-policy": "x",
            },
        },
        "spec": {
            "weight": 3, "replicas": 2,
            "limits": {"cpu": "100", "example.com/gpu": "4", "nodes": 3},
            "disruption": {
                "consolidateAfter": "0s", "consolidationPolicy": "WhenEmpty",
                "budgets": [{"nodes": "1", "reasons": ["Empty"], "schedule": "@daily", "duration": "1h"}],
            },
            "template": {
                "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                    "expireAfter": "720h", "terminationGracePeriod": "30s",
                    "requirements": [
                        {"key": "a", "operator": "In", "values": ["1", "2"], "minValues": 1},
                        {"key": "b", "operator": "Gt", "values": ["1"]},
                    ],
                    "taints": [{"key": "t", "value": "v", "effect": "NoSchedule"}],
                    "startupTaints": [{"key": "s", "effect": "NoExecute"}],
                },
            },
        },
        "status": {
            "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            "resources": {"cpu": "4"}, "nodes": 1, "nodeClassObservedGeneration": 1,
        },
    })
}

fn claim() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "general-a", "uid": "u2", "labels": {"karpenter.sh/nodepool": "general"}, "annotations": {"a": "b"}},
        "spec": {
            "nodeClassRef": {"group": "g", "kind": "k", "name": "n"},
            "expireAfter": "720h", "terminationGracePeriod": "30s",
            "resources": {"requests": {"cpu": "1"}},
            "requirements": [{"key": "a", "operator": "In", "values": ["1"], "minValues": 1}],
            "taints": [{"key": "t", "effect": "NoSchedule"}],
            "startupTaints": [{"key": "s", "effect": "NoExecute"}],
        },
        "status": {"providerID": "kwok://a", "nodeName": "general-a"},
    })
}

fn class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default", "annotations": {"a": "b"}},
        "spec": {
            "role": "nodes", "amiFamily": "AL2023", "tags": {"a": "b"}, "detailedMonitoring": true,
            "subnetSelectorTerms": [{"tags": {"a": "b"}}], "securityGroupSelectorTerms": [{"id": "sg-1"}],
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "kubelet": {"maxPods": 10},
            "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "10Gi", "iops": 100}}],
            "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
        },
        "status": {"subnets": [{"id": "s", "zone": "z"}], "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

/// Pointers to every field and item of a part of an object.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
            fields
                .iter()
                .map(|(key, inner)| (escaped(key), inner))
                .collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, inner)| (at.to_string(), inner))
            .collect(),
        _ => Vec::new(),
    };
    for (key, inner) in inner {
        let pointer = format!("{at}/{key}");
        found.push(pointer.clone());
        pointers(inner, &pointer, found);
    }
}

/// The object with one field after the other taken out or changed to what is odd, with the field. Metadata are the API server's own:
/// labels and annotations are texts.
fn changed(whole: &Value) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    pointers(whole, "", &mut places);
    let mut all = Vec::new();
    for place in places {
        let is_metadata = place.starts_with("/metadata");
        let is_annotation = place.starts_with("/metadata/annotations/");
        if !place.starts_with("/spec") && !place.starts_with("/status") && !is_metadata {
            continue;
        }
        let odd = odd().into_iter();
        for to in odd.filter(|to| !is_metadata || (is_annotation && to.is_string())) {
            let mut value = whole.clone();
            if let Some(field) = value.pointer_mut(&place) {
                *field = to;
            }
            all.push((place.clone(), value));
        }
        let (holder, key) = place.rsplit_once('/').unwrap_or_default();
        let mut value = whole.clone();
        if let Some(Value::Object(fields)) = value.pointer_mut(holder)
            && (!is_metadata || is_annotation)
        {
            fields.remove(&key.replace("~1", "/").replace("~0", "~"));
            all.push((place.clone(), value));
        }
    }
    all
}

/// The last part of a pointer that is no index: what a sentence about it names at least.
fn is_named(pointer: &str, problem: &str) -> bool {
    let steps = pointer.replace("~1", "/").replace("~0", "~");
    let mut steps = steps
        .split('/')
        .filter(|step| step.parse::<usize>().is_err());
    steps.any(|step| !step.is_empty() && problem.contains(step))
}

#[test]
fn whatever_one_field_of_a_pool_says_the_pool_is_read_and_the_field_is_named() {
    let mut problems = 0;
    for (place, value) in changed(&pool()) {
        let read = read_tolerant(Kind::NodePool, &value, &mut Interner::new());
        let Ok((_, Object::Whole(plimsoll_model::Object::Pool(pool)))) = read else {
            panic!("{place}: {read:?}");
        };
        assert_eq!((pool.name.as_str(), pool.uid.as_str()), ("general", "u1"));
        if let Some(problem) = &pool.unread.problem {
            problems += 1;
            assert!(!pool.ready, "{place}");
            assert!(is_named(&place, problem), "{place}: {problem}");
            assert!(!place.starts_with("/status"), "{place}: {problem}");
        }
        let is_of_class = place.starts_with("/spec/template/spec/nodeClassRef");
        let holds_class = ["/spec", "/spec/template", "/spec/template/spec"].contains(&&*place);
        if !is_of_class && !holds_class {
            assert_eq!(&*pool.class.name, "default", "{place}");
        }
        if !place.contains("requirements") && !holds_class {
            assert_eq!(pool.requirements.len(), 2, "{place}");
        }
    }
    assert!(problems > 100, "{problems}");
}

#[test]
fn whatever_one_field_of_a_claim_says_its_instance_and_pool_stay_known_or_nothing_does() {
    for (place, value) in changed(&claim()) {
        let vital = ["/spec/nodeClassRef", "/status", "/metadata"];
        let is_vital = place == "/spec" || vital.iter().any(|vital| place.starts_with(vital));
        match read_tolerant(Kind::NodeClaim, &value, &mut Interner::new()) {
            Ok((_, Object::Whole(plimsoll_model::Object::Claim(claim)))) => {
                assert_eq!(claim.pool.as_str(), "general");
                assert!(is_vital || claim.provider_id.is_some(), "{place}");
                if let Some(problem) = &claim.unread.problem {
                    assert!(is_named(&place, problem), "{place}: {problem}");
                }
            }
            other => assert!(is_vital, "{place}: {other:?}"),
        }
    }
}

#[test]
fn whatever_one_field_of_a_class_says_the_class_is_read_and_the_field_is_named() {
    for (place, value) in changed(&class()) {
        let read = read_class(&value);
        let Ok(class) = read else {
            panic!("{place}: {read:?}");
        };
        if let Some(problem) = &class.unread.problem {
            assert!(is_named(&place, problem), "{place}: {problem}");
        }
    }
}
