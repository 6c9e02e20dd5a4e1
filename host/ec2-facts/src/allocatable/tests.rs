//! Settings change capacity and overhead as the rules say; the documented defaults are held against whole tables in `tests/`.

use plimsoll_base::resources::ResourceName;

use super::*;
use crate::instance_type::instance_type;
use crate::share::Share;

const MI: i64 = 1 << 20;
const GI: i64 = 1 << 30;

/// The room on `name` after `change` to the default settings.
fn room(name: &str, change: impl FnOnce(&mut AllocatableSettings)) -> NodeRoom {
    let mut settings = AllocatableSettings::default();
    change(&mut settings);
    instance_type(name).unwrap().room(&settings).unwrap()
}

/// The room on `name` under default settings.
fn plain(name: &str) -> NodeRoom {
    room(name, |_| {})
}

fn of(resources: &Resources, name: &str) -> i64 {
    resources.get(&ResourceName::from(name))
}

#[test]
fn reserved_cpu_follows_the_tiers() {
    for (name, milli) in [
        ("m1.small", 60),
        ("c5a.large", 70),
        ("c5a.xlarge", 80),
        ("c5a.4xlarge", 110),
    ] {
        assert_eq!(
            of(&plain(name).overhead.kube_reserved, "cpu"),
            milli,
            "{name}"
        );
    }
}

#[test]
fn maximum_pods_bound_pods_but_not_the_memory_reserved_for_interfaces() {
    let al2023 = room("c5a.large", |settings| settings.max_pods = Some(110));
    assert_eq!(of(&al2023.capacity, "pods"), 110);
    assert_eq!(
        of(&al2023.overhead.kube_reserved, "memory"),
        (11 * 29 + 255) * MI
    );
    let bottlerocket = room("c5a.large", |settings| {
        settings.max_pods = Some(110);
        settings.family = ImageFamily::Bottlerocket;
    });
    assert_eq!(
        of(&bottlerocket.overhead.kube_reserved, "memory"),
        (11 * 110 + 255) * MI
    );
}

#[test]
fn pods_per_core_lowers_pods_except_on_bottlerocket() {
    let pods = |per_core, family| {
        let limited = room("c5a.large", |settings| {
            settings.pods_per_core = Some(per_core);
            settings.family = family;
        });
        of(&limited.capacity, "pods")
    };
    assert_eq!(pods(4, ImageFamily::Al2023), 8);
    assert_eq!(pods(0, ImageFamily::Al2023), 29, "0 is no limit");
    assert_eq!(pods(u32::MAX, ImageFamily::Al2), 29);
    assert_eq!(pods(4, ImageFamily::Bottlerocket), 29);
}

#[test]
fn reserved_interfaces_cost_pods_but_keep_the_memory_overhead() {
    let reserved = |count| room("c5a.large", |settings| settings.reserved_interfaces = count);
    assert_eq!(of(&reserved(1).capacity, "pods"), 2 * 9 + 2);
    assert_eq!(reserved(1).overhead, plain("c5a.large").overhead);
    assert_eq!(of(&reserved(3).capacity, "pods"), 0);
    assert_eq!(of(&reserved(u32::MAX).capacity, "pods"), 0);
}

#[test]
fn listed_efa_interfaces_replace_those_of_the_type_and_cost_pods_on_the_first_card() {
    let listed = room("p4d.24xlarge", |settings| {
        settings.class_interfaces = Some(ClassInterfaces {
            efa_only: 3,
            efa_only_on_first_card: 1,
        });
    });
    assert_eq!(of(&listed.capacity, "vpc.amazonaws.com/efa"), 3);
    assert_eq!(of(&listed.capacity, "pods"), 14 * 49 + 2);
    assert_eq!(
        of(&plain("p4d.24xlarge").capacity, "vpc.amazonaws.com/efa"),
        4
    );
}

#[test]
fn set_amounts_replace_computed_ones_key_by_key() {
    let set = room("c5a.large", |settings| {
        settings.kube_reserved.cpu_milli = Some(200);
        settings.system_reserved.memory_bytes = Some(50 << 20);
    });
    let computed = plain("c5a.large");
    assert_eq!(of(&set.overhead.kube_reserved, "cpu"), 200);
    assert_eq!(
        of(&set.overhead.kube_reserved, "memory"),
        of(&computed.overhead.kube_reserved, "memory")
    );
    assert_eq!(of(&set.allocatable(), "cpu"), 1_800);
    assert_eq!(
        of(&set.allocatable(), "memory"),
        of(&computed.allocatable(), "memory") - 50 * MI
    );
}

#[test]
fn eviction_by_share_counts_from_capacity_and_the_whole_switches_it_off() {
    let share = |percent| {
        room("c5a.large", |settings| {
            settings.memory_eviction = Some(Eviction::Share(Share::from_percent(percent)));
        })
    };
    let memory = of(&share(5).capacity, "memory");
    assert_eq!(
        of(&share(5).overhead.eviction_threshold, "memory"),
        (memory + 19) / 20
    );
    assert_eq!(of(&share(100).overhead.eviction_threshold, "memory"), 0);
    let bytes = room("c5a.large", |settings| {
        settings.ephemeral_storage_eviction = Some(Eviction::Bytes(1 << 30));
    });
    assert_eq!(of(&bytes.allocatable(), "ephemeral-storage"), 18 * GI);
}

#[test]
fn local_disks_hold_ephemeral_storage_only_as_an_array_and_only_where_they_exist() {
    let array = |name| {
        let room = room(name, |settings| {
            settings.instance_store = InstanceStorePolicy::Raid0;
        });
        of(&room.capacity, "ephemeral-storage")
    };
    assert_eq!(array("c6gd.large"), 118_000_000_000);
    assert_eq!(array("c5a.large"), 20 * GI);
    assert_eq!(
        of(&plain("c6gd.large").capacity, "ephemeral-storage"),
        20 * GI
    );
}

#[test]
fn a_larger_volume_gives_more_ephemeral_storage() {
    let large = room("c5a.large", |settings| {
        settings.ephemeral_volume_bytes = 100 << 30;
    });
    assert_eq!(of(&large.allocatable(), "ephemeral-storage"), 89 * GI);
}

#[test]
fn overhead_above_capacity_leaves_zero() {
    let tiny = room("t2.nano", |settings| {
        settings.system_reserved.memory_bytes = Some(u64::MAX);
        settings.system_reserved.cpu_milli = Some(u64::MAX);
        settings.ephemeral_storage_eviction = Some(Eviction::Bytes(u64::MAX));
    });
    let left = tiny.allocatable();
    assert_eq!(
        ["cpu", "memory", "ephemeral-storage"].map(|name| of(&left, name)),
        [0, 0, 0]
    );
}

#[test]
fn a_type_without_network_limits_needs_maximum_pods_and_bottlerocket() {
    let facts = instance_type("hpc6a.48xlarge").unwrap();
    let refused = AllocatableError::NoNetworkLimits {
        instance_type: "hpc6a.48xlarge",
    };
    let mut settings = AllocatableSettings::default();
    assert_eq!(facts.room(&settings), Err(refused));
    settings.max_pods = Some(50);
    assert!(
        facts.room(&settings).is_err(),
        "AL2023 still reserves memory by interfaces"
    );
    settings.family = ImageFamily::Bottlerocket;
    assert_eq!(of(&facts.room(&settings).unwrap().capacity, "pods"), 50);
}

#[test]
fn only_whole_devices_of_a_known_maker_are_resources() {
    let has = |name, resource: &str| plain(name).capacity.contains(&ResourceName::from(resource));
    assert!(!has("g6f.large", "nvidia.com/gpu"), "a fraction of a gpu");
    assert!(
        !has("dl2q.24xlarge", "aws.amazon.com/neuron"),
        "another maker's accelerator"
    );
    assert_eq!(of(&plain("g4ad.xlarge").capacity, "amd.com/gpu"), 1);
    assert_eq!(
        of(&plain("inf2.xlarge").capacity, "aws.amazon.com/neuroncore"),
        2
    );
}
