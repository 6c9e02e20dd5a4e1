//! Capacity: what a node of a type will report, told from its hardware before one was ever seen.
//!
//! The step before is the class's settings, the step after is [`super::overhead`].

use plimsoll_base::resources::{ResourceName, Resources};

use super::{AllocatableError, AllocatableSettings, GB, InstanceStorePolicy, MIB, signed};
use crate::instance_type::{Architecture, InstanceType};

/// Arm types report less than they are sold with; this much is taken off before the estimate.
const ARM_FIRMWARE_BYTES: u64 = 64 * MIB;

/// Pods that need no address of their own: the network plugin and kube-proxy run on the host network.
const HOST_NETWORK_PODS: u32 = 2;

pub(super) fn capacity(
    facts: &InstanceType,
    settings: &AllocatableSettings,
) -> Result<Resources, AllocatableError> {
    let mut capacity = Resources::new()
        .with(ResourceName::Cpu, i64::from(facts.vcpus) * 1_000)
        .with(ResourceName::Memory, signed(memory(facts, settings)))
        .with(
            ResourceName::EphemeralStorage,
            signed(ephemeral_storage(facts, settings)),
        )
        .with(ResourceName::Pods, i64::from(pods(facts, settings)?));
    for (name, amount) in extended(facts, settings) {
        capacity.set(ResourceName::from(name), i64::from(amount));
    }
    Ok(capacity)
}

/// Memory as sold, less the estimate of what firmware and hypervisor keep.
fn memory(facts: &InstanceType, settings: &AllocatableSettings) -> u64 {
    let firmware = match facts.architecture {
        Architecture::Arm64 => ARM_FIRMWARE_BYTES,
        Architecture::Amd64 => 0,
    };
    let seen = facts.memory_bytes().saturating_sub(firmware);
    seen.saturating_sub(settings.memory_overhead.of_rounded_up(seen, MIB))
}

/// The array of local disks where the class asks for one and the type has disks, else the volume.
fn ephemeral_storage(facts: &InstanceType, settings: &AllocatableSettings) -> u64 {
    match (settings.instance_store, facts.local_nvme_gb) {
        (InstanceStorePolicy::Raid0, Some(gigabytes)) => u64::from(gigabytes) * GB,
        _ => settings.ephemeral_volume_bytes,
    }
}

/// The set maximum, else what the interfaces allow; pods per core lower both.
fn pods(facts: &InstanceType, settings: &AllocatableSettings) -> Result<u32, AllocatableError> {
    let pods = match settings.max_pods {
        Some(maximum) => maximum,
        None => interface_pods(facts, settings, settings.reserved_interfaces)?,
    };
    match settings.pods_per_core {
        Some(per_core) if per_core > 0 && settings.family.honours_pods_per_core() => {
            Ok(pods.min(per_core.saturating_mul(facts.vcpus)))
        }
        _ => Ok(pods),
    }
}

/// Pods to which the default card's interfaces, less `reserved` of them, can give an address.
///
/// Each interface keeps its first address for itself. Without any interface left no pod fits.
pub(super) fn interface_pods(
    facts: &InstanceType,
    settings: &AllocatableSettings,
    reserved: u32,
) -> Result<u32, AllocatableError> {
    let Some(limits) = &facts.network else {
        return Err(AllocatableError::NoNetworkLimits {
            instance_type: facts.name,
        });
    };
    let without_addresses = settings
        .class_interfaces
        .map_or(0, |listed| listed.efa_only_on_first_card);
    let interfaces = limits
        .default_card_interfaces()
        .saturating_sub(reserved)
        .saturating_sub(without_addresses);
    if interfaces == 0 {
        return Ok(0);
    }
    Ok(interfaces * limits.ipv4_per_interface.saturating_sub(1) + HOST_NETWORK_PODS)
}

/// Devices that pods ask for by name, and interfaces of their own; only those of which there is at least one.
fn extended(facts: &InstanceType, settings: &AllocatableSettings) -> Vec<(&'static str, u32)> {
    let branch_interfaces = facts
        .network
        .as_ref()
        .map_or(0, |limits| limits.branch_interfaces);
    let efa = settings
        .class_interfaces
        .map_or(facts.efa_interfaces.unwrap_or(0), |listed| listed.efa_only);
    let mut amounts = vec![
        ("vpc.amazonaws.com/pod-eni", branch_interfaces),
        ("vpc.amazonaws.com/efa", efa),
    ];
    if let Some(gpu) = &facts.gpu {
        amounts.extend(gpu_resource(gpu.manufacturer).map(|resource| (resource, gpu.count)));
    }
    if let Some(accelerator) = facts
        .accelerator
        .as_ref()
        .filter(|device| device.manufacturer == "aws")
    {
        amounts.push(("aws.amazon.com/neuron", accelerator.count));
        amounts.push((
            "aws.amazon.com/neuroncore",
            accelerator.count * accelerator.cores_each.unwrap_or(0),
        ));
    }
    amounts.retain(|(_, amount)| *amount > 0);
    amounts
}

/// The resource under which a maker's device plugin offers its GPUs.
fn gpu_resource(manufacturer: &str) -> Option<&'static str> {
    match manufacturer {
        "nvidia" => Some("nvidia.com/gpu"),
        "amd" => Some("amd.com/gpu"),
        "habana" => Some("habana.ai/gaudi"),
        _ => None,
    }
}
