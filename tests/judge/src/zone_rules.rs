//! Rules of pods that decide the zone of another one's node: where one holds, a claim has one zone to choose from.
//!
//! A plan that leaves the zone open cannot promise that a hard rule about zones holds wherever the node comes up, so a pool that
//! wants several zones to choose from sells nothing to such a pod. The pool's wish is ours to read; no scheduler knows of it.

use serde_json::Value;

use crate::case::{Case, full_name, items, text};

const ZONE: &str = "topology.kubernetes.io/zone";

/// `true` if a pod has a hard rule about zones, or another pod has one that selects it.
pub fn decide_zone(case: &Case, pod: &str) -> bool {
    let Some(own) = case.of_kind("Pod").find(|one| full_name(one) == pod) else {
        return false;
    };
    let labels = &own["metadata"]["labels"];
    case.of_kind("Pod").any(|other| {
        let is_own = std::ptr::eq(other, own);
        let mut selectors = selectors(other);
        selectors.any(|selector| is_own || selects(selector, labels))
    })
}

/// Selectors of a pod's hard rules about zones.
fn selectors(pod: &Value) -> impl Iterator<Item = &Value> {
    let spread = items(pod, "/spec/topologySpreadConstraints").iter();
    let hard = spread.filter(|one| text(one, "/whenUnsatisfiable") == "DoNotSchedule");
    let terms = ["podAffinity", "podAntiAffinity"]
        .into_iter()
        .flat_map(|kind| {
            let path =
                format!("/spec/affinity/{kind}/requiredDuringSchedulingIgnoredDuringExecution");
            items(pod, &path)
        });
    let about_zones = |rule: &&Value| text(rule, "/topologyKey") == ZONE;
    let rules = hard.chain(terms).filter(about_zones);
    rules.map(|rule| &rule["labelSelector"])
}

/// `true` if a selector has these labels; one without any requirement has none here, as in spread.
fn selects(selector: &Value, labels: &Value) -> bool {
    let exact = selector["matchLabels"].as_object().into_iter().flatten();
    let mut exact = exact.map(|(key, value)| labels[key] == *value);
    let mut expressions = items(selector, "/matchExpressions").iter().map(|asked| {
        let value = &labels[text(asked, "/key")];
        let listed = items(asked, "/values").contains(value);
        match text(asked, "/operator") {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => !value.is_null(),
            _ => value.is_null(),
        }
    });
    let is_empty = selector["matchLabels"].is_null() && selector["matchExpressions"].is_null();
    !is_empty && exact.all(|met| met) && expressions.all(|met| met)
}
