//! Spot prices, as EC2 tells of them.

use aws_sdk_ec2::primitives::DateTime;
use plimsoll_core::time::Timestamp;

use super::{CallError, Clients};
use crate::prices::SpotPoint;

/// Entries of a list at once: the incumbent's.
const PAGE: i32 = 2_000;
/// Products whose price is that of a Linux node.
const PRODUCTS: [&str; 2] = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"];

impl Clients {
    /// Spot prices of all types in all zones of the region, as they are at a time.
    pub async fn spot_prices(&self, now: Timestamp) -> Result<Vec<SpotPoint>, CallError> {
        let products = PRODUCTS.map(str::to_owned).to_vec();
        let pages = self.ec2.describe_spot_price_history();
        let pages = pages.set_product_descriptions(Some(products));
        let pages = pages.start_time(DateTime::from_millis(now.millis()));
        let found = pages.into_paginator().page_size(PAGE).items().send();
        let found: Result<Vec<_>, _> = found.collect().await;
        let found = found.map_err(CallError::of("ec2:DescribeSpotPriceHistory"))?;
        let read = |point: aws_sdk_ec2::types::SpotPrice| {
            Some(SpotPoint {
                instance_type: point.instance_type?.as_str().to_owned(),
                zone: point.availability_zone?,
                price: point.spot_price?,
                since: Timestamp::from_millis(point.timestamp?.to_millis().ok()?),
            })
        };
        Ok(found.into_iter().filter_map(read).collect())
    }
}
