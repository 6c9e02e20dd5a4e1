//! Overhead: what of a node's capacity the kubelet and the system keep from pods.
//!
//! The step before is [`super::capacity`]. Soft eviction thresholds do not count: the kubelet does not subtract them.

use plimsoll_base::resources::{ResourceName, Resources};

use super::capacity::interface_pods;
use super::{AllocatableError, AllocatableSettings, Eviction, GIB, MIB, signed};
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

/// All that is kept from pods, by purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overhead {
    /// For the kubelet and the container runtime.
    pub kube_reserved: Resources,
    /// For the rest of the system; nothing unless set.
    pub system_reserved: Resources,
    /// Below this the kubelet evicts.
    pub eviction_threshold: Resources,
}

impl Overhead {
    /// The sum over the purposes.
    pub fn total(&self) -> Resources {
        let mut total = self.kube_reserved.clone();
        total.add(&self.system_reserved);
        total.add(&self.eviction_threshold);
        total
    }
}

pub(super) fn overhead(
    facts: &InstanceType,
    capacity: &Resources,
    settings: &AllocatableSettings,
) -> Result<Overhead, AllocatableError> {
    let system = settings.system_reserved;
    Ok(Overhead {
        kube_reserved: kube_reserved(facts, capacity, settings)?,
        system_reserved: reserved(
            system.cpu_milli.unwrap_or(0),
            system.memory_bytes.unwrap_or(0),
            system.ephemeral_storage_bytes.unwrap_or(0),
        ),
        eviction_threshold: eviction_threshold(capacity, settings),
    })
}

fn reserved(cpu_milli: u64, memory_bytes: u64, ephemeral_storage_bytes: u64) -> Resources {
    Resources::new()
        .with(ResourceName::Cpu, signed(cpu_milli))
        .with(ResourceName::Memory, signed(memory_bytes))
        .with(
            ResourceName::EphemeralStorage,
            signed(ephemeral_storage_bytes),
        )
}

fn kube_reserved(
    facts: &InstanceType,
    capacity: &Resources,
    settings: &AllocatableSettings,
) -> Result<Resources, AllocatableError> {
    let set = settings.kube_reserved;
    let memory_bytes = match set.memory_bytes {
        Some(bytes) => bytes,
        None => reserved_memory(facts, capacity, settings)?,
    };
    let cpu_milli = set
        .cpu_milli
        .unwrap_or_else(|| reserved_cpu(u64::from(facts.vcpus) * 1_000));
    Ok(reserved(
        cpu_milli,
        memory_bytes,
        set.ephemeral_storage_bytes
            .unwrap_or(RESERVED_EPHEMERAL_STORAGE),
    ))
}

/// Memory for the kubelet grows with pods; most families count the pods that all interfaces together could serve.
fn reserved_memory(
    facts: &InstanceType,
    capacity: &Resources,
    settings: &AllocatableSettings,
) -> Result<u64, AllocatableError> {
    let pods = if settings.family.reserves_memory_for_interface_pods() {
        u64::from(interface_pods(facts, settings, 0)?)
    } else {
        capacity.get(&ResourceName::Pods).unsigned_abs()
    };
    Ok(RESERVED_MEMORY_PER_POD * pods + RESERVED_MEMORY_BASE)
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

/// The amounts below which the kubelet evicts.
fn eviction_threshold(capacity: &Resources, settings: &AllocatableSettings) -> Resources {
    let threshold = |eviction: Eviction, resource: &ResourceName| match eviction {
        Eviction::Bytes(bytes) => signed(bytes),
        Eviction::Share(Share::WHOLE) => 0,
        Eviction::Share(share) => {
            signed(share.of_rounded_up(capacity.get(resource).unsigned_abs(), 1))
        }
    };
    let memory = settings.memory_eviction.unwrap_or(MEMORY_EVICTION);
    let storage = settings
        .ephemeral_storage_eviction
        .unwrap_or(EPHEMERAL_STORAGE_EVICTION);
    Resources::new()
        .with(
            ResourceName::Memory,
            threshold(memory, &ResourceName::Memory),
        )
        .with(
            ResourceName::EphemeralStorage,
            threshold(storage, &ResourceName::EphemeralStorage),
        )
}
