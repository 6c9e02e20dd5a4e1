//! Definitions of the custom resources that are read and written, as the API server takes them.
//!
//! The API is Karpenter's v1: the same names, defaults and patterns, and most of the rules. Each schema stands beside the
//! types of [`crate::kinds`], and a test holds that whatever those write is allowed.
//!
//! These definitions take some manifests that Karpenter's refuse. [`crate::validate()`] alone knows the rules that
//! - a pool's requirements ask for no pool;
//! - of the domain of AWS only labels that its provider knows are used, and some of them not by overlays;
//! - an overlay's `NotIn` names a value;
//! - a budget names a reason once.
//!
//! EC2NodeClass and CapacityBuffer are validated and have no definition here.

mod node_claim;
mod node_overlay;
mod node_pool;
mod schema;

use serde_json::{Value, json};

use crate::object::Kind;
use schema::{conditions, object, pattern};

/// A column of what `kubectl get` prints: name, type, path, and whether only `-o wide` shows it.
type Column = (&'static str, &'static str, &'static str, bool);

/// The condition `Ready`.
const READY: Column = (
    "Ready",
    "string",
    r#".status.conditions[?(@.type=="Ready")].status"#,
    false,
);

/// Time since the creation.
const AGE: Column = ("Age", "date", ".metadata.creationTimestamp", false);

/// The weight among objects of the kind.
const WEIGHT: Column = ("Weight", "integer", ".spec.weight", true);

/// The definitions of Karpenter's own kinds.
pub fn karpenter() -> Vec<Value> {
    let mut pool = definition(
        Kind::NodePool,
        &[],
        &node_pool::COLUMNS,
        &node_pool::schema(),
    );
    pool["spec"]["versions"][0]["subresources"]["scale"] =
        json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.nodes"});
    vec![
        pool,
        definition(
            Kind::NodeClaim,
            &[],
            &node_claim::COLUMNS,
            &node_claim::schema(),
        ),
        definition(
            Kind::NodeOverlay,
            &["overlays"],
            &node_overlay::COLUMNS,
            &node_overlay::schema(),
        ),
    ]
}

/// The definition of the class of the provider for laboratories.
pub fn kwok() -> Value {
    let ready = json!({"conditions": [{
        "type": "Ready", "status": "True", "reason": "Ready", "message": "",
        "lastTransitionTime": "2024-01-01T01:01:01Z",
    }]});
    let mut status = object(&[], vec![("conditions", conditions())]);
    status["default"] = ready;
    let delay = pattern("^([0-9]+(s|m|h))+$");
    let schema = object(
        &[],
        vec![
            ("spec", object(&[], vec![("nodeRegistrationDelay", delay)])),
            ("status", status),
        ],
    );
    let names = Names {
        group: "karpenter.kwok.sh",
        version: "v1alpha1",
        kind: "KWOKNodeClass",
        plural: "kwoknodeclasses",
        short: &["kwoknc", "kwokncs"],
    };
    names.definition(&[], &schema)
}

fn definition(kind: Kind, short: &[&str], columns: &[Column], schema: &Value) -> Value {
    let names = Names {
        group: kind.group(),
        version: kind.version(),
        kind: kind.as_str(),
        plural: kind.plural(),
        short,
    };
    names.definition(columns, schema)
}

struct Names<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    plural: &'a str,
    short: &'a [&'a str],
}

impl Names<'_> {
    fn definition(&self, columns: &[Column], schema: &Value) -> Value {
        let column = |(name, kind, path, wide): &Column| {
            let mut column = json!({"name": name, "type": kind, "jsonPath": path});
            if *wide {
                column["priority"] = 1.into();
            }
            column
        };
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{}.{}", self.plural, self.group)},
            "spec": {
                "group": self.group,
                "scope": "Cluster",
                "names": {
                    "kind": self.kind, "listKind": format!("{}List", self.kind),
                    "plural": self.plural, "singular": self.kind.to_lowercase(),
                    "shortNames": self.short, "categories": ["karpenter"],
                },
                "versions": [{
                    "name": self.version, "served": true, "storage": true,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": columns.iter().map(column).collect::<Vec<_>>(),
                    "schema": {"openAPIV3Schema": schema},
                }],
            },
        })
    }
}

#[cfg(test)]
mod tests;
