//! The rules of allocatable against every type whose allocatable is documented.
//!
//! The expected values are facts of the documentation, kept in `tables/documented-allocatable.tsv`. The counts of EFA interfaces and
//! of Neuron cores per device come from the same page, so for these two the comparison shows only that nothing got lost.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test file: its helpers stop the test where a fact is missing"
)]

use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_ec2_facts::{AllocatableSettings, instance_type};

const DOCUMENTED: &str = include_str!("../tables/documented-allocatable.tsv");
const POD_ENI: &str = "vpc.amazonaws.com/pod-eni";
const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;

/// Documented types whose network limits are in no source of ours, so that pods cannot be told from interfaces.
const WITHOUT_NETWORK_LIMITS: [&str; 4] = [
    "hpc6a.48xlarge",
    "hpc7a.12xlarge",
    "hpc8a.96xlarge",
    "trn2.48xlarge",
];

/// Documented types that the page gives no pod-eni although the (newer) VPC limits give them branch interfaces.
/// The limits are the source that the rules name, so here we follow them.
const BRANCH_INTERFACES_NOT_YET_DOCUMENTED: [&str; 43] = [
    "c8gb.metal-24xl",
    "c8gb.metal-48xl",
    "c8gn.metal-24xl",
    "c8gn.metal-48xl",
    "c8ib.metal-96xl",
    "c9g.16xlarge",
    "c9g.24xlarge",
    "c9g.2xlarge",
    "c9g.48xlarge",
    "c9g.4xlarge",
    "c9g.8xlarge",
    "c9g.large",
    "c9g.medium",
    "c9g.metal-48xl",
    "c9g.xlarge",
    "c9gd.12xlarge",
    "c9gd.16xlarge",
    "c9gd.24xlarge",
    "c9gd.2xlarge",
    "c9gd.48xlarge",
    "c9gd.4xlarge",
    "c9gd.metal-48xl",
    "c9gd.xlarge",
    "hpc7g.16xlarge",
    "hpc7g.4xlarge",
    "i4i.large",
    "m8gb.metal-24xl",
    "m8gn.metal-24xl",
    "m8ib.metal-48xl",
    "m8ib.metal-96xl",
    "m8idb.metal-48xl",
    "m8idb.metal-96xl",
    "m8idn.metal-48xl",
    "m8idn.metal-96xl",
    "m8in.metal-96xl",
    "r8gb.metal-24xl",
    "r8gb.metal-48xl",
    "r8ib.metal-48xl",
    "r8ib.metal-96xl",
    "r8idb.metal-48xl",
    "r8idn.metal-96xl",
    "r8in.metal-48xl",
    "r8in.metal-96xl",
];

fn resources(cpu_milli: i64, memory_mib: i64, ephemeral_gib: i64, pods: i64) -> Resources {
    Resources::new()
        .with(ResourceName::Cpu, cpu_milli)
        .with(ResourceName::Memory, memory_mib * MIB)
        .with(ResourceName::EphemeralStorage, ephemeral_gib * GIB)
        .with(ResourceName::Pods, pods)
}

/// The documented allocatable of each type, in the page's order.
fn documented() -> Vec<(&'static str, Resources)> {
    let mut lines = DOCUMENTED.lines().skip(1);
    let columns: Vec<_> = lines.next().unwrap().split('\t').collect();
    assert_eq!(
        columns[..5],
        ["name", "cpu_milli", "memory_mib", "ephemeral_gib", "pods"]
    );
    let row = |line: &'static str| {
        let cells: Vec<_> = line.split('\t').collect();
        let amounts: Vec<i64> = cells[1..]
            .iter()
            .map(|cell| cell.parse().unwrap())
            .collect();
        let [cpu_milli, memory_mib, ephemeral_gib, pods] = amounts[..4] else {
            panic!("{line}")
        };
        let mut expected = resources(cpu_milli, memory_mib, ephemeral_gib, pods);
        for (name, amount) in columns[5..]
            .iter()
            .zip(&amounts[4..])
            .filter(|(_, amount)| **amount > 0)
        {
            expected.set(ResourceName::from(*name), *amount);
        }
        (cells[0], expected)
    };
    lines.map(row).collect()
}

fn computed(name: &str) -> Option<Resources> {
    let facts =
        instance_type(name).unwrap_or_else(|| panic!("{name} is documented and not in the table"));
    facts
        .room(&AllocatableSettings::default())
        .ok()
        .map(|room| room.allocatable())
}

#[test]
fn allocatable_equals_the_documentation_or_differs_by_a_named_reason() {
    let (mut equal, mut more_pod_eni, mut no_limits) = (0, Vec::new(), Vec::new());
    for (name, expected) in documented() {
        let Some(computed) = computed(name) else {
            no_limits.push(name);
            continue;
        };
        if computed == expected {
            equal += 1;
            continue;
        }
        let pod_eni = ResourceName::from(POD_ENI);
        assert!(
            !expected.contains(&pod_eni),
            "{name}: computed {computed}, documented {expected}"
        );
        let computed_pod_eni = computed.get(&pod_eni);
        assert_eq!(
            computed,
            expected.with(pod_eni, computed_pod_eni),
            "{name} differs by more than pod-eni"
        );
        more_pod_eni.push(name);
    }
    assert_eq!(no_limits, WITHOUT_NETWORK_LIMITS);
    assert_eq!(more_pod_eni, BRANCH_INTERFACES_NOT_YET_DOCUMENTED);
    assert_eq!(
        equal,
        904 - WITHOUT_NETWORK_LIMITS.len() - BRANCH_INTERFACES_NOT_YET_DOCUMENTED.len()
    );
}

/// Row K26.
#[test]
fn five_well_known_types_have_the_allocatable_that_operators_know() {
    let well_known = [
        ("c5a.large", 1_930, 3_114, 29, 9),
        ("c6gd.2xlarge", 7_910, 14_103, 58, 38),
        ("c6gd.large", 1_930, 3_055, 29, 9),
        ("c7i.2xlarge", 7_910, 14_162, 58, 38),
        ("m7i-flex.2xlarge", 7_910, 29_317, 58, 18),
    ];
    for (name, cpu_milli, memory_mib, pods, pod_eni) in well_known {
        let expected =
            resources(cpu_milli, memory_mib, 17, pods).with(ResourceName::from(POD_ENI), pod_eni);
        assert_eq!(computed(name), Some(expected), "{name}");
    }
}
