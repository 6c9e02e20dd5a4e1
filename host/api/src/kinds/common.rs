//! Parts that several of Karpenter's kinds share.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// Amounts by resource name, as written.
pub type Quantities = BTreeMap<String, Quantity>;

/// Reference to the provider's class.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct NodeClassReference {
    /// API group, without version.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
}

/// One constraint on one label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSelectorRequirement {
    /// Label key.
    pub key: String,
    /// How values are compared.
    pub operator: String,
    /// Operands, always text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// How many distinct values must remain possible, 1 to 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_values: Option<u32>,
}

/// A taint as written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaintEntry {
    /// Key.
    pub key: String,
    /// Value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
    /// Accepted and not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Time>,
}

/// One condition of an object's status.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Name of the condition.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Machine-readable cause.
    #[serde(default)]
    pub reason: String,
    /// Text for people.
    #[serde(default)]
    pub message: String,
    /// When the status last changed.
    #[serde(default)]
    pub last_transition_time: Option<Time>,
    /// Generation that the condition speaks of.
    #[serde(default)]
    pub observed_generation: Option<i64>,
}
