//! The table of instance types: hardware as documented, one value per type, in name order.
//!
//! From `tables/instance-types.tsv`, parsed on first use. Names are unique and sorted bytewise, which lookup relies on.
//! What a type's name tells (family, size, generation, flex, bare metal) is a method, not a field: the script
//! that writes the table refuses sources where the two differ.

use std::sync::OnceLock;

use crate::enclaves;
use crate::table::{Row, Table, TableError};

const TABLE: Table = Table {
    name: "instance-types",
    text: include_str!("../tables/instance-types.tsv"),
};

/// Families whose virtual machines can run others, as EC2's API reference has it (`CpuOptionsRequest`).
const NESTED_VIRTUALIZATION: [&str; 6] = ["c8i", "c8i-flex", "m8i", "m8i-flex", "r8i", "r8i-flex"];

/// Processor architecture, in Kubernetes' words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Architecture {
    /// 64-bit x86.
    Amd64,
    /// 64-bit Arm.
    Arm64,
}

impl Architecture {
    /// The value of `kubernetes.io/arch`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

/// Hypervisor of a virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hypervisor {
    /// AWS Nitro.
    Nitro,
    /// Xen, on the older generations.
    Xen,
}

impl Hypervisor {
    /// The value of `karpenter.k8s.aws/instance-hypervisor`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nitro => "nitro",
            Self::Xen => "xen",
        }
    }
}

/// The GPUs of a type; all of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// Maker in lower case: `nvidia` or `amd`.
    pub manufacturer: &'static str,
    /// Model in lower-case words joined by dashes, such as `l40s`.
    pub name: &'static str,
    /// Whole GPUs. 0 where the type has a fraction of one, which Kubernetes cannot count.
    pub count: u32,
    /// Memory of each GPU (of the fraction, where the count is 0).
    pub memory_mib: u32,
}

/// The inference and training accelerators of a type; all of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accelerator {
    /// Maker in lower case: `aws` for Neuron devices, else the maker's name.
    pub manufacturer: &'static str,
    /// Model in lower-case words joined by dashes, such as `inferentia2`.
    pub name: &'static str,
    /// Devices.
    pub count: u32,
    /// Neuron cores of each device; `None` for devices of other makers.
    pub cores_each: Option<u32>,
}

/// How many network interfaces and addresses the VPC grants to a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkLimits {
    /// Interfaces per network card, card 0 (the default card) first; never empty.
    pub interfaces_per_card: Vec<u32>,
    /// IPv4 addresses of each interface, its primary address included.
    pub ipv4_per_interface: u32,
    /// Branch interfaces for pods with security groups of their own; 0 where trunking is not supported.
    pub branch_interfaces: u32,
}

impl NetworkLimits {
    /// Interfaces of the default card, from which pods get their addresses.
    pub fn default_card_interfaces(&self) -> u32 {
        self.interfaces_per_card.first().copied().unwrap_or(0)
    }
}

/// One EC2 instance type as documented. `None` means that the sources do not state it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceType {
    /// Name, such as `m6g.2xlarge`.
    pub name: &'static str,
    /// Default virtual CPUs.
    pub vcpus: u32,
    /// Memory as sold, before anything is taken off.
    pub memory_mib: u32,
    /// Processor architecture.
    pub architecture: Architecture,
    /// Processor maker in lower case: `aws`, `intel` or `amd`.
    pub cpu_manufacturer: &'static str,
    /// Sustained clock speed; 0 where EC2 names none.
    pub clock_mhz: u32,
    /// Hypervisor; bare metal has none.
    pub hypervisor: Option<Hypervisor>,
    /// `true` if instances can run virtual machines of their own where they are launched for it. No list that the table is made of says so: it
    /// follows from the family.
    pub nested_virtualization: bool,
    /// `true` if instances can run Nitro Enclaves where they are launched for it. No list that the table is made of says so: it follows from
    /// family and size.
    pub enclaves: bool,
    /// `true` if traffic between such instances is encrypted by the network card.
    pub encryption_in_transit: bool,
    /// Bandwidth to EBS in Mbit/s, where EBS optimisation is on by default.
    pub ebs_mbps: Option<u32>,
    /// Network bandwidth in Mbit/s; old types are documented in words only and have none.
    pub network_mbps: Option<u32>,
    /// All local NVMe disks together in GB (10^9 bytes).
    pub local_nvme_gb: Option<u32>,
    /// GPUs.
    pub gpu: Option<Gpu>,
    /// Accelerators that are not GPUs.
    pub accelerator: Option<Accelerator>,
    /// VPC limits.
    pub network: Option<NetworkLimits>,
    /// Elastic Fabric Adapter interfaces; known only for the types whose allocatable is documented.
    pub efa_interfaces: Option<u32>,
}

impl InstanceType {
    /// The part of the name before the dot, such as `c7i-flex`.
    pub fn family(&self) -> &'static str {
        self.name
            .split_once('.')
            .map_or(self.name, |(family, _)| family)
    }

    /// The part of the name after the dot, such as `metal-48xl`.
    pub fn size(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(_, size)| size)
    }

    /// The letters that open the name, such as `c`, `hpc` or `u`.
    pub fn category(&self) -> &'static str {
        let letters = self.name.bytes().take_while(u8::is_ascii_lowercase).count();
        &self.name[..letters]
    }

    /// The generation: the number after the category, or after the memory size that some names put between (`u-6tb1` is generation 1).
    pub fn generation(&self) -> &'static str {
        let after_category = &self.family()[self.category().len()..];
        let tail = match after_category
            .strip_prefix('-')
            .and_then(|sized| sized.split_once("tb"))
        {
            Some((_, tail)) => tail,
            None => after_category,
        };
        &tail[..tail.bytes().take_while(u8::is_ascii_digit).count()]
    }

    /// `true` if the type gives its full processor only most of the time (the `-flex` families).
    pub fn is_flex(&self) -> bool {
        self.family().contains("-flex")
    }

    /// `true` if the whole machine is rented, without hypervisor.
    pub fn is_bare_metal(&self) -> bool {
        self.size().starts_with("metal")
    }

    /// `true` if processor time is earned as credits (categories `t1` to `t4g`).
    pub fn is_burstable(&self) -> bool {
        self.category() == "t"
    }

    /// Memory as sold, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        u64::from(self.memory_mib) << 20
    }
}

/// All documented types in name order.
pub fn instance_types() -> &'static [InstanceType] {
    static TYPES: OnceLock<Vec<InstanceType>> = OnceLock::new();
    TYPES.get_or_init(|| {
        read_all(TABLE).expect("the compiled-in table was read in full by this crate's tests")
    })
}

/// The type of this name, if it is documented.
pub fn instance_type(name: &str) -> Option<&'static InstanceType> {
    let types = instance_types();
    types
        .binary_search_by(|candidate| candidate.name.cmp(name))
        .ok()
        .map(|index| &types[index])
}

fn read_all(table: Table) -> Result<Vec<InstanceType>, TableError> {
    let mut types: Vec<InstanceType> = Vec::new();
    for mut row in table.rows() {
        let name = row.text("name")?;
        if types.last().is_some_and(|last| last.name >= name) {
            return Err(row.wrong("name", name, "a name after that of the row before"));
        }
        types.push(read_type(name, &mut row)?);
        row.end()?;
    }
    Ok(types)
}

/// `true` for a virtual machine of a family that can run others.
fn can_nest_virtual_machines(name: &str) -> bool {
    let parts = name.split_once('.');
    parts.is_some_and(|(family, size)| {
        NESTED_VIRTUALIZATION.contains(&family) && !size.starts_with("metal")
    })
}

fn read_type(name: &'static str, row: &mut Row) -> Result<InstanceType, TableError> {
    let mut facts = InstanceType {
        name,
        vcpus: row.value("cpu")?,
        memory_mib: row.value("memory_mib")?,
        architecture: match row.text("architecture")? {
            "amd64" => Architecture::Amd64,
            "arm64" => Architecture::Arm64,
            other => return Err(row.wrong("architecture", other, "amd64 or arm64")),
        },
        cpu_manufacturer: row.text("cpu_manufacturer")?,
        clock_mhz: row.value("clock_mhz")?,
        hypervisor: match row.stated("hypervisor")? {
            None => None,
            Some("nitro") => Some(Hypervisor::Nitro),
            Some("xen") => Some(Hypervisor::Xen),
            Some(other) => return Err(row.wrong("hypervisor", other, "nitro or xen")),
        },
        nested_virtualization: can_nest_virtual_machines(name),
        encryption_in_transit: row.value("encryption_in_transit")?,
        ebs_mbps: row.stated_value("ebs_mbps")?,
        network_mbps: row.stated_value("network_mbps")?,
        local_nvme_gb: row.stated_value("local_nvme_gb")?,
        gpu: read_gpu(row)?,
        accelerator: read_accelerator(row)?,
        network: read_network(row)?,
        efa_interfaces: row.stated_value("efa")?,
        enclaves: false,
    };
    facts.enclaves = enclaves::can_run(&facts);
    Ok(facts)
}

fn read_gpu(row: &mut Row) -> Result<Option<Gpu>, TableError> {
    let manufacturer = row.stated("gpu_manufacturer")?;
    let name = row.stated("gpu_name")?;
    let count = row.stated_value("gpu_count")?;
    let memory_mib = row.stated_value("gpu_memory_mib")?;
    match (manufacturer, name, count, memory_mib) {
        (Some(manufacturer), Some(name), Some(count), Some(memory_mib)) => Ok(Some(Gpu {
            manufacturer,
            name,
            count,
            memory_mib,
        })),
        (None, None, None, None) => Ok(None),
        _ => Err(row.partial("gpu_name", name, "all four columns of a gpu or none")),
    }
}

fn read_accelerator(row: &mut Row) -> Result<Option<Accelerator>, TableError> {
    let manufacturer = row.stated("accelerator_manufacturer")?;
    let name = row.stated("accelerator_name")?;
    let count = row.stated_value("accelerator_count")?;
    let cores_each = row.stated_value("cores_per_accelerator")?;
    match (manufacturer, name, count) {
        (Some(manufacturer), Some(name), Some(count)) => Ok(Some(Accelerator {
            manufacturer,
            name,
            count,
            cores_each,
        })),
        (None, None, None) => Ok(None),
        _ => Err(row.partial(
            "accelerator_name",
            name,
            "maker, name and count, or none of them",
        )),
    }
}

fn read_network(row: &mut Row) -> Result<Option<NetworkLimits>, TableError> {
    let cards = row.stated("interfaces_per_card")?;
    let ipv4_per_interface = row.stated_value("ipv4_per_interface")?;
    let branch_interfaces = row.stated_value("branch_interfaces")?;
    match (cards, ipv4_per_interface, branch_interfaces) {
        (Some(cards), Some(ipv4_per_interface), Some(branch_interfaces)) => {
            let counts: Result<Vec<u32>, _> = cards.split(',').map(str::parse).collect();
            let interfaces_per_card = counts.map_err(|_| {
                row.wrong("interfaces_per_card", cards, "whole numbers between commas")
            })?;
            Ok(Some(NetworkLimits {
                interfaces_per_card,
                ipv4_per_interface,
                branch_interfaces,
            }))
        }
        (None, None, None) => Ok(None),
        _ => Err(row.partial(
            "interfaces_per_card",
            cards,
            "all three network columns or none",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_type_is_read() {
        assert_eq!(instance_types().len(), 1_363);
        for facts in instance_types() {
            assert_eq!(instance_type(facts.name), Some(facts));
            assert_eq!(
                facts.is_bare_metal(),
                facts.hypervisor.is_none(),
                "{}",
                facts.name
            );
            assert!(!facts.generation().is_empty(), "{}", facts.name);
        }
    }

    #[test]
    fn undocumented_names_are_not_found() {
        for name in [
            "",
            "m5",
            "m5.",
            "m5.2xlarg",
            "m5.2xlarges",
            "mac2.metal",
            "z9.large",
        ] {
            assert_eq!(instance_type(name), None, "{name}");
        }
    }

    #[test]
    fn names_tell_family_size_category_and_generation() {
        for (name, expected) in [
            ("m6g.2xlarge", ["m6g", "2xlarge", "m", "6"]),
            ("c7i-flex.large", ["c7i-flex", "large", "c", "7"]),
            ("u-6tb1.112xlarge", ["u-6tb1", "112xlarge", "u", "1"]),
            ("u7i-12tb.224xlarge", ["u7i-12tb", "224xlarge", "u", "7"]),
            ("p6-b200.48xlarge", ["p6-b200", "48xlarge", "p", "6"]),
            ("hpc7g.16xlarge", ["hpc7g", "16xlarge", "hpc", "7"]),
        ] {
            let facts = instance_type(name).unwrap();
            assert_eq!(
                [
                    facts.family(),
                    facts.size(),
                    facts.category(),
                    facts.generation()
                ],
                expected
            );
        }
    }

    #[test]
    fn rows_hold_gpus_accelerators_disks_and_cards() {
        let p4d = instance_type("p4d.24xlarge").unwrap();
        assert_eq!(
            p4d.gpu,
            Some(Gpu {
                manufacturer: "nvidia",
                name: "a100",
                count: 8,
                memory_mib: 40_960
            })
        );
        assert_eq!(
            p4d.network.as_ref().unwrap().interfaces_per_card,
            [15, 15, 15, 15]
        );
        assert_eq!(
            (p4d.local_nvme_gb, p4d.efa_interfaces),
            (Some(8_000), Some(4))
        );
        let inf2 = instance_type("inf2.xlarge")
            .unwrap()
            .accelerator
            .as_ref()
            .unwrap();
        assert_eq!(
            (inf2.count, inf2.cores_each),
            (1, Some(2)),
            "cores are those of the same device elsewhere"
        );
    }

    #[test]
    fn a_table_out_of_order_is_refused() {
        let mut lines: Vec<&str> = TABLE.text.lines().collect();
        lines.swap(2, 3);
        let text = String::leak(lines.join("\n"));
        let error = read_all(Table {
            name: "swapped",
            text,
        })
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "table swapped, line 4: name is \"a1.2xlarge\", expected a name after that of the row before"
        );
    }
}
