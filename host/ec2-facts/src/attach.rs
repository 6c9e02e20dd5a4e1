//! EBS volumes for pods that the nodes of a type can attach: what the driver `ebs.csi.aws.com` reports on a node, at most.
//!
//! Rules of the EC2 user guide ("Amazon EBS volume limits") and of the driver's own count:
//! - types on Xen have slots for 39 volumes;
//! - types on Nitro have 28 slots that volumes share with network interfaces, local NVMe disks, GPUs and accelerators;
//! - newer families have slots for volumes alone, more of them on larger sizes;
//! - the volumes that a node boots with take slots of their own, and one slot is always left.
//!
//! Of network interfaces all that the first card can have are taken as attached, since addresses for pods are attached as
//! pods come; the driver counts those that are there when it starts. No source states how many local disks a type has: the
//! most that any type of its size has is taken. So the number here is never above the driver's.

use crate::allocatable::{AllocatableSettings, ImageFamily};
use crate::instance_type::{Hypervisor, InstanceType};

/// The CSI driver whose volumes are counted.
pub const EBS_DRIVER: &str = "ebs.csi.aws.com";

/// Slots of a type on Xen.
const XEN_SLOTS: u32 = 39;
/// Slots of a type on Nitro that everything attached shares.
const SHARED_SLOTS: u32 = 28;

/// Families with slots for volumes alone, as the user guide lists them.
const DEDICATED: [&str; 24] = [
    "c7a", "c7i", "c7i-flex", "c8g", "f2", "g6", "g6e", "gr6", "hpc7a", "i7ie", "i8g", "m7a",
    "m7i", "m7i-flex", "m8g", "p5", "p5e", "p5en", "r7a", "r7i", "r7iz", "r8g", "trn2", "x8g",
];
/// Prefix of further families with such slots.
const DEDICATED_LARGE_MEMORY: &str = "u7i";
/// Volumes of bare metal in those families below 32 times xlarge; the guide says 39, the driver 31.
const DEDICATED_METAL: u32 = 31;
/// Volumes of larger bare metal in those families.
const DEDICATED_LARGE_METAL: u32 = 79;

/// Types for which the guide states a lower number of volumes, that of the root included.
const STATED: [(&str, u32); 3] = [("d3.8xlarge", 3), ("d3en.12xlarge", 3), ("g5.48xlarge", 9)];

impl InstanceType {
    /// Volumes for pods that a node can attach, 1 at least; `None` where the sources do not tell its network interfaces.
    pub fn attach_slots(&self, settings: &AllocatableSettings) -> Option<u32> {
        let own = settings.node_volumes.unwrap_or(match settings.family {
            ImageFamily::Bottlerocket => 2,
            ImageFamily::Al2 | ImageFamily::Al2023 | ImageFamily::Custom => 1,
        });
        let all = if self.hypervisor == Some(Hypervisor::Xen) {
            XEN_SLOTS
        } else if self.has_dedicated_slots() {
            self.dedicated_slots()
        } else {
            SHARED_SLOTS.saturating_sub(self.other_devices()?)
        };
        let stated = STATED.iter().find(|(name, _)| *name == self.name);
        let all = stated.map_or(all, |(_, stated)| all.min(*stated));
        Some(all.saturating_sub(own).max(1))
    }

    fn has_dedicated_slots(&self) -> bool {
        let family = self.family();
        family.starts_with(DEDICATED_LARGE_MEMORY) || DEDICATED.contains(&family)
    }

    /// Slots by size, in the families that have them for volumes alone.
    fn dedicated_slots(&self) -> u32 {
        let times = self.times_xlarge();
        if self.is_bare_metal() {
            return if times < 32 {
                DEDICATED_METAL
            } else {
                DEDICATED_LARGE_METAL
            };
        }
        match times {
            0..=15 => 32,
            16..=23 => 48,
            24..=31 => 64,
            32..=47 => 88,
            _ => 128,
        }
    }

    /// The number in a size such as `16xlarge` or `metal-24xl`; 0 for sizes below two.
    fn times_xlarge(&self) -> u32 {
        let digits = self.size().trim_matches(|c: char| !c.is_ascii_digit());
        digits.parse().unwrap_or(0)
    }

    /// Devices beside volumes that take shared slots, at most.
    fn other_devices(&self) -> Option<u32> {
        let interfaces = self.network.as_ref()?.default_card_interfaces();
        let gpus = self.gpu.as_ref().map_or(0, |gpu| gpu.count);
        let accelerators = self.accelerator.as_ref().map_or(0, |one| one.count);
        Some(interfaces + gpus + accelerators + self.local_disks())
    }

    /// Local disks that such a type has at most: families made for disks have one for every four processors, D3 with its
    /// hard disks up to three, others one for every eight and no more than four, P4 eight.
    fn local_disks(&self) -> u32 {
        if self.local_nvme_gb.is_none() {
            return 0;
        }
        match self.category() {
            "d" => (self.vcpus * 3).div_ceil(4),
            "i" | "im" | "is" => self.vcpus.div_ceil(4).min(8),
            "p" => 8,
            _ => self.vcpus.div_ceil(8).min(4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance_type::{instance_type, instance_types};

    fn slots(name: &str) -> u32 {
        let facts = instance_type(name).unwrap();
        facts.attach_slots(&AllocatableSettings::default()).unwrap()
    }

    #[test]
    fn nitro_types_share_slots_with_network_cards_disks_and_gpus() {
        // 28 less interfaces, less the root volume.
        assert_eq!((slots("m5.large"), slots("m5.24xlarge")), (24, 12));
        // Less one disk, less two.
        assert_eq!((slots("m5d.large"), slots("m5d.4xlarge")), (23, 17));
        // 3 interfaces, 1 GPU, 1 disk.
        assert_eq!(slots("g4dn.xlarge"), 22);
    }

    #[test]
    fn newer_families_have_slots_for_volumes_alone() {
        let by_size = ["m7i.large", "m7i.12xlarge", "m7i.16xlarge", "m7i.24xlarge"].map(slots);
        assert_eq!(by_size, [31, 31, 47, 63]);
        assert_eq!((slots("r7iz.32xlarge"), slots("m7i.48xlarge")), (87, 127));
        assert_eq!((slots("m7i.metal-24xl"), slots("m7i.metal-48xl")), (30, 78));
        assert_eq!(slots("u7in-16tb.224xlarge"), 127);
        assert_eq!(slots("m7g.large"), 24, "Graviton 3 still shares");
    }

    #[test]
    fn old_types_have_more_and_crowded_ones_fewer() {
        assert_eq!(slots("m4.large"), 38);
        assert_eq!((slots("d3.8xlarge"), slots("g5.48xlarge")), (1, 8));
        assert_eq!(slots("inf1.24xlarge"), 1, "one slot is always left");
    }

    #[test]
    fn volumes_that_a_node_boots_with_take_slots() {
        let facts = instance_type("m7i.large").unwrap();
        let bottlerocket = AllocatableSettings {
            family: ImageFamily::Bottlerocket,
            ..AllocatableSettings::default()
        };
        let three = AllocatableSettings {
            node_volumes: Some(3),
            ..AllocatableSettings::default()
        };
        assert_eq!(facts.attach_slots(&bottlerocket), Some(30));
        assert_eq!(facts.attach_slots(&three), Some(29));
    }

    #[test]
    fn every_type_with_network_limits_has_slots_and_no_listed_family_is_missing() {
        for facts in instance_types() {
            let slots = facts.attach_slots(&AllocatableSettings::default());
            let told = facts.network.is_some() || facts.has_dedicated_slots();
            assert_eq!(slots.is_some(), told, "{}", facts.name);
            assert!(slots.is_none_or(|slots| (1..=127).contains(&slots)));
        }
        for family in &DEDICATED {
            assert!(
                instance_types().iter().any(|one| one.family() == *family),
                "{family}"
            );
        }
    }
}
