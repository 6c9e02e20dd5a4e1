//! Types as a cloud tells of them are those of the table, and what cannot be read is told by type and field.

use aws_sdk_ec2::types::{
    GpuDeviceInfo, GpuInfo, InstanceType as TypeName, MemoryInfo, NetworkInfo, ProcessorInfo,
    VCpuInfo,
};
use plimsoll_cloud::{Cloud, Options, World};
use plimsoll_ec2_facts::allocatable::{ImageFamily, InstanceStorePolicy};
use plimsoll_ec2_facts::{AllocatableSettings, instance_types};

use super::*;
use crate::sample;

async fn cloud(world: World) -> Cloud {
    let cloud = Cloud::start(Options { port: 0, world }).await;
    cloud.expect("a cloud")
}

#[tokio::test]
async fn every_type_that_ec2_tells_of_is_as_documented() {
    let cloud = cloud(World::new()).await;
    let clients = sample::clients(&cloud).await;
    let told = clients.instance_types().await.expect("types");
    assert_eq!(told.unread, []);
    assert_eq!(told.sold.len(), instance_types().len());
    let array = AllocatableSettings {
        family: ImageFamily::Bottlerocket,
        instance_store: InstanceStorePolicy::Raid0,
        max_pods: Some(30),
        ..AllocatableSettings::default()
    };
    for known in instance_types() {
        let own = &told.sold[known.name];
        assert_eq!(own.capacity_types, CapacityTypes::OnDemandAndSpot);
        let facts = &own.facts;
        assert_eq!(facts.labels(), known.labels(), "{}", known.name);
        for settings in [&AllocatableSettings::default(), &array] {
            let (room, documented) = (facts.room(settings), known.room(settings));
            assert_eq!(room, documented, "{}", known.name);
            let slots = facts.attach_slots(settings);
            assert_eq!(slots, known.attach_slots(settings), "{}", known.name);
        }
        // EC2 says of every type how many interfaces of this kind it has; the table does not.
        let facts = InstanceType {
            efa_interfaces: known.efa_interfaces,
            ..facts.clone()
        };
        assert_eq!(&facts, known);
    }
    let calls = cloud.calls();
    assert_eq!(calls.len(), instance_types().len().div_ceil(100));
    for call in &calls {
        assert_eq!(call.operation, "DescribeInstanceTypes");
        assert_eq!(call.input["MaxResults"], "100");
        let filters = call.input["Filter"].to_string();
        for word in ["hvm", "x86_64", "arm64"] {
            assert!(filters.contains(word), "{filters}");
        }
    }
}

#[tokio::test]
async fn a_type_that_the_table_does_not_have_is_what_ec2_says() {
    let known = instance_type("c6gn.large").expect("a type");
    let more = InstanceType {
        name: "z9gn-flex.large",
        memory_mib: 5_000,
        ..known.clone()
    };
    let mut world = World::new();
    world.types = [more.name.to_owned()].into();
    world.without_spot = world.types.clone();
    world.more_types.push(Box::leak(Box::new(more)));
    let cloud = cloud(world).await;
    let told = sample::clients(&cloud).await.instance_types().await;
    let told = told.expect("types");
    let own = &told.sold["z9gn-flex.large"];
    assert_eq!(own.capacity_types, CapacityTypes::OnDemandOnly);
    let facts = &own.facts;
    assert_eq!((facts.memory_mib, facts.network_mbps), (5_000, None));
    let (own, documented) = (facts.network.as_ref(), known.network.as_ref());
    let own = own.expect("limits");
    let documented = documented.expect("limits");
    assert_eq!(own.interfaces_per_card, documented.interfaces_per_card);
    assert_eq!(own.ipv4_per_interface, documented.ipv4_per_interface);
    assert_eq!(own.branch_interfaces, 0, "EC2 does not tell of them");
    let labels = facts.labels();
    let has = |key: &str, value: &str| {
        let key = format!("karpenter.k8s.aws/instance-{key}");
        labels
            .iter()
            .any(|(own, other)| *own == key && other == value)
    };
    assert!(
        has("family", "z9gn-flex") && has("generation", "9"),
        "{labels:?}"
    );
    assert!(has("capability-flex", "true") && has("cpu", "2"));
    assert!(
        !labels
            .iter()
            .any(|(key, _)| key.ends_with("network-bandwidth"))
    );
}

/// A type with the least that can be read.
fn least(name: &str) -> InstanceTypeInfo {
    let processor = ProcessorInfo::builder()
        .supported_architectures(ArchitectureType::X8664)
        .manufacturer("Intel");
    InstanceTypeInfo::builder()
        .instance_type(TypeName::from(name))
        .supported_usage_classes(UsageClassType::Spot)
        .processor_info(processor.build())
        .v_cpu_info(VCpuInfo::builder().default_v_cpus(2).build())
        .memory_info(MemoryInfo::builder().size_in_mib(4_096).build())
        .build()
}

fn refusal(name: &str, change: impl FnOnce(&mut InstanceTypeInfo)) -> String {
    let mut info = least(name);
    change(&mut info);
    read(&info).expect_err("it cannot be read").to_string()
}

#[test]
fn a_field_that_cannot_be_read_is_named_with_its_type() {
    let processor = |architecture: &str, gigahertz: f64| {
        let own = ProcessorInfo::builder().supported_architectures(architecture.into());
        let own = own.sustained_clock_speed_in_ghz(gigahertz);
        Some(own.manufacturer("Intel").build())
    };
    for (said, expected) in [
        (
            refusal("z9.large", |own| own.v_cpu_info = None),
            "instance type z9.large: vCpuInfo.defaultVCpus is absent; expected a whole number of at least 0",
        ),
        (
            refusal("z9.large", |own| {
                own.memory_info = Some(MemoryInfo::builder().size_in_mib(-1).build());
            }),
            "instance type z9.large: memoryInfo.sizeInMiB is -1; expected a whole number of at least 0",
        ),
        (
            refusal("z9.large", |own| {
                own.memory_info = Some(MemoryInfo::builder().size_in_mib(0).build());
            }),
            "instance type z9.large: memoryInfo.sizeInMiB is 0; expected a whole number above 0",
        ),
        (
            refusal("z9.large", |own| {
                own.processor_info = processor("i386", 1.0);
            }),
            "instance type z9.large: processorInfo.supportedArchitectures is without both; expected x86_64 or arm64",
        ),
        (
            refusal("z9.large", |own| {
                own.processor_info = processor("arm64", f64::NAN);
            }),
            "instance type z9.large: processorInfo.sustainedClockSpeedInGhz is NaN; expected at least 0 and below 1000",
        ),
        (
            refusal("z9.large", |own| own.hypervisor = Some("hyperv".into())),
            "instance type z9.large: hypervisor is hyperv; expected nitro or xen",
        ),
        (
            refusal("z9.large", |own| {
                let gpu = || GpuDeviceInfo::builder().name("T4").build();
                own.gpu_info = Some(GpuInfo::builder().gpus(gpu()).gpus(gpu()).build());
            }),
            "instance type z9.large: gpuInfo.gpus is a list of 2; expected one kind of device",
        ),
        (
            refusal("z9", |_| {}),
            "instance type z9: instanceType is z9; expected a family and a size around a dot",
        ),
    ] {
        assert_eq!(said, expected);
    }
}

#[test]
fn one_type_that_cannot_be_read_leaves_the_others() {
    let mut broken = least("z9.large");
    broken.memory_info = None;
    let told = read_all(&[broken, least("z9.xlarge")]);
    assert_eq!(told.sold.keys().collect::<Vec<_>>(), ["z9.xlarge"]);
    assert_eq!(told.unread.len(), 1);
    let own = &told.sold["z9.xlarge"];
    assert_eq!(own.capacity_types, CapacityTypes::SpotOnly);
    assert_eq!((own.facts.clock_mhz, own.facts.hypervisor), (0, None));
    assert_eq!(own.facts.network, None, "nobody tells of its interfaces");
}

#[test]
fn a_type_in_reserved_blocks_alone_is_not_sold() {
    let mut info = least("z9.large");
    info.supported_usage_classes = Some(vec![UsageClassType::CapacityBlock]);
    assert_eq!(read(&info), Ok(None));
}

#[test]
fn pods_get_addresses_from_the_default_card_whichever_it_is() {
    let card = |index: i32, interfaces: i32| {
        NetworkCardInfo::builder()
            .network_card_index(index)
            .maximum_network_interfaces(interfaces)
            .build()
    };
    let mut info = least("z9.large");
    let network = NetworkInfo::builder()
        .default_network_card_index(1)
        .ipv4_addresses_per_interface(10)
        .network_cards(card(2, 4))
        .network_cards(card(0, 2))
        .network_cards(card(1, 3));
    info.network_info = Some(network.build());
    let sold = read(&info).expect("read").expect("sold");
    let limits = sold.facts.network.expect("limits");
    assert_eq!(limits.interfaces_per_card, [3, 2, 4]);
}
