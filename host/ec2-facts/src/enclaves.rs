//! Instance types that can run Nitro Enclaves, out of family and size.
//!
//! At run time EC2 says so of each type (`DescribeInstanceTypes`, `NitroEnclavesSupport`); the lists that our table is made of do not. The
//! rule here gives EC2's answer of October 2026 for each of the 1,358 types of the table that it tells of, and leaves out the five G4ad,
//! which the guide excludes: an enclave takes whole cores, one of which the instance keeps, and some families run none.

use crate::instance_type::{Architecture, Hypervisor, InstanceType};

/// Families of virtual machines on Nitro, large enough, that run no enclaves.
const WITHOUT: [&str; 15] = [
    "a1", "c7gn", "c7i-flex", "c8i-flex", "g4ad", "g5g", "im4gn", "is4gen", "m7i-flex", "m8i-flex",
    "p6-b200", "r8i-flex", "trn1", "trn1n", "vt1",
];
/// Categories that run no enclaves: burstable ones, those for high-performance computing, those with the most memory.
const CATEGORIES_WITHOUT: [&str; 3] = ["hpc", "t", "u"];

/// Virtual CPUs of two cores with two threads each.
const TWO_CORES: u32 = 4;
/// The same where a virtual CPU is a core.
const TWO_WHOLE_CORES: u32 = 2;

/// `true` for a type that can run enclaves, `enclaves` of it not being read.
pub(crate) fn can_run(facts: &InstanceType) -> bool {
    let has_whole_cores = facts.architecture == Architecture::Arm64
        || (facts.cpu_manufacturer == "amd" && facts.generation() == "8");
    let least = if has_whole_cores {
        TWO_WHOLE_CORES
    } else {
        TWO_CORES
    };
    facts.hypervisor == Some(Hypervisor::Nitro)
        && facts.vcpus >= least
        && !WITHOUT.contains(&facts.family())
        && !CATEGORIES_WITHOUT.contains(&facts.category())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::instance_type::{instance_type, instance_types};

    #[test]
    fn an_enclave_needs_a_core_beside_that_of_the_instance() {
        for (name, expected) in [
            ("m6i.large", false),
            ("m6i.xlarge", true),
            ("m7a.large", false),
            ("m7a.xlarge", true),
            ("m8a.medium", false),
            ("m8a.large", true),
            ("m7g.medium", false),
            ("m7g.large", true),
            ("m6i.metal", false),
            ("m4.4xlarge", false),
            ("t3.2xlarge", false),
            ("c7gn.4xlarge", false),
            ("m7i-flex.8xlarge", false),
            ("hpc7a.96xlarge", false),
            ("u7i-12tb.224xlarge", false),
            ("p5.48xlarge", true),
        ] {
            let facts = instance_type(name).expect("a type");
            assert_eq!(facts.enclaves, expected, "{name}");
        }
    }

    #[test]
    fn as_many_types_as_ec2_tells_of_and_every_family_left_out_is_there() {
        let able = instance_types().iter().filter(|facts| facts.enclaves);
        assert_eq!(able.count(), 926);
        let families: BTreeSet<&str> = instance_types()
            .iter()
            .map(crate::InstanceType::family)
            .collect();
        assert!(WITHOUT.iter().all(|family| families.contains(family)));
    }
}
