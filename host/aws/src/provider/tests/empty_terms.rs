//! Selector terms that are empty ask EC2 for nothing, and hold the class back by name.

use super::*;

/// The lists of a class: field, operation that looks for what it chooses, and the condition that tells of it.
const LISTS: [(&str, &str, &str); 3] = [
    ("subnetSelectorTerms", "DescribeSubnets", "SubnetsReady"),
    (
        "securityGroupSelectorTerms",
        "DescribeSecurityGroups",
        "SecurityGroupsReady",
    ),
    ("amiSelectorTerms", "DescribeImages", "AMIsReady"),
];

/// `true` for a filter that does not hold of everything there is.
fn is_selective(filter: &Value) -> bool {
    filter["Name"] != "state"
        && filter["Value"]
            .as_array()
            .is_some_and(|values| values.iter().any(|value| value != ""))
}

#[tokio::test]
async fn no_list_is_asked_for_without_a_filter() {
    let scene = Scene::on(World::demo("demo")).await;
    for (list, operation, condition) in LISTS {
        for terms in [
            json!([{"tags": {}}]),
            json!([{}]),
            json!([{"id": ""}]),
            json!([{"name": ""}]),
            json!([{"owner": "self"}]),
            json!([{"owner": "self", "tags": {}}]),
            json!([{"ssmParameter": ""}]),
            json!([{"tags": {"karpenter.sh/discovery": "demo"}}, {"tags": {}}]),
            json!([{"tags": {"karpenter.sh/discovery": "demo"}}]),
        ] {
            scene.cloud.forget_calls();
            scene.wait();
            let is_sound = terms == json!([{"tags": {"karpenter.sh/discovery": "demo"}}]);
            let spec = json!({"amiFamily": "AL2023", list: terms});
            let looked = scene.reconciled(&class(&spec)).await;
            let calls = scene.cloud.calls().into_iter();
            let asked: Vec<Value> = calls
                .filter(|call| call.operation == operation)
                .map(|call| call.input)
                .collect();
            let has_filter = |input: &Value| {
                let filters = input["Filter"].as_array();
                filters.is_some_and(|all| all.iter().any(is_selective))
            };
            assert!(asked.iter().all(has_filter), "{terms}: {asked:?}");
            assert_eq!(!asked.is_empty(), is_sound, "{list} {terms}");
            let told = looked.status.conditions.iter();
            let told = told.clone().find(|own| own.kind == condition);
            let told = told.expect("a condition");
            let is_empty = told.reason == "SelectorTermEmpty";
            assert_eq!(is_empty, !is_sound, "{list} {terms}: {told:?}");
        }
    }
}

/// An older definition has let the term be stored, and an older version has found everything for it.
#[tokio::test]
async fn an_empty_term_beside_a_good_one_holds_the_class_back_and_changes_nothing_that_was_found() {
    let scene = Scene::on(World::demo("demo")).await;
    let mut before = class(&json!({}));
    before.status = Some(scene.reconciled(&before).await.status);
    let by_tag = json!({"tags": {"karpenter.sh/discovery": "demo"}});
    let mut after = class(&json!({"subnetSelectorTerms": [by_tag, {"tags": {}}]}));
    after.status.clone_from(&before.status);
    let looked = scene.reconciled(&after).await.status;
    let ready = |name: &str| {
        let mut all = looked.conditions.iter();
        all.find(|own| own.kind == name).expect("a condition")
    };
    assert_eq!(ready("Ready").status, "False");
    let words = &ready("SubnetsReady").message;
    assert!(
        words.starts_with("spec.subnetSelectorTerms[1].tags is empty"),
        "{words}"
    );
    let found = before.status.expect("a status");
    assert!(!found.subnets.is_empty());
    assert_eq!(looked.subnets, found.subnets);
}
