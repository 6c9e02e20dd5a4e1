//! The settings that change what a node offers: the operator's flags, the class's image family, disks and kubelet section.
//!
//! The default of each is Karpenter's default, with an AL2023 image.

use crate::share::Share;

/// The image family of a class, as far as it changes capacity and overhead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageFamily {
    /// Amazon Linux 2.
    Al2,
    /// Amazon Linux 2023.
    #[default]
    Al2023,
    /// Bottlerocket. Reserves memory for the pods it may really run, and ignores pods per core.
    Bottlerocket,
    /// An image of the user's own.
    Custom,
}

impl ImageFamily {
    /// `true` if kube-reserved memory counts the pods that the interfaces allow, even where fewer are allowed.
    pub(crate) const fn reserves_memory_for_interface_pods(self) -> bool {
        !matches!(self, Self::Bottlerocket)
    }

    /// `true` if the kubelet's `podsPerCore` is honoured.
    pub(crate) const fn honours_pods_per_core(self) -> bool {
        !matches!(self, Self::Bottlerocket)
    }
}

/// Use of local NVMe disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InstanceStorePolicy {
    /// Left alone: ephemeral storage is on the EBS volume.
    #[default]
    Unused,
    /// Joined to one array that holds ephemeral storage, on types that have such disks.
    Raid0,
}

/// Amounts that a kubelet map (`kubeReserved`, `systemReserved`) names; `None` where it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReservedSetting {
    /// Processor time, thousandths of a virtual CPU.
    pub cpu_milli: Option<u64>,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Ephemeral storage.
    pub ephemeral_storage_bytes: Option<u64>,
}

/// A hard eviction threshold of the kubelet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eviction {
    /// Evict below this amount.
    Bytes(u64),
    /// Evict below this share of capacity; the whole switches the threshold off, as in the kubelet.
    Share(Share),
}

/// The network interfaces that a class lists itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassInterfaces {
    /// Entries of type `efa-only`.
    pub efa_only: u32,
    /// Those of them on card 0, where they take the place of interfaces with addresses.
    pub efa_only_on_first_card: u32,
}

/// All that decides, beside the hardware, what pods may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocatableSettings {
    /// Image family.
    pub family: ImageFamily,
    /// Share of memory taken to be kept by hypervisor and firmware (`VM_MEMORY_OVERHEAD_PERCENT`).
    pub memory_overhead: Share,
    /// The kubelet's `maxPods`; without it pods follow from the network interfaces.
    pub max_pods: Option<u32>,
    /// The kubelet's `podsPerCore`; 0 is the same as `None`.
    pub pods_per_core: Option<u32>,
    /// Interfaces of each node kept from pods (`RESERVED_ENIS`).
    pub reserved_interfaces: u32,
    /// Interfaces that the class lists; `None` where it lists none.
    pub class_interfaces: Option<ClassInterfaces>,
    /// Entries of `kubeReserved`; each replaces the computed amount.
    pub kube_reserved: ReservedSetting,
    /// Entries of `systemReserved`.
    pub system_reserved: ReservedSetting,
    /// `evictionHard` for `memory.available`; without it 100 Mi.
    pub memory_eviction: Option<Eviction>,
    /// `evictionHard` for `nodefs.available`; without it 10 %.
    pub ephemeral_storage_eviction: Option<Eviction>,
    /// Size of the EBS volume that holds ephemeral storage. For Bottlerocket that is the data volume, else the root volume.
    pub ephemeral_volume_bytes: u64,
    /// Use of local disks; ephemeral storage comes from the volume where `None`.
    pub instance_store: InstanceStorePolicy,
    /// EBS volumes that each node boots with; `None` for those of the image family.
    pub node_volumes: Option<u32>,
}

impl Default for AllocatableSettings {
    fn default() -> Self {
        Self {
            family: ImageFamily::default(),
            memory_overhead: Share::from_parts_per_million(75_000),
            max_pods: None,
            pods_per_core: None,
            reserved_interfaces: 0,
            class_interfaces: None,
            kube_reserved: ReservedSetting::default(),
            system_reserved: ReservedSetting::default(),
            memory_eviction: None,
            ephemeral_storage_eviction: None,
            ephemeral_volume_bytes: 20 * super::GIB,
            instance_store: InstanceStorePolicy::default(),
            node_volumes: None,
        }
    }
}
