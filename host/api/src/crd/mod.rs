//! Definitions of the custom resources that are read and written, as the API server takes them.
//!
//! The API is Karpenter's v1: the same names, types, defaults, patterns, rules and columns; texts and messages are ours. Fields come
//! from the tables that [`crate::validate()`] reads, and a test holds that whatever the types of [`crate::kinds`] write is allowed.
//! One kind is our own: Policy.
//!
//! Karpenter publishes its kinds twice, for AWS with rules about label keys of the domain `karpenter.k8s.aws` and without, and so are
//! they here ([`Provider`]). Where the two differ otherwise, ours take what either takes: `consolidateAfter` may be absent from a
//! `disruption` that is there, and is `0s` then.
//!
//! Rules are written twice: as expressions for the server here, and as code that says more in [`crate::validate()`]. One set of cases
//! judges both, the definitions by a real API server (`tests/lab/tests/admission`).

mod columns;
mod rules;
mod schema;

use serde_json::{Value, json};

use crate::schema::TABLES;
use columns::Column;

/// The provider whose nodes a cluster gets, by which label keys are allowed or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// AWS: of the domain `karpenter.k8s.aws` only keys that its provider knows.
    Aws,
    /// KWOK: any key of that domain, since a list of types may label them as it likes.
    Kwok,
}

/// How a kind is called and shown beside what its table says.
struct Names {
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
    category: &'static str,
    scope: &'static str,
    columns: &'static [Column],
}

const NODE_POOL: Names = Names {
    kind: "NodePool",
    plural: "nodepools",
    short: &[],
    category: "karpenter",
    scope: "Cluster",
    columns: &columns::NODE_POOL,
};
const NODE_CLAIM: Names = Names {
    kind: "NodeClaim",
    plural: "nodeclaims",
    columns: &columns::NODE_CLAIM,
    ..NODE_POOL
};
const NODE_OVERLAY: Names = Names {
    kind: "NodeOverlay",
    plural: "nodeoverlays",
    short: &["overlays"],
    columns: &columns::NODE_OVERLAY,
    ..NODE_POOL
};
const CAPACITY_BUFFER: Names = Names {
    kind: "CapacityBuffer",
    plural: "capacitybuffers",
    short: &["cb"],
    category: "autoscaling",
    scope: "Namespaced",
    columns: &columns::CAPACITY_BUFFER,
};
const EC2_NODE_CLASS: Names = Names {
    kind: "EC2NodeClass",
    plural: "ec2nodeclasses",
    short: &["ec2nc", "ec2ncs"],
    columns: &columns::EC2_NODE_CLASS,
    ..NODE_POOL
};
const KWOK_NODE_CLASS: Names = Names {
    kind: "KWOKNodeClass",
    plural: "kwoknodeclasses",
    short: &["kwoknc", "kwokncs"],
    columns: &[],
    ..NODE_POOL
};
const POLICY: Names = Names {
    kind: "Policy",
    plural: "policies",
    short: &["plp"],
    category: "plimsoll",
    scope: "Cluster",
    columns: &columns::POLICY,
};

/// The definitions that a cluster with nodes of this provider needs: the kinds that all providers share, and the provider's class.
pub fn definitions(provider: Provider) -> Vec<Value> {
    let class = match provider {
        Provider::Aws => EC2_NODE_CLASS,
        Provider::Kwok => KWOK_NODE_CLASS,
    };
    [
        NODE_POOL,
        NODE_CLAIM,
        NODE_OVERLAY,
        CAPACITY_BUFFER,
        class,
        POLICY,
    ]
    .map(|names| definition(&names, provider))
    .into()
}

/// The definitions of pools, claims and overlays, with the rules of a provider that allows any key.
pub fn karpenter() -> Vec<Value> {
    [NODE_POOL, NODE_CLAIM, NODE_OVERLAY]
        .map(|names| definition(&names, Provider::Kwok))
        .into()
}

/// The definition of the class of the provider for laboratories.
pub fn kwok() -> Value {
    definition(&KWOK_NODE_CLASS, Provider::Kwok)
}

/// A kind's definition; null for a kind without a table, of which a test knows that there is none.
fn definition(names: &Names, provider: Provider) -> Value {
    let Some(table) = TABLES.iter().find(|table| table.kind == names.kind) else {
        return Value::Null;
    };
    let mut subresources = json!({"status": {}});
    if names.kind == NODE_POOL.kind {
        subresources["scale"] =
            json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.nodes"});
    }
    let mut rules = rules::of(names.kind, provider);
    let schema = schema::of(&table.root, &mut rules);
    let mut version = json!({
        "name": table.version, "served": true, "storage": true,
        "subresources": subresources,
        "schema": {"openAPIV3Schema": schema},
    });
    if !names.columns.is_empty() {
        version["additionalPrinterColumns"] = names
            .columns
            .iter()
            .copied()
            .map(Column::to_value)
            .collect();
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{}", names.plural, table.group)},
        "spec": {
            "group": table.group,
            "scope": names.scope,
            "names": {
                "kind": names.kind, "listKind": format!("{}List", names.kind),
                "plural": names.plural, "singular": names.kind.to_lowercase(),
                "shortNames": names.short, "categories": [names.category],
            },
            "versions": [version],
        },
    })
}

#[cfg(test)]
mod tests;
