//! Karpenter's kinds as they are written: NodePool, NodeClaim, NodeOverlay, EC2NodeClass, and CapacityBuffer; and Policy, which is ours.
//!
//! Kubernetes' own kinds come from `k8s-openapi`. Fields are optional where the API fills in a default; the default is
//! applied in [`crate::convert`], not here, so that what was written can be told from what was assumed.

mod capacity_buffer;
mod common;
mod ec2_node_class;
mod node_claim;
mod node_overlay;
mod node_pool;
mod policy;

pub use capacity_buffer::{
    CapacityBuffer, CapacityBufferSpec, CapacityBufferStatus, ScalableReference, TemplateReference,
};
pub use common::{Condition, NodeClassReference, NodeSelectorRequirement, Quantities, TaintEntry};
pub use ec2_node_class::{
    BlockDevice, BlockDeviceMapping, ConnectionTracking, CpuOptions, Ec2NodeClass,
    Ec2NodeClassSpec, Ec2NodeClassStatus, EnclaveOptions, FoundImage, FoundSecurityGroup,
    FoundSubnet, ImageTerm, MetadataOptions, NetworkInterface, PlacementGroupSelector,
    SecurityGroupTerm, SubnetTerm, Tags,
};
pub use node_claim::{NodeClaim, NodeClaimSpec, NodeClaimStatus, ResourceRequests};
pub use node_overlay::{NodeOverlay, NodeOverlaySpec, NodeOverlayStatus};
pub use node_pool::{
    BudgetEntry, Disruption, NodePool, NodePoolSpec, NodePoolStatus, NodePoolTemplate,
    TemplateMetadata, TemplateSpec,
};
pub use policy::{
    ConfigMapReference, Policy, PolicySpec, PolicyStatus, RememberedModule, ShadowComparison,
};
