//! `karpenter.sh/v1 NodePool`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::common::{
    Condition, NodeClassReference, NodeSelectorRequirement, Quantities, TaintEntry,
};

/// A NodePool: constraints of the nodes it may buy, their limits, and when they are disrupted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePool {
    /// `karpenter.sh/v1`.
    #[serde(default)]
    pub api_version: String,
    /// `NodePool`.
    #[serde(default)]
    pub kind: String,
    /// Name, labels, annotations.
    pub metadata: ObjectMeta,
    /// Desired state.
    pub spec: NodePoolSpec,
    /// Observed state.
    #[serde(default)]
    pub status: Option<NodePoolStatus>,
}

/// Desired state of a pool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct NodePoolSpec {
    /// When and how fast nodes may be replaced voluntarily.
    pub disruption: Option<Disruption>,
    /// Ceiling per resource over all nodes.
    pub limits: Option<Quantities>,
    /// Keep exactly this many nodes.
    pub replicas: Option<i64>,
    /// Shape of the claims.
    pub template: NodePoolTemplate,
    /// Preference among pools that fit, 1 to 100.
    pub weight: Option<i32>,
}

/// When and how fast nodes may be replaced voluntarily.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disruption {
    /// Ceilings on disruption at one time; absent is one tenth, empty is no ceiling.
    pub budgets: Option<Vec<BudgetEntry>>,
    /// Quiet time before a node becomes a candidate, or `Never`.
    pub consolidate_after: Option<String>,
    /// `WhenEmpty`, `WhenEmptyOrUnderutilized` or `Balanced`: the nodes that consolidation may take.
    pub consolidation_policy: Option<String>,
}

/// One ceiling.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct BudgetEntry {
    /// Percent of the pool or a count; `10%` when absent.
    pub nodes: Option<String>,
    /// The reasons it speaks of: every one when absent, none when empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Vec<String>>,
    /// Cron start of its window, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Length of its window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
}

/// Shape of a pool's claims.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct NodePoolTemplate {
    /// Labels and annotations of claims and nodes.
    #[serde(default)]
    pub metadata: TemplateMetadata,
    /// Node settings.
    pub spec: TemplateSpec,
}

/// Labels and annotations of claims and nodes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct TemplateMetadata {
    /// Labels; they act as requirements, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
}

/// Node settings.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateSpec {
    /// Oldest age of a node, or `Never`; `720h` when absent.
    pub expire_after: Option<String>,
    /// The provider's class.
    pub node_class_ref: NodeClassReference,
    /// Constraints that every node satisfies.
    #[serde(default)]
    pub requirements: Vec<NodeSelectorRequirement>,
    /// Taints that nodes start with and lose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_taints: Option<Vec<TaintEntry>>,
    /// Taints that nodes keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taints: Option<Vec<TaintEntry>>,
    /// Longest time a drain may take.
    pub termination_grace_period: Option<String>,
}

/// Observed state of a pool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolStatus {
    /// Conditions.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Generation of the class last seen.
    pub node_class_observed_generation: Option<i64>,
    /// Number of nodes.
    pub nodes: Option<i64>,
    /// Sum of the capacity of its nodes.
    #[serde(default)]
    pub resources: Quantities,
}
