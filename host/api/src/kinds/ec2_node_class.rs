//! `karpenter.k8s.aws/v1 EC2NodeClass`: how instances of a pool are made.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use plimsoll_model::Unread;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{Condition, NodeSelectorRequirement};

/// Tags, of what is made or of what is looked for.
pub type Tags = BTreeMap<String, String>;

/// Settings of a pool's instances on EC2.
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
    /// Observed state.
    #[serde(default)]
    pub status: Option<Ec2NodeClassStatus>,
    /// Parts of the object that could not be read.
    #[serde(skip)]
    pub unread: Unread,
}

/// Everything that was found for a class.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ec2NodeClassStatus {
    /// Subnets, the one with most free addresses first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subnets: Vec<FoundSubnet>,
    /// Security groups, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security_groups: Vec<FoundSecurityGroup>,
    /// Images, the newest first; one that fits types in two ways is there twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub amis: Vec<FoundImage>,
    /// Instance profile of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_profile: Option<String>,
    /// Conditions of the class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// A subnet of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FoundSubnet {
    /// Its id.
    pub id: String,
    /// Its zone by name.
    pub zone: String,
    /// Its zone by id.
    #[serde(rename = "zoneID", skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
}

/// A security group of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FoundSecurityGroup {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// An image of a class, and the instance types that it fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FoundImage {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `true` once it is deprecated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// Requirements that types have to satisfy.
    pub requirements: Vec<NodeSelectorRequirement>,
}

/// Desired state of a class.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ec2NodeClassSpec {
    /// Subnets: all that meet any of the terms.
    pub subnet_selector_terms: Vec<SubnetTerm>,
    /// Security groups: all that meet any of the terms.
    pub security_group_selector_terms: Vec<SecurityGroupTerm>,
    /// Images: all that meet any of the terms.
    pub ami_selector_terms: Vec<ImageTerm>,
    /// Image family, such as `AL2023`; that of the alias where absent.
    pub ami_family: Option<String>,
    /// Placement group of all instances.
    pub placement_group_selector: Option<PlacementGroupSelector>,
    /// A public address for instances, or none; the subnet decides where absent.
    #[serde(rename = "associatePublicIPAddress")]
    pub associate_public_ip_address: Option<bool>,
    /// User data, in the form of the family.
    pub user_data: Option<String>,
    /// IAM role of nodes.
    pub role: Option<String>,
    /// Instance profile of nodes, made by somebody else.
    pub instance_profile: Option<String>,
    /// Tags of all that is made.
    pub tags: Option<Tags>,
    /// Kubelet settings, an open map.
    pub kubelet: BTreeMap<String, Value>,
    /// Disks, in place of the family's.
    pub block_device_mappings: Option<Vec<BlockDeviceMapping>>,
    /// Local disks joined into one when `RAID0`.
    pub instance_store_policy: Option<String>,
    /// Network interfaces.
    pub network_interfaces: Option<Vec<NetworkInterface>>,
    /// Metrics every minute.
    pub detailed_monitoring: Option<bool>,
    /// The instance metadata service.
    pub metadata_options: Option<MetadataOptions>,
    /// Timeouts of connections that security groups remember.
    pub connection_tracking: Option<ConnectionTracking>,
    /// Context of the fleet request.
    pub context: Option<String>,
    /// Options of the processors.
    pub cpu_options: Option<CpuOptions>,
    /// Enclaves of instances; none where absent.
    pub enclave_options: Option<EnclaveOptions>,
    /// Prefixes of addresses of each network interface; none where absent.
    pub ip_prefix_count: Option<i32>,
    /// Everything else, as written.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

/// Subnets that meet all that is said.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubnetTerm {
    /// Their tags; `*` stands for any value.
    pub tags: Tags,
    /// The id of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Security groups that meet all that is said.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecurityGroupTerm {
    /// Their tags; `*` stands for any value.
    pub tags: Tags,
    /// The id of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Their name, not their tag `Name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Images that meet all that is said.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ImageTerm {
    /// Family and release, such as `al2023@v20250403`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The id of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Their name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Account that owns them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Name or ARN of a parameter that holds the id of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssm_parameter: Option<String>,
    /// Their tags; `*` stands for any value.
    pub tags: Tags,
}

/// A placement group, by id or by name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlacementGroupSelector {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A disk.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BlockDeviceMapping {
    /// Its device, such as `/dev/xvda`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// Its volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ebs: Option<BlockDevice>,
    /// `true` for the disk with the kubelet's files.
    pub root_volume: bool,
}

/// A volume of EBS.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BlockDevice {
    /// It ends with its instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_on_termination: Option<bool>,
    /// It is encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// Operations per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<i64>,
    /// The KMS key.
    #[serde(rename = "kmsKeyID", skip_serializing_if = "Option::is_none")]
    pub kms_key_id: Option<String>,
    /// The snapshot that it begins with.
    #[serde(rename = "snapshotID", skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// MiB per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<i64>,
    /// MiB per second at which its snapshot is fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_initialization_rate: Option<i32>,
    /// Its size, a quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_size: Option<String>,
    /// Its type, such as `gp3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_type: Option<String>,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkInterface {
    /// Number of its card.
    pub network_card_index: i32,
    /// Its place on the card.
    pub device_index: i32,
    /// `interface` or `efa-only`.
    pub interface_type: String,
}

/// The instance metadata service.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MetadataOptions {
    /// `enabled` or `disabled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_endpoint: Option<String>,
    /// `enabled` or `disabled`.
    #[serde(rename = "httpProtocolIPv6", skip_serializing_if = "Option::is_none")]
    pub http_protocol_ipv6: Option<String>,
    /// Network hops that an answer with a token lives, 1 to 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_put_response_hop_limit: Option<i64>,
    /// `required` or `optional`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_tokens: Option<String>,
}

/// Timeouts of connections, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConnectionTracking {
    /// Of TCP connections that are established.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_established_timeout: Option<i32>,
    /// Of UDP flows with more than one exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_stream_timeout: Option<i32>,
    /// Of other UDP flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_timeout: Option<i32>,
}

/// Nitro Enclaves of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnclaveOptions {
    /// `true` where it may run enclaves.
    pub enabled: bool,
}

/// Options of the processors.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CpuOptions {
    /// `enabled` or `disabled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested_virtualization: Option<String>,
}
