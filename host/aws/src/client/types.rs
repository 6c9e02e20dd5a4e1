//! Instance types and the zones that have them, as EC2 tells of them.

use aws_sdk_ec2::types::{Filter, InstanceTypeOffering, LocationType};
use plimsoll_ec2_facts::catalogue::OfferedZones;

use super::paced::Call;
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
        let ask = self.ec2.describe_instance_types().max_results(TYPES);
        let ask = ask.set_filters(Some(FILTERS.map(filter).into()));
        let pages = self.pages(
            Call::read("ec2:DescribeInstanceTypes"),
            |token| ask.clone().set_next_token(token).send(),
            |page| page.next_token.as_deref(),
        );
        let found = pages.await?.into_iter();
        let found = found.flat_map(|page| page.instance_types.unwrap_or_default());
        Ok(read_all(&found.collect::<Vec<_>>()))
    }

    /// The zones of the region that have each type.
    pub async fn offered_zones(&self) -> Result<OfferedZones, CallError> {
        let ask = self.ec2.describe_instance_type_offerings();
        let ask = ask.location_type(LocationType::AvailabilityZone);
        let ask = ask.max_results(OFFERINGS);
        let pages = self.pages(
            Call::read("ec2:DescribeInstanceTypeOfferings"),
            |token| ask.clone().set_next_token(token).send(),
            |page| page.next_token.as_deref(),
        );
        let found = pages.await?.into_iter();
        let found = found.flat_map(|page| page.instance_type_offerings.unwrap_or_default());
        let pair = |own: InstanceTypeOffering| {
            Some((own.instance_type?.as_str().to_owned(), own.location?))
        };
        let mut zones = OfferedZones::new();
        for (instance_type, zone) in found.filter_map(pair) {
            zones.entry(instance_type).or_default().insert(zone);
        }
        Ok(zones)
    }
}
