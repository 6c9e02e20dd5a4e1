//! Documents for AWS: what is to be filled into them is named beside them, and they speak of what the chart makes.

use std::collections::BTreeSet;

use plimsoll_charts::{Release, folder, of_kind};
use serde_json::{Value, json};

const DOCUMENTS: [&str; 3] = ["policy.json", "trust-policy.json", "queue-policy.json"];

fn text(file: &str) -> String {
    std::fs::read_to_string(folder("aws").join(file)).expect(file)
}

/// Names in `${...}`.
fn placeholders(text: &str) -> BTreeSet<&str> {
    let named = text.split("${").skip(1);
    named.filter_map(|rest| rest.split('}').next()).collect()
}

/// Variables that the page exports, and their texts.
fn exported(page: &str) -> Vec<(&str, &str)> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("export "));
    let pairs = lines.flat_map(|line| match line.split_once("=$(") {
        // A command has spaces of its own.
        Some((name, _)) => vec![(name, "")],
        None => line
            .split(' ')
            .filter_map(|own| own.split_once('='))
            .collect(),
    });
    pairs.collect()
}

#[test]
fn every_placeholder_is_filled_by_the_page_beside_the_documents() {
    let page = text("README.md");
    let names: BTreeSet<&str> = exported(&page).iter().map(|(name, _)| *name).collect();
    for document in DOCUMENTS {
        let text = text(document);
        let read: Value = serde_json::from_str(&text).expect(document);
        assert_eq!(read["Version"], "2012-10-17", "{document}");
        let unfilled = placeholders(&text);
        let unfilled: Vec<&&str> = unfilled.difference(&names).collect();
        assert!(unfilled.is_empty(), "{document}: {unfilled:?}");
    }
}

#[test]
fn the_account_that_is_trusted_is_the_one_that_the_chart_makes() {
    let page = text("README.md");
    let said = |name: &str| {
        let mut all = exported(&page).into_iter();
        all.find(|(own, _)| *own == name).map(|(_, value)| value)
    };
    let (namespace, account) = (said("Namespace"), said("ServiceAccount"));
    let role = json!({"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/r"});
    let release = Release::new(
        "plimsoll",
        json!({
            "provider": "aws", "settings": {"clusterName": "demo", "interruptionQueue": "demo"},
            "serviceAccount": {"annotations": role},
        }),
    );
    let objects = release.render().expect("it renders");
    let metadata = &of_kind(&objects, "ServiceAccount")[0]["metadata"];
    assert_eq!(metadata["name"].as_str(), account);
    assert_eq!(metadata["namespace"].as_str(), namespace);
    assert_eq!(metadata["annotations"], role);
    let trust: Value = serde_json::from_str(&text("trust-policy.json")).expect("JSON");
    let asked = &trust["Statement"][0]["Condition"]["StringEquals"];
    assert_eq!(
        *asked,
        json!({
            "${OidcProvider}:aud": "sts.amazonaws.com",
            "${OidcProvider}:sub": "system:serviceaccount:${Namespace}:${ServiceAccount}",
        })
    );
}
