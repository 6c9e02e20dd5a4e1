//! Instance types, out of what EC2 says of them: hardware as [`plimsoll_ec2_facts`] reckons with it, and whether there is any on demand or as spot.
//!
//! EC2 says nothing of branch interfaces and is vague about network bandwidth: both come from the compiled table, and are absent for types that it
//! does not know. A type that cannot be read is an error with the field, and leaves the others as they are.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Display;

use aws_sdk_ec2::types::{
    self as ec2, ArchitectureType, EbsOptimizedSupport, EphemeralNvmeSupport,
    InstanceTypeHypervisor, InstanceTypeInfo, NetworkCardInfo, NitroEnclavesSupport,
    SupportedAdditionalProcessorFeature as ProcessorFeature, UsageClassType,
};
use plimsoll_ec2_facts::catalogue::{CapacityTypes, SoldType};
use plimsoll_ec2_facts::instance_type::{
    Accelerator, Architecture, Gpu, Hypervisor, NetworkLimits,
};
use plimsoll_ec2_facts::{InstanceType, instance_type, word};

/// Thousandths in a whole.
const THOUSAND: f64 = 1_000.0;

/// A field of a type's description that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("instance type {instance_type}: {field} is {value}; expected {expected}")]
pub struct TypeError {
    /// The type.
    pub instance_type: String,
    /// Path of the field in EC2's answer.
    pub field: &'static str,
    /// Its value, `absent` where there is none.
    pub value: String,
    /// Values that can be read.
    pub expected: &'static str,
}

/// All types that EC2 told of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToldTypes {
    /// Those that are sold on demand or as spot, by name.
    pub sold: BTreeMap<String, SoldType>,
    /// Why others cannot be sold, in the order in which EC2 named them.
    pub unread: Vec<TypeError>,
}

/// Reads all types of an answer.
pub(crate) fn read_all<'i>(told: impl IntoIterator<Item = &'i InstanceTypeInfo>) -> ToldTypes {
    let mut types = ToldTypes::default();
    for info in told {
        match read(info) {
            Ok(Some(sold)) => {
                types.sold.insert(sold.facts.name.to_owned(), sold);
            }
            Ok(None) => {}
            Err(error) => types.unread.push(error),
        }
    }
    types
}

/// Reads one type; `None` if there is none of it on demand or as spot, only in blocks that are reserved.
pub(crate) fn read(info: &InstanceTypeInfo) -> Result<Option<SoldType>, TypeError> {
    let reading = Reading::new(info)?;
    let Some(capacity_types) = capacity_types(info) else {
        return Ok(None);
    };
    let facts = InstanceType {
        name: word(reading.name),
        vcpus: reading.vcpus()?,
        memory_mib: reading.memory()?,
        architecture: reading.architecture()?,
        cpu_manufacturer: reading.cpu_manufacturer()?,
        clock_mhz: reading.clock()?,
        hypervisor: reading.hypervisor()?,
        nested_virtualization: reading.nested_virtualization(),
        enclaves: info.nitro_enclaves_support() == Some(&NitroEnclavesSupport::Supported),
        encryption_in_transit: reading.encryption_in_transit(),
        ebs_mbps: reading.ebs()?,
        network_mbps: reading.known.and_then(|known| known.network_mbps),
        local_nvme_gb: reading.local_nvme()?,
        gpu: reading.gpu()?,
        accelerator: reading.accelerator()?,
        network: reading.network()?,
        efa_interfaces: reading.efa_interfaces()?,
    };
    Ok(Some(SoldType {
        facts,
        capacity_types,
    }))
}

/// Those of them that we buy.
fn capacity_types(info: &InstanceTypeInfo) -> Option<CapacityTypes> {
    let classes = info.supported_usage_classes();
    let has = |class: &UsageClassType| classes.contains(class);
    match (has(&UsageClassType::OnDemand), has(&UsageClassType::Spot)) {
        (true, true) => Some(CapacityTypes::OnDemandAndSpot),
        (true, false) => Some(CapacityTypes::OnDemandOnly),
        (false, true) => Some(CapacityTypes::SpotOnly),
        (false, false) => None,
    }
}

/// A description, with the type's name and what the table has of it.
struct Reading<'i> {
    info: &'i InstanceTypeInfo,
    name: &'i str,
    known: Option<&'static InstanceType>,
}

impl<'i> Reading<'i> {
    fn new(info: &'i InstanceTypeInfo) -> Result<Self, TypeError> {
        let name = info.instance_type().map_or("", |name| name.as_str());
        let reading = Self {
            info,
            name,
            known: instance_type(name),
        };
        match name.split_once('.') {
            Some((family, size)) if !family.is_empty() && !size.is_empty() => Ok(reading),
            _ => Err(reading.wrong("instanceType", &name, "a family and a size around a dot")),
        }
    }

    fn wrong(&self, field: &'static str, value: &dyn Display, expected: &'static str) -> TypeError {
        TypeError {
            instance_type: self.name.to_owned(),
            field,
            value: value.to_string(),
            expected,
        }
    }

    /// A whole number of at least 0.
    fn number(
        &self,
        field: &'static str,
        value: Option<impl TryInto<u32> + Display + Copy>,
    ) -> Result<u32, TypeError> {
        let expected = "a whole number of at least 0";
        let value = value.ok_or_else(|| self.wrong(field, &"absent", expected))?;
        value
            .try_into()
            .map_err(|_| self.wrong(field, &value, expected))
    }

    /// A whole number above 0: nothing can be put on a type with less.
    fn positive(
        &self,
        field: &'static str,
        value: Option<impl TryInto<u32> + Display + Copy>,
    ) -> Result<u32, TypeError> {
        match self.number(field, value)? {
            0 => Err(self.wrong(field, &0, "a whole number above 0")),
            number => Ok(number),
        }
    }

    /// A name in lower-case words joined by dashes, as labels have it.
    fn label(&self, field: &'static str, value: Option<&str>) -> Result<&'static str, TypeError> {
        let value = value.filter(|text| !text.is_empty());
        let value = value.ok_or_else(|| self.wrong(field, &"absent", "a name"))?;
        Ok(word(&value.replace(' ', "-").to_lowercase()))
    }

    /// The one entry of a list; `None` if it is empty. Labels and resources have room for one kind.
    fn one<'a, T>(&self, field: &'static str, list: &'a [T]) -> Result<Option<&'a T>, TypeError> {
        match list {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            more => {
                let value = format!("a list of {}", more.len());
                Err(self.wrong(field, &value, "one kind of device"))
            }
        }
    }

    fn vcpus(&self) -> Result<u32, TypeError> {
        let own = self.info.v_cpu_info();
        self.positive(
            "vCpuInfo.defaultVCpus",
            own.and_then(ec2::VCpuInfo::default_v_cpus),
        )
    }

    fn memory(&self) -> Result<u32, TypeError> {
        let own = self.info.memory_info();
        self.positive(
            "memoryInfo.sizeInMiB",
            own.and_then(ec2::MemoryInfo::size_in_mib),
        )
    }

    /// The first that nodes can have.
    fn architecture(&self) -> Result<Architecture, TypeError> {
        let own = self.info.processor_info();
        let all = own.map(ec2::ProcessorInfo::supported_architectures);
        let mut all = all.unwrap_or_default().iter();
        let first = all.find_map(|own| match own {
            ArchitectureType::X8664 => Some(Architecture::Amd64),
            ArchitectureType::Arm64 => Some(Architecture::Arm64),
            _ => None,
        });
        let field = "processorInfo.supportedArchitectures";
        first.ok_or_else(|| self.wrong(field, &"without both", "x86_64 or arm64"))
    }

    fn cpu_manufacturer(&self) -> Result<&'static str, TypeError> {
        let own = self.info.processor_info();
        let own = own.and_then(ec2::ProcessorInfo::manufacturer);
        match (own, self.known) {
            (None, Some(known)) => Ok(known.cpu_manufacturer),
            (own, _) => self.label("processorInfo.manufacturer", own),
        }
    }

    /// 0 where EC2 names no clock.
    fn clock(&self) -> Result<u32, TypeError> {
        let own = self.info.processor_info();
        let Some(gigahertz) = own.and_then(ec2::ProcessorInfo::sustained_clock_speed_in_ghz) else {
            return Ok(0);
        };
        if !(0.0..THOUSAND).contains(&gigahertz) {
            let field = "processorInfo.sustainedClockSpeedInGhz";
            return Err(self.wrong(field, &gigahertz, "at least 0 and below 1000"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between nothing and a million"
        )]
        let megahertz = (gigahertz * THOUSAND).round() as u32;
        Ok(megahertz)
    }

    /// Bare metal has none.
    fn hypervisor(&self) -> Result<Option<Hypervisor>, TypeError> {
        match self.info.hypervisor() {
            None => Ok(None),
            Some(InstanceTypeHypervisor::Nitro) => Ok(Some(Hypervisor::Nitro)),
            Some(InstanceTypeHypervisor::Xen) => Ok(Some(Hypervisor::Xen)),
            Some(other) => Err(self.wrong("hypervisor", &other.as_str(), "nitro or xen")),
        }
    }

    fn nested_virtualization(&self) -> bool {
        let own = self.info.processor_info();
        let features = own.map(ec2::ProcessorInfo::supported_features);
        features
            .unwrap_or_default()
            .contains(&ProcessorFeature::NestedVirtualization)
    }

    fn encryption_in_transit(&self) -> bool {
        let own = self.info.network_info();
        own.and_then(ec2::NetworkInfo::encryption_in_transit_supported)
            .unwrap_or_default()
    }

    /// Counts only where it need not be asked for.
    fn ebs(&self) -> Result<Option<u32>, TypeError> {
        let own = self.info.ebs_info();
        let by_default = Some(&EbsOptimizedSupport::Default);
        let own = own.filter(|own| own.ebs_optimized_support() == by_default);
        let most = own.and_then(|own| own.ebs_optimized_info()?.maximum_bandwidth_in_mbps());
        let field = "ebsInfo.ebsOptimizedInfo.maximumBandwidthInMbps";
        most.map(|most| self.number(field, Some(most))).transpose()
    }

    fn local_nvme(&self) -> Result<Option<u32>, TypeError> {
        let none = Some(&EphemeralNvmeSupport::Unsupported);
        let own = self.info.instance_storage_info();
        let own = own.filter(|own| own.nvme_support() != none);
        let total = own.and_then(ec2::InstanceStorageInfo::total_size_in_gb);
        let field = "instanceStorageInfo.totalSizeInGB";
        total
            .map(|total| self.number(field, Some(total)))
            .transpose()
    }

    fn gpu(&self) -> Result<Option<Gpu>, TypeError> {
        let all = self.info.gpu_info().map(ec2::GpuInfo::gpus);
        let Some(gpu) = self.one("gpuInfo.gpus", all.unwrap_or_default())? else {
            return Ok(None);
        };
        let memory = gpu
            .memory_info()
            .and_then(ec2::GpuDeviceMemoryInfo::size_in_mib);
        Ok(Some(Gpu {
            manufacturer: self.label("gpuInfo.gpus.manufacturer", gpu.manufacturer())?,
            name: self.label("gpuInfo.gpus.name", gpu.name())?,
            count: self.number("gpuInfo.gpus.count", gpu.count())?,
            memory_mib: self.number("gpuInfo.gpus.memoryInfo.sizeInMiB", memory)?,
        }))
    }

    /// Devices with cores of their own before those that EC2 calls inference accelerators: some are told as both.
    fn accelerator(&self) -> Result<Option<Accelerator>, TypeError> {
        let all = self.info.neuron_info().map(ec2::NeuronInfo::neuron_devices);
        let field = "neuronInfo.neuronDevices";
        if let Some(device) = self.one(field, all.unwrap_or_default())? {
            let cores = device
                .core_info()
                .and_then(ec2::NeuronDeviceCoreInfo::count);
            return Ok(Some(Accelerator {
                manufacturer: "aws",
                name: self.label("neuronInfo.neuronDevices.name", device.name())?,
                count: self.number("neuronInfo.neuronDevices.count", device.count())?,
                cores_each: Some(self.number("neuronInfo.neuronDevices.coreInfo.count", cores)?),
            }));
        }
        let own = self.info.inference_accelerator_info();
        let all = own
            .map(ec2::InferenceAcceleratorInfo::accelerators)
            .unwrap_or_default();
        let field = "inferenceAcceleratorInfo.accelerators";
        let Some(device) = self.one(field, all)? else {
            return Ok(None);
        };
        let maker = "inferenceAcceleratorInfo.accelerators.manufacturer";
        let count = "inferenceAcceleratorInfo.accelerators.count";
        Ok(Some(Accelerator {
            manufacturer: self.label(maker, device.manufacturer())?,
            name: self.label("inferenceAcceleratorInfo.accelerators.name", device.name())?,
            count: self.number(count, device.count())?,
            cores_each: None,
        }))
    }

    /// What EC2 says, else what the table has; branch interfaces only from there.
    fn network(&self) -> Result<Option<NetworkLimits>, TypeError> {
        let known = self.known.and_then(|known| known.network.as_ref());
        let own = self.info.network_info();
        let cards = own.map(ec2::NetworkInfo::network_cards).unwrap_or_default();
        let addresses = own.and_then(ec2::NetworkInfo::ipv4_addresses_per_interface);
        if cards.is_empty() || addresses.is_none() {
            return Ok(known.cloned());
        }
        let default = own.and_then(ec2::NetworkInfo::default_network_card_index);
        let default = default.unwrap_or(0);
        let index = |card: &NetworkCardInfo| card.network_card_index().unwrap_or(0);
        let mut cards: Vec<&NetworkCardInfo> = cards.iter().collect();
        cards.sort_by_key(|card| (index(card) != default, index(card)));
        let field = "networkInfo.networkCards.maximumNetworkInterfaces";
        let interfaces = |card: &&NetworkCardInfo| {
            let most = card.maximum_network_interfaces();
            self.number(field, most)
        };
        Ok(Some(NetworkLimits {
            interfaces_per_card: cards.iter().map(interfaces).collect::<Result<_, _>>()?,
            ipv4_per_interface: self.number("networkInfo.ipv4AddressesPerInterface", addresses)?,
            branch_interfaces: known.map_or(0, |known| known.branch_interfaces),
        }))
    }

    fn efa_interfaces(&self) -> Result<Option<u32>, TypeError> {
        let own = self.info.network_info();
        match own.and_then(ec2::NetworkInfo::efa_supported) {
            None => Ok(self.known.and_then(|known| known.efa_interfaces)),
            Some(false) => Ok(Some(0)),
            Some(true) => {
                let info = own.and_then(ec2::NetworkInfo::efa_info);
                let most = info.and_then(ec2::EfaInfo::maximum_efa_interfaces);
                let field = "networkInfo.efaInfo.maximumEfaInterfaces";
                self.number(field, most).map(Some)
            }
        }
    }
}
