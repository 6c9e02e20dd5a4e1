//! `karpenter.sh/v1alpha1 NodeOverlay`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::common::{Condition, NodeSelectorRequirement, Quantities};

/// Corrections to prices and capacities.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeOverlay {
    /// `karpenter.sh/v1alpha1`.
    #[serde(default)]
    pub api_version: String,
    /// `NodeOverlay`.
    #[serde(default)]
    pub kind: String,
    /// Name, labels, annotations.
    pub metadata: ObjectMeta,
    /// Desired state.
    pub spec: NodeOverlaySpec,
    /// Observed state.
    #[serde(default)]
    pub status: Option<NodeOverlayStatus>,
}

/// Desired state of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeOverlaySpec {
    /// Extended resources added to matching types.
    #[serde(default)]
    pub capacity: Quantities,
    /// Price that replaces the provider's.
    pub price: Option<String>,
    /// Signed amount or percent applied to the provider's price.
    pub price_adjustment: Option<String>,
    /// The offerings it speaks of.
    #[serde(default)]
    pub requirements: Vec<NodeSelectorRequirement>,
    /// Heavier overlays win, 1 to 10,000.
    pub weight: Option<i32>,
}

/// Observed state of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct NodeOverlayStatus {
    /// Conditions.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}
