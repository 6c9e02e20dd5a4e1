//! Spot prices, as EC2 tells of them.

use aws_sdk_ec2::primitives::DateTime;
use plimsoll_base::time::Timestamp;

use super::paced::Call;
use super::{CallError, Clients};
use crate::prices::SpotPoint;

/// Entries of a list at once: Karpenter's number.
const PAGE: i32 = 2_000;
/// Products whose price is that of a Linux node.
const PRODUCTS: [&str; 2] = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"];

impl Clients {
    /// Spot prices of all types in all zones of the region, as they are at a time.
    pub async fn spot_prices(&self, now: Timestamp) -> Result<Vec<SpotPoint>, CallError> {
        let products = PRODUCTS.map(str::to_owned).to_vec();
        let ask = self.ec2.describe_spot_price_history().max_results(PAGE);
        let ask = ask.set_product_descriptions(Some(products));
        let ask = ask.start_time(DateTime::from_millis(now.millis()));
        let pages = self.pages(
            Call::read("ec2:DescribeSpotPriceHistory"),
            |token| ask.clone().set_next_token(token).send(),
            |page| page.next_token.as_deref(),
        );
        let found = pages.await?.into_iter();
        let found = found.flat_map(|page| page.spot_price_history.unwrap_or_default());
        let read = |point: aws_sdk_ec2::types::SpotPrice| {
            Some(SpotPoint {
                instance_type: point.instance_type?.as_str().to_owned(),
                zone: point.availability_zone?,
                price: point.spot_price?,
                since: Timestamp::from_millis(point.timestamp?.to_millis().ok()?),
            })
        };
        Ok(found.filter_map(read).collect())
    }
}
