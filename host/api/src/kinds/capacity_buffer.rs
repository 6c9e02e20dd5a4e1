//! `autoscaling.x-k8s.io/v1beta1 CapacityBuffer`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::common::{Condition, Quantities};

/// Room to be kept for pods that are yet to come.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBuffer {
    /// `autoscaling.x-k8s.io/v1beta1`.
    #[serde(default)]
    pub api_version: String,
    /// `CapacityBuffer`.
    #[serde(default)]
    pub kind: String,
    /// Name, namespace, annotations.
    pub metadata: ObjectMeta,
    /// Desired state.
    pub spec: CapacityBufferSpec,
    /// Observed state; nothing is decided by it.
    #[serde(default)]
    pub status: Option<CapacityBufferStatus>,
}

/// Desired state of a buffer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBufferSpec {
    /// The most that all units may ask for together.
    pub limits: Option<Quantities>,
    /// Units as a share of the workload's replicas, in percent.
    pub percentage: Option<i32>,
    /// The PodTemplate that shapes one unit.
    pub pod_template_ref: Option<TemplateReference>,
    /// How the buffer is kept; only one way exists.
    pub provisioning_strategy: Option<String>,
    /// Units.
    pub replicas: Option<i32>,
    /// The workload whose shape and size count.
    pub scalable_ref: Option<ScalableReference>,
}

/// Reference to a PodTemplate of the buffer's namespace.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct TemplateReference {
    /// Name of the object, in the namespace of the buffer.
    pub name: String,
}

/// Reference to a workload of the buffer's namespace.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScalableReference {
    /// API group; `apps` when absent.
    pub api_group: Option<String>,
    /// Deployment, StatefulSet or ReplicaSet.
    pub kind: String,
    /// Name of the object, in the namespace of the buffer.
    pub name: String,
}

/// Observed state of a buffer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBufferStatus {
    /// Conditions.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Generation of the template.
    pub pod_template_generation: Option<i64>,
    /// The template in use.
    pub pod_template_ref: Option<TemplateReference>,
    /// The strategy in use.
    pub provisioning_strategy: Option<String>,
    /// Units it comes to.
    pub replicas: Option<i32>,
}
