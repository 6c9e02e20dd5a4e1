//! Types for the workloads to buy: EC2's general types on demand, or Karpenter's benchmark types.

use anyhow::{Context, Result};
use plimsoll_base::resources::ResourceName;
use plimsoll_ec2_facts::catalogue::CapacityTypes;
use plimsoll_ec2_facts::instance_type::Architecture;
use plimsoll_ec2_facts::{CatalogueSettings, catalogue, instance_type};
use plimsoll_pack::Kind;

/// Axes of every workload.
pub(crate) const AXES: usize = 3;
/// Bytes in a mebibyte.
pub(crate) const MEBIBYTE: i64 = 1 << 20;
/// Requests of daemons on every node: cpu, memory, pods.
const DAEMONS: [i64; AXES] = [150, 200 * MEBIBYTE, 3];
const NANOS: f64 = 1e9;

/// A kind with what workloads choose by.
#[derive(Clone)]
pub(crate) struct Offer {
    /// The type that is bought.
    pub(crate) kind: Kind,
    /// `true` if its processors are Arm's.
    pub(crate) is_arm: bool,
    /// Its zone, counted from 0.
    pub(crate) zone: usize,
}

/// Types c, m and r of generation 3 and later in us-east-1, on demand, no bare metal, in this many zones.
pub(crate) fn ec2(zones: usize) -> Result<Vec<Offer>> {
    let mut settings = CatalogueSettings::for_region("us-east-1");
    settings.capacity_types = CapacityTypes::OnDemandOnly;
    let catalogue = catalogue(&settings).context("the embedded price list has us-east-1")?;
    let mut offers = Vec::new();
    for it in catalogue.types() {
        let Some(facts) = instance_type(it.name.as_str()) else {
            continue;
        };
        let generation: u32 = facts.generation().parse().unwrap_or(0);
        let is_general = matches!(facts.category(), "c" | "m" | "r");
        if !is_general || generation <= 2 || facts.is_bare_metal() {
            continue;
        }
        let Some(offering) = it.offerings.iter().find(|offering| offering.available) else {
            continue;
        };
        let room = it.allocatable(offering);
        let names = [ResourceName::Cpu, ResourceName::Memory, ResourceName::Pods];
        let capacity = std::array::from_fn(|axis| room.get(&names[axis]));
        for zone in 0..zones {
            offers.push(Offer {
                kind: kind(capacity, offering.price.dollars()),
                is_arm: facts.architecture == Architecture::Arm64,
                zone,
            });
        }
    }
    Ok(offers)
}

/// Karpenter's benchmark types: one more core, two more gibibytes and ten more pods each, priced by what they have.
pub(crate) fn linear(types: u32, zones: usize) -> Vec<Offer> {
    let mut offers = Vec::new();
    for size in 1..=i64::from(types) {
        let capacity = [
            size * 1000 - 100,
            (size * 2 * 1024 - 10) * MEBIBYTE,
            size * 10,
        ];
        let dollars = 0.025 * size as f64 + 0.001 * (size * 2) as f64 * 1.073_741_824;
        for zone in 0..zones {
            offers.push(Offer {
                kind: kind(capacity, dollars),
                is_arm: false,
                zone,
            });
        }
    }
    offers
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "prices are far below the range's end"
)]
fn kind(capacity: [i64; AXES], dollars: f64) -> Kind {
    let price = (dollars * NANOS).round() as i64;
    let after_daemons = |axis: usize| (capacity[axis] - DAEMONS[axis]).max(0);
    Kind {
        capacity: (0..AXES).map(after_daemons).collect(),
        price,
        list_price: price,
        spends: None,
        supply: None,
    }
}
