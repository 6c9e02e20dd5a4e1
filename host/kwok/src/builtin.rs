//! The generic list of 144 types: twelve sizes, three ratios of memory to cpu, two systems, two architectures.
//!
//! The list is the upstream provider's, so that what was written against that runs against this.

use std::collections::BTreeMap;

use plimsoll_base::labels;

use crate::listed::{Expression, Listed, ListedOffering};

const CPUS: [u32; 12] = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
/// Family and GiB per cpu.
const FAMILIES: [(&str, u32); 3] = [("c", 2), ("s", 4), ("m", 8)];
const SYSTEMS: [&str; 2] = ["linux", "windows"];
const ARCHITECTURES: [&str; 2] = ["amd64", "arm64"];
const ZONES: [&str; 4] = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
/// Dollars per hour and cpu.
const CPU_DOLLARS: f64 = 0.025;
/// Dollars per hour and 10^9 bytes.
const MEMORY_DOLLARS: f64 = 0.001;
/// Spot price as a share of the price on demand.
const SPOT_SHARE: f64 = 0.7;

/// Every type of the list.
pub(crate) fn types() -> Vec<Listed> {
    let mut types = Vec::new();
    for cpus in CPUS {
        for (family, ratio) in FAMILIES {
            for system in SYSTEMS {
                for architecture in ARCHITECTURES {
                    types.push(listed(cpus, family, ratio, system, architecture));
                }
            }
        }
    }
    types
}

fn listed(cpus: u32, family: &str, ratio: u32, system: &str, architecture: &str) -> Listed {
    let gibibytes = cpus * ratio;
    let bytes = f64::from(gibibytes) * f64::from(1 << 30);
    let on_demand = CPU_DOLLARS * f64::from(cpus) + MEMORY_DOLLARS * bytes / 1e9;
    let resources = [
        ("cpu", cpus.to_string()),
        ("memory", format!("{gibibytes}Gi")),
        ("pods", (cpus * 16).min(1024).to_string()),
        ("ephemeral-storage", "20Gi".to_owned()),
    ];
    let offerings = ZONES.iter().flat_map(|zone| {
        [("spot", on_demand * SPOT_SHARE), ("on-demand", on_demand)].map(
            |(capacity_type, price)| ListedOffering {
                price,
                reservation_capacity: 0,
                requirements: vec![
                    is(labels::CAPACITY_TYPE, capacity_type),
                    is(labels::ZONE, zone),
                ],
            },
        )
    });
    Listed {
        name: format!("{family}-{cpus}x-{architecture}-{system}"),
        architecture: architecture.to_owned(),
        operating_systems: vec![system.to_owned()],
        resources: resources
            .into_iter()
            .map(|(name, amount)| (name.to_owned(), amount))
            .collect::<BTreeMap<_, _>>(),
        offerings: offerings.collect(),
    }
}

fn is(key: &str, value: &str) -> Expression {
    Expression {
        key: key.to_owned(),
        operator: "In".to_owned(),
        values: vec![value.to_owned()],
    }
}
