//! Objects of newer versions, read as far as they are understood.

use plimsoll_base::resources::ResourceName;
use plimsoll_model::{BudgetReasons, NodeClaim, NodePool};
use serde_json::json;

use super::*;

fn pool_value() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": "general", "uid": "u1"},
        "spec": {
            "limits": {"cpu": "100", "example.com/gpu": "4"},
            "disruption": {"consolidateAfter": "0s", "budgets": [{"nodes": "1"}]},
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                "requirements": [
                    {"key": "a", "operator": "In", "values": ["1"]},
                    {"key": "b", "operator": "Exists"},
                ],
            }},
        },
    })
}

fn read_as(kind: Kind, value: &Value) -> Result<Object, ReadError> {
    read_tolerant(kind, value, &mut Interner::new()).map(|(_, object)| object)
}

fn pool(value: &Value) -> Arc<NodePool> {
    match read_as(Kind::NodePool, value) {
        Ok(Object::Whole(plimsoll_model::Object::Pool(pool))) => pool,
        other => unreachable!("a pool: {other:?}"),
    }
}

/// The pool with one value changed.
fn changed(pointer: &str, to: Value) -> Arc<NodePool> {
    let mut value = pool_value();
    *value.pointer_mut(pointer).expect("a place") = to;
    pool(&value)
}

#[test]
fn a_pool_that_is_understood_has_nothing_unread() {
    let whole = pool(&pool_value());
    assert!(whole.unread.is_empty() && whole.ready);
}

#[test]
fn a_value_that_makes_no_sense_is_told_and_the_rest_of_the_pool_is_read() {
    for (pointer, to, problem) in [
        (
            "/spec/template/spec/requirements/1/operator",
            json!("Near"),
            "spec.template.spec.requirements[1].operator is \"Near\"; expected In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte",
        ),
        (
            "/spec/limits/example.com~1gpu",
            json!("many"),
            "spec.limits.example.com/gpu ",
        ),
        (
            "/spec/disruption/budgets/0/nodes",
            json!("half"),
            "spec.disruption.budgets[0].nodes is \"half\"; ",
        ),
        (
            "/spec/template/spec/requirements",
            json!("any"),
            "spec.template.spec.requirements is \"any\"; ",
        ),
        (
            "/spec/disruption/consolidateAfter",
            json!({"seconds": 3}),
            "spec.disruption.consolidateAfter is an object; ",
        ),
    ] {
        let pool = changed(pointer, to);
        let told = pool.unread.problem.as_deref().unwrap_or_default();
        assert!(told.starts_with(problem), "{told}");
        assert!(!pool.ready, "{problem}");
        assert_eq!(pool.uid.as_str(), "u1");
        assert_eq!(pool.class.name.as_ref(), "default");
    }
}

#[test]
fn several_values_that_make_no_sense_are_all_left_out_and_the_first_is_told() {
    let mut value = pool_value();
    value["spec"]["template"]["spec"]["requirements"] = json!([
        {"key": "a", "operator": "Near"}, {"key": "b", "operator": "Far"}, {"key": "c", "operator": "Exists"},
    ]);
    value["metadata"]["annotations"] = json!({"plimsoll.dev/packing": "tight"});
    let pool = pool(&value);
    let told = pool.unread.problem.as_deref().unwrap_or_default();
    assert!(told.contains("requirements[0]"), "{told}");
    assert_eq!(pool.requirements.len(), 1);
}

#[test]
fn an_annotation_of_ours_that_is_not_known_is_told_with_the_one_that_was_meant() {
    let mut value = pool_value();
    value["metadata"]["annotations"] = json!({
        "plimsoll.dev/rank-polcy": "cheap", "plimsoll.dev/colour": "red", "plimsoll.dev/nodes-per-minute": "4",
        "plimsoll.dev/asked": "3", "example.com/rank-polcy": "cheap",
    });
    let read = pool(&value);
    assert!(read.ready && read.unread.problem.is_none());
    assert_eq!(
        read.unread.ignored.join("; "),
        "metadata.annotations[plimsoll.dev/colour] is not known to this version and is ignored; \
         metadata.annotations[plimsoll.dev/rank-polcy] is not known to this version and is ignored; \
         did you mean plimsoll.dev/rank-policy?"
    );
}

#[test]
fn durations_that_make_no_sense_never_come() {
    let pool = changed("/spec/disruption/consolidateAfter", json!("soon"));
    assert_eq!(pool.disruption.consolidate_after, None);
    let mut value = pool_value();
    value["spec"]["template"]["spec"]["expireAfter"] = json!("a year");
    assert_eq!(self::pool(&value).expire_after, None);
}

#[test]
fn a_reason_or_field_of_a_newer_version_is_told_and_the_pool_serves() {
    let mut value = pool_value();
    value["spec"]["disruption"]["budgets"] =
        json!([{"nodes": "1", "reasons": ["Drifted", "Unhealthy", "Repacked"]}]);
    value["spec"]["disruption"]["pace"] = json!("slow");
    let pool = pool(&value);
    assert!(pool.ready && pool.unread.problem.is_none());
    let told = pool.unread.ignored.join("; ");
    assert_eq!(
        told,
        "spec.disruption.budgets[0].reasons[2] is \"Repacked\", which is not known to this version; the budget limits every reason; \
         spec.disruption.pace is not known to this version and is ignored"
    );
    let BudgetReasons::Listed(reasons) = &pool.disruption.budgets[0].reasons else {
        unreachable!("a list");
    };
    assert_eq!(reasons.len(), 3);
}

#[test]
fn a_status_of_a_newer_version_is_no_problem_of_a_pool() {
    let mut value = pool_value();
    value["status"] = json!({"nodes": "three"});
    let pool = pool(&value);
    assert!(pool.unread.is_empty() && pool.ready);
}

fn claim_value() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": "general-a", "uid": "u2", "labels": {"karpenter.sh/nodepool": "general"},
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "nodeClassRef": {"group": "g", "kind": "k", "name": "n"}, "expireAfter": "1 month",
            "requirements": [], "taints": [{"key": "a", "effect": "Shun"}],
        },
        "status": {"providerID": "kwok://a"},
    })
}

#[test]
fn a_claim_that_is_not_understood_keeps_its_instance_its_pool_and_its_end() {
    let claim: Arc<NodeClaim> = match read_as(Kind::NodeClaim, &claim_value()) {
        Ok(Object::Whole(plimsoll_model::Object::Claim(claim))) => claim,
        other => unreachable!("a claim: {other:?}"),
    };
    assert!(claim.unread.problem.is_some());
    assert!(claim.provider_id.is_some() && claim.deleting.is_some());
    assert_eq!(claim.pool.as_str(), "general");
    assert_eq!(claim.expire_after, None, "720h would end it");
}

#[test]
fn a_claim_without_its_instance_is_not_read_and_a_pool_without_its_class_has_that_of_before() {
    let mut value = claim_value();
    value["status"]["providerID"] = json!(["kwok://a"]);
    assert!(read_as(Kind::NodeClaim, &value).is_err());
    let mut value = pool_value();
    let before = read_as(Kind::NodePool, &value).expect("a pool");
    value["spec"]["template"]["spec"]["nodeClassRef"] = json!({"uid": "x"});
    value["spec"]["limits"]["cpu"] = "7".into();
    let unnamed = pool(&value);
    assert_eq!((&*unnamed.class.kind, unnamed.ready), (UNREADABLE, false));
    let told = unnamed.unread.problem.as_deref().unwrap_or_default();
    assert!(told.contains("nodeClassRef"), "{told}");
    // The class is the one of before, and all else is as it is now.
    let after = Object::Whole(plimsoll_model::Object::Pool(unnamed)).of_class_before(&before);
    let Object::Whole(plimsoll_model::Object::Pool(pool)) = after else {
        unreachable!("a pool");
    };
    assert_eq!(&*pool.class.kind, "KWOKNodeClass");
    let limits = pool.limits.clone().expect("limits");
    assert_eq!(limits.get(&ResourceName::Cpu), 7_000);
}

#[test]
fn a_class_that_is_not_understood_is_read_without_what_is_not() {
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {"role": "nodes", "detailedMonitoring": "sometimes", "pace": 1},
        "status": {"subnets": "all"},
    });
    let class = read_class(&class).expect("a class");
    assert_eq!(class.spec.role.as_deref(), Some("nodes"));
    let told = class.unread.problem.as_deref().unwrap_or_default();
    assert!(
        told.starts_with("spec.detailedMonitoring is \"sometimes\"; "),
        "{told}"
    );
    let ignored = "spec.pace is not known to this version and is ignored";
    assert_eq!(class.unread.ignored, [Arc::from(ignored)]);
}

#[test]
fn what_could_not_be_read_is_still_told_of_an_object_that_was_written_into_a_file() {
    let mut value = pool_value();
    value["spec"]["template"]["spec"]["requirements"][0]["operator"] = json!("Near");
    value["spec"]["pace"] = json!(1);
    let before = read_as(Kind::NodePool, &value).expect("a pool");
    let after = read_as(Kind::NodePool, &before.to_value()).expect("the same");
    assert_eq!(after.unread(), before.unread());
    let before = read_as(Kind::NodeClaim, &claim_value()).expect("a claim");
    let after = read_as(Kind::NodeClaim, &before.to_value()).expect("the same");
    assert_eq!(after, before);
}
