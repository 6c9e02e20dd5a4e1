//! Settings change capacity and overhead as the rules say; the documented defaults are held against whole tables in `tests/`.

use super::*;
use crate::instance_type::instance_type;
use crate::share::Share;

/// The room on `name` after `change` to the default settings.
fn room(name: &str, change: impl FnOnce(&mut AllocatableSettings)) -> NodeRoom {
    let mut settings = AllocatableSettings::default();
    change(&mut settings);
    instance_type(name).unwrap().room(&settings).unwrap()
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
            room(name, |_| {}).overhead.kube_reserved.cpu_milli,
            milli,
            "{name}"
        );
    }
}

#[test]
fn maximum_pods_bound_pods_but_not_the_memory_reserved_for_interfaces() {
    let set = |settings: &mut AllocatableSettings| settings.max_pods = Some(110);
    let al2023 = room("c5a.large", set);
    assert_eq!(al2023.capacity.pods, 110);
    assert_eq!(
        al2023.overhead.kube_reserved.memory_bytes,
        (11 * 29 + 255) * MIB
    );
    let bottlerocket = room("c5a.large", |settings| {
        settings.max_pods = Some(110);
        settings.family = ImageFamily::Bottlerocket;
    });
    assert_eq!(
        bottlerocket.overhead.kube_reserved.memory_bytes,
        (11 * 110 + 255) * MIB
    );
}

#[test]
fn pods_per_core_lowers_pods_except_on_bottlerocket() {
    let four = |settings: &mut AllocatableSettings| settings.pods_per_core = Some(4);
    assert_eq!(room("c5a.large", four).capacity.pods, 8);
    assert_eq!(
        room("c5a.large", |settings| settings.pods_per_core = Some(0))
            .capacity
            .pods,
        29
    );
    let bottlerocket = room("c5a.large", |settings| {
        four(settings);
        settings.family = ImageFamily::Bottlerocket;
    });
    assert_eq!(bottlerocket.capacity.pods, 29);
}

#[test]
fn reserved_interfaces_cost_pods_but_keep_the_memory_overhead() {
    let one = room("c5a.large", |settings| settings.reserved_interfaces = 1);
    assert_eq!(one.capacity.pods, 2 * 9 + 2);
    assert_eq!(one.overhead, room("c5a.large", |_| {}).overhead);
    assert_eq!(
        room("c5a.large", |settings| settings.reserved_interfaces = 3)
            .capacity
            .pods,
        0
    );
    assert_eq!(
        room("c5a.large", |settings| settings.reserved_interfaces =
            u32::MAX)
        .capacity
        .pods,
        0
    );
}

#[test]
fn listed_efa_interfaces_replace_the_type_s_and_cost_pods_on_the_first_card() {
    let listed = room("p4d.24xlarge", |settings| {
        settings.class_interfaces = Some(ClassInterfaces {
            efa_only: 3,
            efa_only_on_first_card: 1,
        });
    });
    assert_eq!(listed.capacity.extended["vpc.amazonaws.com/efa"], 3);
    assert_eq!(listed.capacity.pods, 14 * 49 + 2);
    assert_eq!(
        room("p4d.24xlarge", |_| {}).capacity.extended["vpc.amazonaws.com/efa"],
        4
    );
}

#[test]
fn set_amounts_replace_computed_ones_key_by_key() {
    let set = room("c5a.large", |settings| {
        settings.kube_reserved.cpu_milli = Some(200);
        settings.system_reserved.memory_bytes = Some(50 * MIB);
    });
    let plain = room("c5a.large", |_| {});
    assert_eq!(set.overhead.kube_reserved.cpu_milli, 200);
    assert_eq!(
        set.overhead.kube_reserved.memory_bytes,
        plain.overhead.kube_reserved.memory_bytes
    );
    assert_eq!(set.allocatable().cpu_milli, 1_800);
    assert_eq!(
        set.allocatable().memory_bytes,
        plain.allocatable().memory_bytes - 50 * MIB
    );
}

#[test]
fn eviction_by_share_counts_from_capacity_and_the_whole_switches_it_off() {
    let share = |percent| {
        room("c5a.large", |settings| {
            settings.memory_eviction = Some(Eviction::Share(Share::from_percent(percent)));
        })
    };
    let memory = share(5).capacity.memory_bytes;
    assert_eq!(
        share(5).overhead.eviction_threshold.memory_bytes,
        memory.div_ceil(20)
    );
    assert_eq!(share(100).overhead.eviction_threshold.memory_bytes, 0);
    let bytes = room("c5a.large", |settings| {
        settings.ephemeral_storage_eviction = Some(Eviction::Bytes(GIB));
    });
    assert_eq!(bytes.allocatable().ephemeral_storage_bytes, 18 * GIB);
}

#[test]
fn local_disks_hold_ephemeral_storage_only_as_an_array_and_only_where_they_exist() {
    let array =
        |settings: &mut AllocatableSettings| settings.instance_store = InstanceStorePolicy::Raid0;
    assert_eq!(
        room("c6gd.large", array).capacity.ephemeral_storage_bytes,
        118 * GB
    );
    assert_eq!(
        room("c6gd.large", |_| {}).capacity.ephemeral_storage_bytes,
        20 * GIB
    );
    assert_eq!(
        room("c5a.large", array).capacity.ephemeral_storage_bytes,
        20 * GIB
    );
    assert_eq!(
        room("c5a.large", |settings| settings.ephemeral_volume_bytes =
            100 * GIB)
        .allocatable()
        .ephemeral_storage_bytes,
        89 * GIB
    );
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
        (
            left.cpu_milli,
            left.memory_bytes,
            left.ephemeral_storage_bytes
        ),
        (0, 0, 0)
    );
}

#[test]
fn a_type_without_network_limits_needs_maximum_pods_and_bottlerocket() {
    let facts = instance_type("hpc6a.48xlarge").unwrap();
    let error = facts.room(&AllocatableSettings::default()).unwrap_err();
    assert_eq!(
        error,
        AllocatableError::NoNetworkLimits {
            instance_type: "hpc6a.48xlarge"
        }
    );
    let settings = AllocatableSettings {
        family: ImageFamily::Bottlerocket,
        max_pods: Some(50),
        ..AllocatableSettings::default()
    };
    assert_eq!(facts.room(&settings).unwrap().capacity.pods, 50);
}

#[test]
fn a_fraction_of_a_gpu_is_not_a_resource() {
    assert!(
        !room("g6f.large", |_| {})
            .capacity
            .extended
            .contains_key("nvidia.com/gpu")
    );
    assert!(
        !room("dl2q.24xlarge", |_| {})
            .capacity
            .extended
            .contains_key("aws.amazon.com/neuron")
    );
    assert_eq!(
        room("inf2.xlarge", |_| {}).capacity.extended["aws.amazon.com/neuroncore"],
        2
    );
}
