//! Overhead: what of a node's capacity the kubelet and the system keep from pods.
//!
//! The step before is [`super::capacity`]. Soft eviction thresholds do not count: the kubelet does not subtract them.

use super::capacity::interface_pods;
use super::{
    AllocatableError, AllocatableSettings, Eviction, GIB, MIB, ReservedSetting, Resources,
};
use crate::instance_type::InstanceType;
use crate::share::Share;

/// Kube-reserved processor time by tiers: up to so many milli-CPU, so many millionths are kept.
const CPU_TIERS: [(u64, u64); 4] = [
    (1_000, 60_000),
    (2_000, 10_000),
    (4_000, 5_000),
    (u64::MAX, 2_500),
];
const RESERVED_MEMORY_PER_POD: u64 = 11 * MIB;
const RESERVED_MEMORY_BASE: u64 = 255 * MIB;
const RESERVED_EPHEMERAL_STORAGE: u64 = GIB;
const MEMORY_EVICTION: Eviction = Eviction::Bytes(100 * MIB);
const EPHEMERAL_STORAGE_EVICTION: Eviction = Eviction::Share(Share::from_percent(10));

/// Amounts kept for one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reserved {
    /// Processor time, thousandths of a virtual CPU.
    pub cpu_milli: u64,
    /// Memory.
    pub memory_bytes: u64,
    /// Ephemeral storage.
    pub ephemeral_storage_bytes: u64,
}

impl Reserved {
    fn plus(self, other: Self) -> Self {
        Self {
            cpu_milli: self.cpu_milli.saturating_add(other.cpu_milli),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
            ephemeral_storage_bytes: self
                .ephemeral_storage_bytes
                .saturating_add(other.ephemeral_storage_bytes),
        }
    }
}

/// All that is kept from pods, by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overhead {
    /// For the kubelet and the container runtime.
    pub kube_reserved: Reserved,
    /// For the rest of the system; nothing unless set.
    pub system_reserved: Reserved,
    /// Below this the kubelet evicts.
    pub eviction_threshold: Reserved,
}

impl Overhead {
    /// The sum over the purposes.
    pub fn total(&self) -> Reserved {
        self.kube_reserved
            .plus(self.system_reserved)
            .plus(self.eviction_threshold)
    }
}

pub(super) fn overhead(
    facts: &InstanceType,
    capacity: &Resources,
    settings: &AllocatableSettings,
) -> Result<Overhead, AllocatableError> {
    let storage_eviction = settings
        .ephemeral_storage_eviction
        .unwrap_or(EPHEMERAL_STORAGE_EVICTION);
    Ok(Overhead {
        kube_reserved: kube_reserved(facts, capacity, settings)?,
        system_reserved: Reserved {
            cpu_milli: settings.system_reserved.cpu_milli.unwrap_or(0),
            memory_bytes: settings.system_reserved.memory_bytes.unwrap_or(0),
            ephemeral_storage_bytes: settings
                .system_reserved
                .ephemeral_storage_bytes
                .unwrap_or(0),
        },
        eviction_threshold: Reserved {
            cpu_milli: 0,
            memory_bytes: threshold(
                settings.memory_eviction.unwrap_or(MEMORY_EVICTION),
                capacity.memory_bytes,
            ),
            ephemeral_storage_bytes: threshold(storage_eviction, capacity.ephemeral_storage_bytes),
        },
    })
}

fn kube_reserved(
    facts: &InstanceType,
    capacity: &Resources,
    settings: &AllocatableSettings,
) -> Result<Reserved, AllocatableError> {
    let ReservedSetting {
        cpu_milli,
        memory_bytes,
        ephemeral_storage_bytes,
    } = settings.kube_reserved;
    let memory_bytes = match memory_bytes {
        Some(set) => set,
        None => reserved_memory(facts, capacity, settings)?,
    };
    Ok(Reserved {
        cpu_milli: cpu_milli.unwrap_or_else(|| reserved_cpu(capacity.cpu_milli)),
        memory_bytes,
        ephemeral_storage_bytes: ephemeral_storage_bytes.unwrap_or(RESERVED_EPHEMERAL_STORAGE),
    })
}

/// Memory for the kubelet grows with pods; most families count the pods that all interfaces together could serve.
fn reserved_memory(
    facts: &InstanceType,
    capacity: &Resources,
    settings: &AllocatableSettings,
) -> Result<u64, AllocatableError> {
    let pods = if settings.family.reserves_memory_for_interface_pods() {
        interface_pods(facts, settings, 0)?
    } else {
        capacity.pods
    };
    Ok(RESERVED_MEMORY_PER_POD * u64::from(pods) + RESERVED_MEMORY_BASE)
}

/// Each tier's share of processor time, cut to whole milli-CPU, and summed.
fn reserved_cpu(capacity_milli: u64) -> u64 {
    let mut reserved = 0;
    let mut from = 0;
    for (to, parts_per_million) in CPU_TIERS {
        let within = capacity_milli.min(to).saturating_sub(from);
        reserved += within * parts_per_million / 1_000_000;
        from = to;
    }
    reserved
}

/// The bytes below which a threshold evicts.
fn threshold(eviction: Eviction, capacity_bytes: u64) -> u64 {
    match eviction {
        Eviction::Bytes(bytes) => bytes,
        Eviction::Share(Share::WHOLE) => 0,
        Eviction::Share(share) => share.of_rounded_up(capacity_bytes, 1),
    }
}
