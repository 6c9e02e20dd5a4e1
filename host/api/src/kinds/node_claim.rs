//! `karpenter.sh/v1 NodeClaim`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::{Deserialize, Serialize};

use super::common::{
    Condition, NodeClassReference, NodeSelectorRequirement, Quantities, TaintEntry,
};

/// A request for one instance.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaim {
    /// `karpenter.sh/v1`.
    #[serde(default)]
    pub api_version: String,
    /// `NodeClaim`.
    #[serde(default)]
    pub kind: String,
    /// Name, labels, annotations.
    pub metadata: ObjectMeta,
    /// Desired state, fixed after creation.
    pub spec: NodeClaimSpec,
    /// Observed state.
    #[serde(default)]
    pub status: Option<NodeClaimStatus>,
}

/// Desired state of a claim.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimSpec {
    /// Oldest age of its node, or `Never`; `720h` when absent.
    pub expire_after: Option<String>,
    /// The provider's class.
    pub node_class_ref: NodeClassReference,
    /// Constraints for the launch.
    #[serde(default)]
    pub requirements: Vec<NodeSelectorRequirement>,
    /// Requests of the pods it was planned for, and of daemons.
    #[serde(default)]
    pub resources: ResourceRequests,
    /// Taints that its node starts with and loses.
    #[serde(default)]
    pub startup_taints: Vec<TaintEntry>,
    /// Taints that its node keeps.
    #[serde(default)]
    pub taints: Vec<TaintEntry>,
    /// Longest time a drain may take.
    pub termination_grace_period: Option<String>,
}

/// Wrapper around requests.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ResourceRequests {
    /// Amounts by resource.
    #[serde(default)]
    pub requests: Quantities,
}

/// Observed state of a claim.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimStatus {
    /// Expected allocatable resources.
    #[serde(default)]
    pub allocatable: Quantities,
    /// Expected capacity.
    #[serde(default)]
    pub capacity: Quantities,
    /// Conditions.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Image of the instance.
    #[serde(rename = "imageID")]
    pub image_id: Option<String>,
    /// Last time a pod came to the node or left it.
    pub last_pod_event_time: Option<Time>,
    /// Name of the node.
    pub node_name: Option<String>,
    /// The instance.
    #[serde(rename = "providerID")]
    pub provider_id: Option<String>,
}
