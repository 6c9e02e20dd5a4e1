//! `karpenter.k8s.aws/v1 EC2NodeClass`, as far as a decision made from a file reads it.
//!
//! What only a launch needs (images, networks, user data) is kept as it was written.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Machine settings of pools on EC2.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ec2NodeClass {
    /// `karpenter.k8s.aws/v1`.
    #[serde(default)]
    pub api_version: String,
    /// `EC2NodeClass`.
    #[serde(default)]
    pub kind: String,
    /// Name, labels, annotations.
    pub metadata: ObjectMeta,
    /// Desired state.
    #[serde(default)]
    pub spec: Ec2NodeClassSpec,
    /// Resolved state, as written.
    #[serde(default)]
    pub status: BTreeMap<String, Value>,
}

/// Desired state of a class.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ec2NodeClassSpec {
    /// Image family, such as `AL2023`.
    pub ami_family: Option<String>,
    /// Kubelet settings, an open map.
    #[serde(default)]
    pub kubelet: BTreeMap<String, Value>,
    /// Local disks joined into one when `RAID0`.
    pub instance_store_policy: Option<String>,
    /// Everything else, as written.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}
