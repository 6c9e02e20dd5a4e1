//! Allocatable of a node of a type: capacity less overhead, from hardware facts and the settings of its class.
//!
//! The rules are Karpenter's for AWS: memory is estimated (the hypervisor keeps a share that EC2 does not publish), pods
//! follow from network interfaces unless set, and overhead is kube-reserved plus system-reserved plus the hard
//! eviction threshold. Nothing is stored that these rules can compute. The files `capacity` and `overhead` hold a half each.

mod capacity;
mod overhead;
mod settings;

use plimsoll_base::resources::Resources;
use thiserror::Error;

use crate::instance_type::InstanceType;

pub use overhead::Overhead;
pub use settings::{
    AllocatableSettings, ClassInterfaces, Eviction, ImageFamily, InstanceStorePolicy,
    ReservedSetting,
};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const GB: u64 = 1_000_000_000;

/// Why the room on a type cannot be computed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AllocatableError {
    /// The sources have no VPC limits for the type, and the settings need them.
    #[error(
        "instance type {instance_type}: its number of network interfaces is not documented; \
         expected a setting of maximum pods, and an image family whose memory overhead does not depend on interfaces"
    )]
    NoNetworkLimits {
        /// Name of the type.
        instance_type: &'static str,
    },
}

/// Capacity of a node and what of it is not for pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRoom {
    /// Capacity that the node reports (memory: as estimated before one was seen).
    pub capacity: Resources,
    /// Reserved by the kubelet and the system, and the eviction threshold.
    pub overhead: Overhead,
}

impl NodeRoom {
    /// Capacity less overhead; nothing falls below zero.
    pub fn allocatable(&self) -> Resources {
        self.capacity
            .minus(&self.overhead.total())
            .map(|_, amount| amount.max(0))
    }
}

/// The core's amounts are signed; what does not fit is more than any instance has.
fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

impl InstanceType {
    /// Capacity and overhead of a node of this type under `settings`.
    pub fn room(&self, settings: &AllocatableSettings) -> Result<NodeRoom, AllocatableError> {
        let capacity = capacity::capacity(self, settings)?;
        let overhead = overhead::overhead(self, &capacity, settings)?;
        Ok(NodeRoom { capacity, overhead })
    }
}

#[cfg(test)]
mod tests;
