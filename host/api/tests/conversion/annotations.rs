//! Annotations that objects are known by: all of a pool's template and of its claims, which their nodes get; of nodes those that
//! decisions read.

use std::sync::Arc;

use plimsoll_api::{Interner, Kind, Object, read};
use plimsoll_base::labels::Labels;
use plimsoll_base::time::Timestamp;
use serde_json::{Value, json};

const OURS: &str = "karpenter.sh/do-not-disrupt";
const THEIRS: &str = "example.com/owner";

fn known(kind: Kind, object: &Value) -> (Object, Labels) {
    let mut interner = Interner::default();
    let (_, object) = read(kind, object, &mut interner, &mut |_| {}).expect("it can be read");
    let known = match &object {
        Object::Whole(plimsoll_model::Object::Pool(pool)) => Some(pool.annotations.clone()),
        Object::Whole(plimsoll_model::Object::Claim(claim)) => Some(claim.annotations.clone()),
        Object::Whole(plimsoll_model::Object::Node(node)) => Some(node.annotations.clone()),
        _ => None,
    };
    (object, known.expect("a kind that has some"))
}

fn metadata() -> Value {
    json!({"name": "a", "annotations": {OURS: "true", THEIRS: "shop"}})
}

fn class() -> Value {
    json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"})
}

fn all() -> Labels {
    [(OURS, "true"), (THEIRS, "shop")]
        .map(|(key, value)| (Arc::from(key), Arc::from(value)))
        .into()
}

#[test]
fn a_pool_knows_the_annotations_of_its_template() {
    let template = json!({"metadata": metadata(), "spec": {"nodeClassRef": class()}});
    let pool = json!({"metadata": {"name": "general"}, "spec": {"template": template}});
    assert_eq!(known(Kind::NodePool, &pool).1, all());
}

#[test]
fn a_claim_knows_all_annotations_and_is_written_with_them() {
    let claim = json!({"metadata": metadata(), "spec": {"nodeClassRef": class()}});
    let (claim, annotations) = known(Kind::NodeClaim, &claim);
    assert_eq!(annotations, all());
    assert_eq!(known(Kind::NodeClaim, &claim.to_value()).1, all());
}

#[test]
fn a_node_knows_those_that_decisions_read() {
    let node = json!({"metadata": metadata()});
    let own = Labels::from([(Arc::from(OURS), Arc::from("true"))]);
    assert_eq!(known(Kind::Node, &node).1, own);
}

/// A deadline that cannot be read is none: the claim is read all the same, and its drain writes one that can.
#[test]
fn a_deadline_of_a_drain_is_an_instant_or_none() {
    let deadline = |written: &str| {
        let annotations = json!({"karpenter.sh/nodeclaim-termination-timestamp": written});
        let claim = json!({
            "metadata": {"name": "a", "annotations": annotations}, "spec": {"nodeClassRef": class()},
        });
        match known(Kind::NodeClaim, &claim).0 {
            Object::Whole(plimsoll_model::Object::Claim(claim)) => claim.drained_by,
            _ => None,
        }
    };
    let at = Timestamp::from_millis(1_767_225_600_000);
    assert_eq!(deadline("2026-01-01T00:00:00Z"), Some(at));
    assert_eq!(deadline("2026-01-01T01:00:00+01:00"), Some(at));
    for unreadable in ["", "soon", "2026-13-01T00:00:00Z", "1767225600"] {
        assert_eq!(deadline(unreadable), None, "{unreadable:?}");
    }
}
