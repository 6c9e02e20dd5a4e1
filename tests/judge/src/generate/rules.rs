//! Rules of pods about nodes and about each other.

use plimsoll_oracles::generate::Draw;
use serde_json::{Value, json};

use super::{APPS, HOSTNAME, NAMESPACES, Sketch, TEAM, ZONE, ZONES};
use crate::feature::Feature;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Selectors, affinity to nodes, tolerations.
pub(super) fn of_nodes(sketch: &mut Sketch, draw: &mut Draw, pod: &mut Value) {
    let pool = draw.below(sketch.pools.len());
    let (team, tainted) = (sketch.pools[pool].team, sketch.pools[pool].tainted);
    if sketch.has(Feature::PoolSelectors, draw, 40) {
        pod["spec"]["nodeSelector"] = json!({TEAM: team});
        if tainted {
            tolerate(pod, team);
        }
    } else if tainted && draw.percent(50) {
        tolerate(pod, team);
    }
    if sketch.has(Feature::NodeAffinity, draw, 25) {
        let zones = &ZONES[..sketch.zones];
        let (key, values) = if draw.percent(60) {
            (ZONE, json!([draw.one_of(zones), draw.one_of(zones)]))
        } else {
            (
                "karpenter.k8s.aws/instance-family",
                json!([draw.one_of(&["c9", "m9", "r9"])]),
            )
        };
        let operator = draw.one_of(&["In", "NotIn"]);
        let mut terms = vec![
            json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]}),
        ];
        if sketch.has(Feature::SeveralNodeTerms, draw, 25) {
            terms.push(
                json!({"matchExpressions": [{"key": TEAM, "operator": "In", "values": [team]}]}),
            );
        }
        pod["spec"]["affinity"]["nodeAffinity"][REQUIRED] = json!({"nodeSelectorTerms": terms});
    }
    if sketch.has(Feature::PreferredNodes, draw, 20) {
        let zone = ZONES[draw.below(sketch.zones)];
        let term = json!({"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]});
        pod["spec"]["affinity"]["nodeAffinity"][PREFERRED] =
            json!([{"weight": 10, "preference": term}]);
    }
}

fn tolerate(pod: &mut Value, team: &str) {
    pod["spec"]["tolerations"] =
        json!([{"key": TEAM, "operator": "Equal", "value": team, "effect": "NoSchedule"}]);
}

/// Topology spread constraints.
pub(super) fn spread(sketch: &mut Sketch, draw: &mut Draw, pod: &mut Value) {
    let mut constraints = Vec::new();
    for (feature, key, share) in [
        (Feature::ZoneSpread, ZONE, 30),
        (Feature::HostSpread, HOSTNAME, 15),
    ] {
        if sketch.has(feature, draw, share) {
            let mut constraint = constraint(sketch, draw, pod, key, "DoNotSchedule");
            if sketch.has(Feature::SpreadPolicies, draw, 50) {
                policies(
                    draw,
                    &mut constraint,
                    key,
                    &pod["metadata"]["labels"]["tier"],
                );
            }
            constraints.push(constraint);
        }
    }
    if sketch.has(Feature::SoftSpread, draw, 15) && constraints.len() < 2 {
        let key = draw.one_of(&[ZONE, HOSTNAME]);
        let taken = constraints
            .iter()
            .any(|one: &Value| one["topologyKey"] == key);
        if !taken {
            constraints.push(constraint(sketch, draw, pod, key, "ScheduleAnyway"));
        }
    }
    if !constraints.is_empty() {
        pod["spec"]["topologySpreadConstraints"] = json!(constraints);
    }
}

fn constraint(sketch: &mut Sketch, draw: &mut Draw, pod: &Value, key: &str, when: &str) -> Value {
    let empty = sketch.has(Feature::EmptySelectors, draw, 20);
    let labels = &pod["metadata"]["labels"];
    let selector = match draw.below(10) {
        _ if empty => json!({}),
        0..=1 => json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
        2..=4 => json!({"matchLabels": {"app": labels["app"]}}),
        _ => json!({"matchLabels": {"workload": labels["workload"]}}),
    };
    json!({"maxSkew": 1 + draw.below(2), "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector})
}

fn policies(draw: &mut Draw, constraint: &mut Value, key: &str, tier: &Value) {
    if draw.percent(50) {
        constraint["nodeAffinityPolicy"] = json!(draw.one_of(&["Honor", "Ignore"]));
    }
    if draw.percent(50) {
        constraint["nodeTaintsPolicy"] = json!(draw.one_of(&["Honor", "Ignore"]));
    }
    if key == ZONE && draw.percent(30) {
        constraint["minDomains"] = json!(2 + draw.below(2));
    }
    if draw.percent(25) {
        constraint["matchLabelKeys"] = json!(["tier"]);
        // The API server adds the pod's own value to the selector.
        let own = json!({"key": "tier", "operator": "In", "values": [tier]});
        match constraint["labelSelector"]["matchExpressions"].as_array_mut() {
            Some(expressions) => expressions.push(own),
            None => constraint["labelSelector"]["matchExpressions"] = json!([own]),
        }
    }
}

/// Affinity and anti-affinity between pods.
pub(super) fn between_pods(sketch: &mut Sketch, draw: &mut Draw, pod: &mut Value) {
    let own = pod["metadata"]["labels"].clone();
    if sketch.has(Feature::Affinity, draw, 20) {
        let mut terms = vec![term(draw, &own, 50)];
        if sketch.has(Feature::SeveralTerms, draw, 30) {
            terms.push(term(draw, &own, 70));
        }
        pod["spec"]["affinity"]["podAffinity"][REQUIRED] = json!(terms);
    }
    if sketch.has(Feature::AntiAffinity, draw, 20) {
        pod["spec"]["affinity"]["podAntiAffinity"][REQUIRED] = json!([term(draw, &own, 60)]);
    }
    if sketch.has(Feature::PreferredPods, draw, 15) {
        let preferred = json!([{"weight": 20, "podAffinityTerm": term(draw, &own, 50)}]);
        let kind = draw.one_of(&["podAffinity", "podAntiAffinity"]);
        pod["spec"]["affinity"][kind][PREFERRED] = preferred;
    }
    if !sketch.daemons.is_empty() && sketch.has(Feature::RulesOnDaemons, draw, 15) {
        let set = &sketch.daemons[draw.below(sketch.daemons.len())];
        let name = set["metadata"]["name"].clone();
        let term = json!({"topologyKey": HOSTNAME, "namespaces": ["kube-system"], "labelSelector": {"matchLabels": {"daemon": name}}});
        let kind = draw.one_of(&["podAffinity", "podAntiAffinity"]);
        pod["spec"]["affinity"][kind][REQUIRED] = json!([term]);
    }
}

/// A term about the pod's own workload in so many of a hundred cases, else about an app.
fn term(draw: &mut Draw, own: &Value, share: usize) -> Value {
    let labels = if draw.percent(share) {
        json!({"workload": own["workload"]})
    } else {
        json!({"app": draw.one_of(&APPS)})
    };
    let mut term = json!({"topologyKey": draw.one_of(&[ZONE, HOSTNAME]), "labelSelector": {"matchLabels": labels}});
    if draw.percent(20) {
        term["namespaces"] = json!(NAMESPACES);
    } else if draw.percent(10) {
        term["namespaceSelector"] = json!({});
    }
    term
}
