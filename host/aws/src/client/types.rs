//! Instance types and the zones that have them, as EC2 tells of them.

use aws_sdk_ec2::types::{Filter, InstanceTypeOffering, LocationType};
use plimsoll_ec2_facts::catalogue::OfferedZones;

use super::{CallError, Clients};
use crate::types::{ToldTypes, read_all};

/// Types of an answer, the most that EC2 gives.
const TYPES: i32 = 100;
/// Offerings of an answer, the most that EC2 gives.
const OFFERINGS: i32 = 1_000;
/// Types that boot images of today, of the architectures that nodes have.
const FILTERS: [(&str, &[&str]); 2] = [
    ("supported-virtualization-type", &["hvm"]),
    (
        "processor-info.supported-architecture",
        &["x86_64", "arm64"],
    ),
];

impl Clients {
    /// All types of the region that nodes can be of.
    pub async fn instance_types(&self) -> Result<ToldTypes, CallError> {
        let filter = |(name, values): (&str, &[&str])| {
            let values = values.iter().copied().map(str::to_owned).collect();
            Filter::builder()
                .name(name)
                .set_values(Some(values))
                .build()
        };
        let pages = self.ec2.describe_instance_types();
        let pages = pages.set_filters(Some(FILTERS.map(filter).into()));
        let found = pages.into_paginator().page_size(TYPES).items().send();
        let found: Result<Vec<_>, _> = found.collect().await;
        let found = found.map_err(CallError::of("ec2:DescribeInstanceTypes"))?;
        Ok(read_all(&found))
    }

    /// The zones of the region that have each type.
    pub async fn offered_zones(&self) -> Result<OfferedZones, CallError> {
        let pages = self.ec2.describe_instance_type_offerings();
        let pages = pages.location_type(LocationType::AvailabilityZone);
        let found = pages.into_paginator().page_size(OFFERINGS).items().send();
        let found: Result<Vec<_>, _> = found.collect().await;
        let found = found.map_err(CallError::of("ec2:DescribeInstanceTypeOfferings"))?;
        let pair = |own: InstanceTypeOffering| {
            Some((own.instance_type?.as_str().to_owned(), own.location?))
        };
        let mut zones = OfferedZones::new();
        for (instance_type, zone) in found.into_iter().filter_map(pair) {
            zones.entry(instance_type).or_default().insert(zone);
        }
        Ok(zones)
    }
}
