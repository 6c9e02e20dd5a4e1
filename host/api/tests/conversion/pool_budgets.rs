//! Budgets of pools: a list of reasons that is absent, empty, or has names that a newer version knows.

use std::sync::Arc;

use plimsoll_api::{Interner, Kind, Object, Severity, read, validate};
use plimsoll_model::{DisruptionReason, NodePool};
use serde_json::{Value, json};

fn written(budgets: &Value) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {
            "disruption": {"consolidateAfter": "0s", "budgets": budgets},
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [],
            }},
        },
    })
}

fn known(object: &Value) -> Arc<NodePool> {
    let read = read(
        Kind::NodePool,
        object,
        &mut Interner::default(),
        &mut |_| {},
    );
    match read.expect("it can be read").1 {
        Object::Whole(plimsoll_model::Object::Pool(pool)) => pool,
        other => unreachable!("a pool: {other:?}"),
    }
}

#[test]
fn a_list_of_reasons_that_is_absent_is_another_than_an_empty_one_and_both_read_back_the_same() {
    for (budget, limits) in [
        (json!({"nodes": "0"}), true),
        (json!({"nodes": "0", "reasons": null}), true),
        (json!({"nodes": "0", "reasons": []}), false),
        (json!({"nodes": "0", "reasons": ["Unhealthy"]}), false),
        (json!({"nodes": "0", "reasons": ["Empty"]}), true),
    ] {
        let pool = known(&written(&json!([budget])));
        let reasons = &pool.disruption.budgets[0].reasons;
        assert_eq!(reasons.limit(DisruptionReason::Empty), limits, "{budget}");
        let object = Object::Whole(plimsoll_model::Object::Pool(Arc::clone(&pool)));
        assert_eq!(known(&object.to_value()).disruption, pool.disruption);
    }
}

#[test]
fn an_empty_list_of_reasons_is_told_and_a_budget_of_zero_with_it_is_not_taken_for_a_closed_one() {
    let told = validate(
        "karpenter.sh/v1",
        "NodePool",
        &written(&json!([{"nodes": "0", "reasons": []}])),
    );
    let [told] = told.as_slice() else {
        unreachable!("one remark: {told:?}");
    };
    assert_eq!(told.severity, Severity::Fault);
    let begin = "spec.disruption.budgets[0].reasons is an empty list: the budget limits nothing";
    assert!(told.to_string().starts_with(begin), "{told}");
}
