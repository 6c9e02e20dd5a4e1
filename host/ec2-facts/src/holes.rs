//! Gaps in the sources, listed, so that silence is not taken for zero.

use crate::instance_type::{InstanceType, instance_type, instance_types};
use crate::price::Region;

/// The holes of one region's price list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceHoles {
    /// Documented types without a price: not sold there, or missing in the source. They have no offering.
    pub unpriced: Vec<&'static str>,
    /// Priced types that are not documented, so that their hardware is unknown. They are no instance types here.
    pub undocumented: Vec<&'static str>,
}

/// The holes of the type table, each a list of names in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeHoles {
    /// Without VPC limits: pods cannot be told from interfaces, and pod-eni counts as none.
    pub network_limits: Vec<&'static str>,
    /// Without network bandwidth: documented in words such as "moderate".
    pub network_bandwidth: Vec<&'static str>,
    /// Without a known number of EFA interfaces: counted as none.
    pub efa_interfaces: Vec<&'static str>,
    /// Neuron devices without a known number of cores: counted as none.
    pub neuron_cores: Vec<&'static str>,
}

/// Types of `region` without a price, and prices of it without a type.
pub fn price_holes(region: &Region) -> PriceHoles {
    PriceHoles {
        unpriced: names(|facts| region.on_demand(facts.name).is_none()),
        undocumented: region
            .priced()
            .filter(|name| instance_type(name).is_none())
            .collect(),
    }
}

/// Facts that the type table lacks.
pub fn type_holes() -> TypeHoles {
    TypeHoles {
        network_limits: names(|facts| facts.network.is_none()),
        network_bandwidth: names(|facts| facts.network_mbps.is_none()),
        efa_interfaces: names(|facts| facts.efa_interfaces.is_none()),
        neuron_cores: names(|facts| {
            facts
                .accelerator
                .as_ref()
                .is_some_and(|device| device.manufacturer == "aws" && device.cores_each.is_none())
        }),
    }
}

fn names(has_hole: impl Fn(&InstanceType) -> bool) -> Vec<&'static str> {
    instance_types()
        .iter()
        .filter(|facts| has_hole(facts))
        .map(|facts| facts.name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::region;

    #[test]
    fn unpriced_and_undocumented_types_of_the_reference_region_are_named() {
        let holes = price_holes(region("us-east-1").unwrap());
        assert_eq!(holes.unpriced.len(), 18);
        assert!(
            holes.unpriced.contains(&"trn2.48xlarge"),
            "{:?}",
            holes.unpriced
        );
        assert_eq!(holes.undocumented.len(), 22);
        assert!(
            holes.undocumented.contains(&"i3.metal"),
            "{:?}",
            holes.undocumented
        );
    }

    #[test]
    fn price_and_hole_together_cover_every_documented_type() {
        for region in crate::price::regions() {
            let holes = price_holes(region);
            let documented_and_priced = region.priced().count() - holes.undocumented.len();
            assert_eq!(
                documented_and_priced + holes.unpriced.len(),
                instance_types().len(),
                "{}",
                region.name()
            );
        }
    }

    #[test]
    fn holes_of_the_type_table_are_named() {
        let holes = type_holes();
        assert_eq!(
            holes.network_limits,
            [
                "hpc6a.48xlarge",
                "hpc6id.32xlarge",
                "hpc7a.12xlarge",
                "hpc7a.24xlarge",
                "hpc7a.48xlarge",
                "hpc7a.96xlarge",
                "hpc8a.96xlarge",
                "trn2.48xlarge"
            ]
        );
        assert_eq!(holes.network_bandwidth.len(), 43);
        assert_eq!(holes.efa_interfaces.len(), 1_363 - 904);
        assert!(holes.neuron_cores.is_empty(), "{:?}", holes.neuron_cores);
    }
}
