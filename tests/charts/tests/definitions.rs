//! The CRD chart renders the definitions that the program knows, to the byte of every schema, and keeps them when it goes.

use std::collections::BTreeMap;

use plimsoll_api::crd::{Provider, definitions, kwok};
use plimsoll_charts::Release;
use serde_json::{Value, json};

/// Definitions by name.
fn by_name(definitions: Vec<Value>) -> BTreeMap<String, Value> {
    let named = definitions.into_iter().map(|definition| {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        (name.to_owned(), definition)
    });
    named.collect()
}

fn rendered(values: Value) -> BTreeMap<String, Value> {
    by_name(
        Release::new("plimsoll-crd", values)
            .render()
            .expect("it renders"),
    )
}

#[test]
fn the_chart_has_the_definitions_that_the_program_knows() {
    let mut known = definitions(Provider::Aws);
    known.push(kwok());
    let plain = rendered(json!({"additionalAnnotations": {"helm.sh/resource-policy": null}}));
    assert_eq!(plain, by_name(known), "`make definitions` makes them anew");
}

#[test]
fn annotations_are_put_on_each_and_nothing_else_is_changed() {
    let plain = rendered(json!({"additionalAnnotations": {"helm.sh/resource-policy": null}}));
    let annotated = rendered(json!({"additionalAnnotations": {"a": "b: c"}}));
    assert_eq!(annotated.len(), plain.len());
    for (name, mut definition) in annotated {
        let metadata = definition["metadata"].as_object_mut().expect("metadata");
        let annotations = metadata.remove("annotations");
        assert_eq!(
            annotations,
            Some(json!({"a": "b: c", "helm.sh/resource-policy": "keep"})),
            "{name}"
        );
        assert_eq!(Some(&definition), plain.get(&name));
    }
}

#[test]
fn values_that_it_does_not_know_are_refused() {
    let refused = Release::new("plimsoll-crd", json!({"additionalAnnotation": {}})).render();
    let words = refused.expect_err("it is refused").to_string();
    assert!(
        words.contains("additional properties 'additionalAnnotation' not allowed"),
        "{words}"
    );
}
