//! Instance types, out of the compiled facts.

use plimsoll_ec2_facts::InstanceType;
use plimsoll_ec2_facts::instance_type::Architecture;
use serde_json::{Value, json};

use super::filter::{filters, passes};
use super::page::{Sizes, page};
use super::texts;
use crate::fault::Fault;
use crate::world::{Tags, World};

const SIZES: Sizes = Sizes {
    least: 5,
    most: 100,
    usual: 100,
};

pub(super) fn describe(world: &World, input: &Value) -> Result<Value, Fault> {
    let (filters, names) = (filters(input)?, texts(input, "InstanceType"));
    if !names.is_empty() && !input["MaxResults"].is_null() {
        let message = "The parameter instanceTypes cannot be used with the parameter maxResults";
        return Err(Fault::new("InvalidParameterCombination", message));
    }
    let unknown: Vec<&str> = names
        .iter()
        .filter(|name| world.instance_type(name).is_none())
        .copied()
        .collect();
    if !unknown.is_empty() {
        let message = format!(
            "The following supplied instance types do not exist: [{}]",
            unknown.join(", ")
        );
        return Err(Fault::new("InvalidInstanceType", message));
    }
    let mut found = Vec::new();
    for own in world.instance_types() {
        let is_named = names.is_empty() || names.contains(&own.name);
        let values = |name: &str| values(world, own, name);
        if is_named && passes(&filters, &Tags::new(), values)? {
            found.push(own);
        }
    }
    page(input, "instanceTypeSet", &SIZES, &found, |own| {
        described(world, own)
    })
}

/// Architecture in the words of EC2.
pub(super) fn architecture(own: &InstanceType) -> &'static str {
    match own.architecture {
        Architecture::Amd64 => "x86_64",
        Architecture::Arm64 => "arm64",
    }
}

/// Classes of usage in the words of EC2.
fn usage_classes(world: &World, own: &InstanceType) -> &'static [&'static str] {
    if world.without_spot.contains(own.name) {
        &["on-demand"]
    } else {
        &["on-demand", "spot"]
    }
}

fn values(world: &World, own: &InstanceType, name: &str) -> Option<Vec<String>> {
    let one = |text: &str| Some(vec![text.to_owned()]);
    match name {
        "instance-type" => one(own.name),
        "bare-metal" => one(&own.is_bare_metal().to_string()),
        "burstable-performance-supported" => one(&own.is_burstable().to_string()),
        "current-generation" => one("true"),
        "hypervisor" => Some(
            own.hypervisor
                .iter()
                .map(|own| own.as_str().to_owned())
                .collect(),
        ),
        "memory-info.size-in-mib" => one(&own.memory_mib.to_string()),
        "processor-info.supported-architecture" => one(architecture(own)),
        "supported-usage-class" => {
            let classes = usage_classes(world, own).iter();
            Some(classes.copied().map(str::to_owned).collect())
        }
        "supported-virtualization-type" => one("hvm"),
        "vcpu-info.default-vcpus" => one(&own.vcpus.to_string()),
        _ => None,
    }
}

fn described(world: &World, own: &InstanceType) -> Value {
    let cores = if own.architecture == Architecture::Arm64 {
        own.vcpus
    } else {
        own.vcpus.div_ceil(2)
    };
    let clock = (own.clock_mhz > 0).then(|| f64::from(own.clock_mhz) / 1_000.0);
    json!({
        "instanceType": own.name,
        "currentGeneration": true,
        "freeTierEligible": false,
        "supportedUsageClasses": usage_classes(world, own),
        "supportedRootDeviceTypes": ["ebs"],
        "supportedVirtualizationTypes": ["hvm"],
        "bareMetal": own.is_bare_metal(),
        "hypervisor": own.hypervisor.map(plimsoll_ec2_facts::instance_type::Hypervisor::as_str),
        "nitroEnclavesSupport": if own.enclaves { "supported" } else { "unsupported" },
        "processorInfo": {
            "supportedArchitectures": [architecture(own)],
            "supportedFeatures": own.nested_virtualization.then_some(["nested-virtualization"]),
            "sustainedClockSpeedInGhz": clock,
            "manufacturer": manufacturer(own.cpu_manufacturer),
        },
        "vCpuInfo": {
            "defaultVCpus": own.vcpus,
            "defaultCores": cores,
            "defaultThreadsPerCore": own.vcpus.div_ceil(cores.max(1)),
        },
        "memoryInfo": {"sizeInMiB": own.memory_mib},
        "instanceStorageSupported": own.local_nvme_gb.is_some(),
        "instanceStorageInfo": own.local_nvme_gb.map(|total| json!({
            "totalSizeInGB": total,
            "disks": [{"sizeInGB": total, "count": 1, "type": "ssd"}],
            "nvmeSupport": "required",
            "encryptionSupport": "required",
        })),
        "ebsInfo": {
            "ebsOptimizedSupport": if own.ebs_mbps.is_some() { "default" } else { "unsupported" },
            "encryptionSupport": "supported",
            "nvmeSupport": "required",
            "ebsOptimizedInfo": own.ebs_mbps.map(|mbps| json!({
                "baselineBandwidthInMbps": mbps, "maximumBandwidthInMbps": mbps,
            })),
        },
        "networkInfo": network(own),
        "gpuInfo": gpus(own),
        "inferenceAcceleratorInfo": accelerators(own),
        "neuronInfo": neurons(own),
        "placementGroupInfo": {"supportedStrategies": ["cluster", "partition", "spread"]},
        "hibernationSupported": false,
        "burstablePerformanceSupported": own.is_burstable(),
        "dedicatedHostsSupported": true,
        "autoRecoverySupported": true,
        "supportedBootModes": ["legacy-bios", "uefi"],
    })
}

fn network(own: &InstanceType) -> Value {
    let gbps = own.network_mbps.map(|mbps| f64::from(mbps) / 1_000.0);
    let performance = gbps.map_or_else(|| "Moderate".to_owned(), |gbps| format!("{gbps} Gigabit"));
    let limits = own.network.as_ref();
    let cards = limits
        .map(|limits| &*limits.interfaces_per_card)
        .unwrap_or_default();
    let share = gbps.map(|gbps| gbps / cards.len().max(1) as f64);
    let card = |(number, interfaces): (usize, &u32)| {
        json!({
            "networkCardIndex": number,
            "networkPerformance": performance,
            "maximumNetworkInterfaces": interfaces,
            "baselineBandwidthInGbps": share,
            "peakBandwidthInGbps": share,
        })
    };
    let efa = own.efa_interfaces.filter(|most| *most > 0);
    json!({
        "networkPerformance": performance,
        "maximumNetworkInterfaces": cards.iter().sum::<u32>(),
        "maximumNetworkCards": cards.len(),
        "defaultNetworkCardIndex": 0,
        "networkCards": cards.iter().enumerate().map(card).collect::<Vec<_>>(),
        "ipv4AddressesPerInterface": limits.map(|limits| limits.ipv4_per_interface),
        "ipv6AddressesPerInterface": limits.map(|limits| limits.ipv4_per_interface),
        "ipv6Supported": true,
        "enaSupport": "required",
        "efaSupported": efa.is_some(),
        "efaInfo": efa.map(|most| json!({"maximumEfaInterfaces": most})),
        "encryptionInTransitSupported": own.encryption_in_transit,
    })
}

/// Makers as EC2 writes them.
fn manufacturer(name: &str) -> &str {
    match name {
        "amd" => "AMD",
        "aws" => "AWS",
        "habana" => "Habana",
        "intel" => "Intel",
        "nvidia" => "NVIDIA",
        "qualcomm" => "Qualcomm",
        other => other,
    }
}

fn gpus(own: &InstanceType) -> Option<Value> {
    let gpu = own.gpu.as_ref()?;
    Some(json!({
        "gpus": [{
            "name": written(gpu.name),
            "manufacturer": manufacturer(gpu.manufacturer),
            "count": gpu.count,
            "memoryInfo": {"sizeInMiB": gpu.memory_mib},
        }],
        "totalGpuMemoryInMiB": u64::from(gpu.memory_mib) * u64::from(gpu.count),
    }))
}

/// The one list of EC2 whose entries are elements `member`, and not `item`.
fn accelerators(own: &InstanceType) -> Option<Value> {
    let own = own.accelerator.as_ref()?;
    let device = json!({
        "count": own.count,
        "name": written(own.name),
        "manufacturer": manufacturer(own.manufacturer),
    });
    Some(json!({"accelerators": {"member": device}}))
}

/// Devices of Inferentia and Trainium, which are the ones with cores.
fn neurons(own: &InstanceType) -> Option<Value> {
    let own = own.accelerator.as_ref()?;
    let cores = own.cores_each?;
    Some(json!({"neuronDevices": [{
        "count": own.count,
        "name": capitalised(own.name),
        "coreInfo": {"count": cores, "version": 2},
    }]}))
}

/// Names of models as EC2 writes them: in capitals, with spaces for the dashes of labels.
fn written(name: &str) -> String {
    name.replace('-', " ").to_uppercase()
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(answer: &Value) -> Vec<Value> {
        answer["instanceTypeSet"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    #[test]
    fn pages_have_a_hundred_and_give_every_type_once() {
        let (world, mut input) = (World::new(), json!({}));
        let mut names = Vec::new();
        loop {
            let told = describe(&world, &input).expect("types");
            let page = types(&told);
            assert!(page.len() <= 100);
            names.extend(page.iter().map(|own| own["instanceType"].to_string()));
            match &told["nextToken"] {
                Value::Null => break,
                token => input["NextToken"] = token.clone(),
            }
        }
        let count = names.len();
        assert_eq!(count, world.instance_types().count());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_type_that_the_tables_do_not_have_is_told_too_and_one_without_spot_says_so() {
        let known = plimsoll_ec2_facts::instance_type("m7i.large").expect("a type");
        let more = InstanceType {
            name: "z9.large",
            ..known.clone()
        };
        let mut world = World::new();
        world.more_types.push(Box::leak(Box::new(more)));
        world.without_spot.insert("m7i.large".to_owned());
        let input = json!({"InstanceType": ["m7i.large", "z9.large"]});
        let told = types(&describe(&world, &input).expect("types"));
        assert_eq!(told[0]["supportedUsageClasses"], json!(["on-demand"]));
        assert_eq!(told[1]["instanceType"], "z9.large");
        assert_eq!(told[1]["vCpuInfo"], told[0]["vCpuInfo"]);
        let spot = json!({"Filter": [
            {"Name": "instance-type", "Value": ["m7i.large", "z9.large"]},
            {"Name": "supported-usage-class", "Value": ["spot"]},
        ]});
        let told = types(&describe(&world, &spot).expect("types"));
        assert_eq!(told.len(), 1);
    }

    #[test]
    fn a_type_is_told_as_it_is() {
        let world = World::new();
        let input = json!({"InstanceType": ["g4dn.xlarge", "inf2.xlarge", "m6g.large"]});
        let told = types(&describe(&world, &input).expect("types"));
        let (gpu, neuron, arm) = (&told[0], &told[1], &told[2]);
        assert_eq!(gpu["vCpuInfo"]["defaultVCpus"], 4);
        assert_eq!(gpu["memoryInfo"]["sizeInMiB"], 16_384);
        assert_eq!(gpu["instanceStorageInfo"]["totalSizeInGB"], 125);
        assert_eq!(gpu["gpuInfo"]["gpus"][0]["manufacturer"], "NVIDIA");
        assert_eq!(gpu["gpuInfo"]["gpus"][0]["name"], "T4");
        assert_eq!(gpu["networkInfo"]["maximumNetworkInterfaces"], 3);
        assert_eq!(gpu["networkInfo"]["ipv4AddressesPerInterface"], 10);
        assert_eq!(
            neuron["neuronInfo"]["neuronDevices"][0]["coreInfo"]["count"],
            2
        );
        assert_eq!(
            arm["processorInfo"]["supportedArchitectures"],
            json!(["arm64"])
        );
        assert!(arm["gpuInfo"].is_null() && arm["instanceStorageInfo"].is_null());
    }

    #[test]
    fn filters_choose_and_a_trimmed_world_has_less() {
        let mut world = World::new();
        world.types = ["m5.large", "m5.metal", "m6g.large"]
            .map(str::to_owned)
            .into();
        let names = |input: Value| {
            let told = types(&describe(&world, &input).expect("types"));
            told.iter()
                .map(|own| own["instanceType"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(json!({})).len(), 3);
        let filter =
            |name: &str, value: &str| json!({"Filter": [{"Name": name, "Value": [value]}]});
        assert_eq!(names(filter("bare-metal", "true")), ["m5.metal"]);
        let arm = filter("processor-info.supported-architecture", "arm64");
        assert_eq!(names(arm), ["m6g.large"]);
        assert_eq!(
            names(filter("supported-virtualization-type", "paravirtual")).len(),
            0
        );
        let unknown = describe(&world, &json!({"InstanceType": ["m5.large", "c5.large"]}));
        let unknown = unknown.expect_err("not there");
        assert!(
            unknown.message.ends_with("[c5.large]"),
            "{}",
            unknown.message
        );
    }
}
