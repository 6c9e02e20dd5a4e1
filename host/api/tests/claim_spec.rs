//! Specifications of claims in the form that clients in Go write. The API refuses any change of one, so what we write has to be what they
//! would write after reading it.

use plimsoll_api::{Interner, Kind, Object, read, write};
use serde_json::{Value, json};

fn written_anew(spec: &Value) -> Value {
    let claim = json!({"metadata": {"name": "a"}, "spec": spec});
    let mut interner = Interner::default();
    let read = read(Kind::NodeClaim, &claim, &mut interner, &mut |_| {});
    let spec = match read.expect("it is read").1 {
        Object::Whole(plimsoll_model::Object::Claim(claim)) => Some(write::claim_spec(&claim)),
        _ => None,
    };
    spec.expect("a claim")
}

fn class() -> Value {
    json!({"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"})
}

#[test]
fn a_claim_without_taints_and_requests_has_no_empty_lists() {
    let spec = json!({
        "nodeClassRef": class(),
        "requirements": [
            {"key": "example.com/disk", "operator": "Exists"},
            {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
        ],
        "resources": {},
        "expireAfter": "Never",
    });
    assert_eq!(written_anew(&spec), spec);
}

#[test]
fn amounts_and_durations_have_the_form_of_go() {
    let spec = json!({
        "nodeClassRef": class(),
        "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"], "minValues": 1}],
        "resources": {"requests": {"cpu": "1500m", "ephemeral-storage": "5G", "memory": "1536Mi", "pods": "3"}},
        "taints": [{"key": "example.com/team", "effect": "NoSchedule", "value": "a"}],
        "startupTaints": [{"key": "example.com/starting", "effect": "NoExecute"}],
        "expireAfter": "30h",
        "terminationGracePeriod": "1h0m0s",
    });
    assert_eq!(written_anew(&spec), spec);
}
