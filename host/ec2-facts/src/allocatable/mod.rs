//! What pods may use on a node of a type: capacity less overhead, from hardware facts and the settings of its class.
//!
//! The rules are Karpenter's for AWS: memory is estimated (the hypervisor keeps a share that EC2 does not publish), pods
//! follow from network interfaces unless set, and overhead is kube-reserved plus system-reserved plus the hard
//! eviction threshold. Nothing is stored that these rules can compute. [`capacity`] and [`overhead`] hold a half each.

mod capacity;
mod overhead;
mod settings;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::instance_type::InstanceType;

pub use overhead::{Overhead, Reserved};
pub use settings::{
    AllocatableSettings, ClassInterfaces, Eviction, ImageFamily, InstanceStorePolicy,
    ReservedSetting,
};

pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const GB: u64 = 1_000_000_000;

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

/// Amounts of what a node offers or what is taken from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resources {
    /// Processor time, thousandths of a virtual CPU.
    pub cpu_milli: u64,
    /// Memory.
    pub memory_bytes: u64,
    /// Disk for images, logs, writable layers and emptyDir volumes.
    pub ephemeral_storage_bytes: u64,
    /// Pods.
    pub pods: u32,
    /// Extended resources by name; only those of which there is at least one.
    pub extended: BTreeMap<&'static str, u64>,
}

/// Capacity of a node and what of it is not for pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRoom {
    /// What the node reports as capacity (memory: as estimated before one was seen).
    pub capacity: Resources,
    /// What the kubelet and the system keep.
    pub overhead: Overhead,
}

impl NodeRoom {
    /// Capacity less overhead; nothing falls below zero.
    pub fn allocatable(&self) -> Resources {
        let taken = self.overhead.total();
        let mut left = self.capacity.clone();
        left.cpu_milli = left.cpu_milli.saturating_sub(taken.cpu_milli);
        left.memory_bytes = left.memory_bytes.saturating_sub(taken.memory_bytes);
        left.ephemeral_storage_bytes = left
            .ephemeral_storage_bytes
            .saturating_sub(taken.ephemeral_storage_bytes);
        left
    }
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
