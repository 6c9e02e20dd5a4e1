//! Disruption budgets of workloads, as they are written and as the core knows them.

use std::sync::Arc;

use plimsoll_api::{Interner, Kind, Object, read, validate};
use plimsoll_model::{DisruptionLimit, PodDisruptionBudget};
use serde_json::{Value, json};

fn known(object: &Value) -> Arc<PodDisruptionBudget> {
    let mut interner = Interner::default();
    let kind = Kind::PodDisruptionBudget;
    let read = read(kind, object, &mut interner, &mut |_| {});
    match read.expect("it can be read").1 {
        Object::Whole(plimsoll_model::Object::DisruptionBudget(budget)) => budget,
        other => unreachable!("a budget: {other:?}"),
    }
}

fn written(spec: &Value, status: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": spec, "status": status,
    });
    object["spec"]["selector"] = json!({"matchLabels": {"app": "web"}});
    object
}

#[test]
fn a_budget_reads_back_the_same_whether_or_not_it_is_met_and_has_a_limit() {
    let statuses = [(0, 0, false), (3, 2, true), (2, 2, true), (1, 2, false)];
    for spec in [
        json!({}),
        json!({"minAvailable": 2}),
        json!({"maxUnavailable": "10%"}),
    ] {
        for (healthy, wanted, is_met) in statuses {
            let status = json!({"currentHealthy": healthy, "desiredHealthy": wanted});
            let budget = known(&written(&spec, &status));
            assert_eq!(budget.is_met, is_met, "{healthy} of {wanted}");
            let object = Object::Whole(plimsoll_model::Object::DisruptionBudget(Arc::clone(
                &budget,
            )));
            assert_eq!(known(&object.to_value()), budget);
        }
    }
}

#[test]
fn a_budget_without_a_limit_lets_no_pod_go_and_is_told() {
    let unset = written(&json!({}), &json!({}));
    let budget = known(&unset);
    assert_eq!(budget.limit, DisruptionLimit::Unset);
    assert!(budget.blocks_all());
    let told = validate("policy/v1", "PodDisruptionBudget", &unset);
    assert_eq!(told.len(), 1);
    assert!(
        told[0]
            .to_string()
            .starts_with("spec has neither minAvailable nor maxUnavailable")
    );
    let limited = written(&json!({"minAvailable": 1}), &json!({}));
    assert!(validate("policy/v1", "PodDisruptionBudget", &limited).is_empty());
}
